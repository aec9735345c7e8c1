//! Serves one relay's socket: accepts, bounds, watches for clients that leave, and ends everything at once.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::os::fd::AsFd;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hyper::header::HeaderMap;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioTimer;
use tokio::io::Interest;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_rustls::rustls::ClientConfig;

use crate::guards::RelayGuards;

use super::destination::Destination;
use super::exchange::{Conversation, answer};
use super::gate::Gate;
use super::head::Head;
use super::limits::{BUFFER, Limits};
use super::listener::Listener;
use super::log::Log;
use super::route::{Kind, Refusal};
use super::upstream::Driver;

/// What both relays are given besides what they lead to.
#[derive(Debug)]
pub struct Settings {
    pub limits: Limits,
    pub log: Log,
}

/// What one relay adds to what both do.
pub trait Relay: Send + Sync + 'static {
    type Guards: RelayGuards;
    const KIND: Kind;

    fn settings(&self) -> &Settings;

    fn tls(&self) -> &Arc<ClientConfig>;

    /// Whether this request may pass, and where to.
    fn judge(&self, head: &Head, headers: &HeaderMap) -> Result<Destination, Refusal>;

    /// Where a request goes that nobody judged: only reached with a guard down.
    fn unjudged(&self, head: &Head) -> Destination;

    /// Adds the relay's own credential, where it has one.
    fn authorize(&self, headers: &mut HeaderMap);
}

/// How long accepting rests when the process has no descriptor left.
const REST: Duration = Duration::from_millis(20);

/// Serves until `shutdown` is ready. When this returns, no client and no upstream connection is left, and a socket file
/// that the listener owned is gone; dropping the future does the same.
pub async fn serve<R: Relay>(relay: Arc<R>, listener: Listener, shutdown: impl Future<Output = ()>) -> io::Result<()> {
    let (listener, name) = listener.into_tokio()?;
    let mut connections = JoinSet::new();
    {
        let mut accepting = pin!(accept_all(&relay, &listener, &mut connections));
        let mut shutdown = pin!(shutdown);
        tokio::select! {
            biased;
            () = &mut shutdown => {}
            () = &mut accepting => {}
        }
    }
    drop(listener);
    drop(name);
    if R::Guards::cancels_on_shutdown() {
        connections.shutdown().await;
    } else {
        connections.detach_all();
    }
    Ok(())
}

async fn accept_all<R: Relay>(relay: &Arc<R>, listener: &UnixListener, connections: &mut JoinSet<()>) {
    let cap = if R::Guards::caps_connections() { relay.settings().limits.connections } else { Semaphore::MAX_PERMITS };
    let places = Arc::new(Semaphore::new(cap));
    // The semaphore is never closed: an error cannot come.
    while let Ok(place) = places.clone().acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                connections.spawn(connection(relay.clone(), stream, place));
            }
            Err(_) => tokio::time::sleep(REST).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn connection<R: Relay>(relay: Arc<R>, stream: UnixStream, _place: OwnedSemaphorePermit) {
    let stream = Arc::new(stream);
    let driver = Driver::default();
    let leaving = async {
        hung_up(&stream).await;
        driver.stop()
    };
    let ended = tokio::select! {
        biased;
        cancelled = leaving, if R::Guards::cancels_on_hangup() => {
            if cancelled {
                note(&*relay, "cancelled a request: its client is gone");
            }
            return;
        }
        ended = converse(&relay, &stream, &driver) => ended,
    };
    if ended.is_err_and(|error| error.is_user()) {
        // A body that was cut short ends abruptly: that is how the client learns of it.
        note(&*relay, "cut an answer short: its upstream is gone");
    } else if R::Guards::lingers() {
        linger(&stream, &relay.settings().limits).await;
    }
}

fn note<R: Relay>(relay: &R, what: &str) {
    relay.settings().log.line::<R::Guards>(&format!("{} relay {what}", R::KIND.name()));
}

/// Serves the connection, and drives the upstream connection of its request in the same task.
async fn converse<R: Relay>(relay: &Arc<R>, stream: &Arc<UnixStream>, driver: &Driver) -> hyper::Result<()> {
    let limits = relay.settings().limits;
    let (gate, verdicts) = Gate::<R::Guards>::new(stream.clone(), limits);
    let conversation = Conversation { verdicts, driver: driver.clone(), admitted: AtomicBool::new(false) };
    let service = service_fn(async |request| Ok::<_, Infallible>(answer(&**relay, &conversation, request).await));
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .half_close(R::Guards::answers_half_closed())
        .header_read_timeout(R::Guards::times_heads().then_some(limits.head))
        .max_headers(limits.headers)
        .max_buf_size(BUFFER)
        .auto_date_header(false);
    let mut serving = pin!(server.serve_connection(gate, service).with_upgrades());
    poll_fn(|cx| {
        let served = serving.as_mut().poll(cx);
        if served.is_pending() {
            driver.poll(cx);
        }
        served
    })
    .await
}

/// Waits until the client has closed its end in full. A client that only finished sending (`shutdown(SHUT_WR)`) has not:
/// epoll says EPOLLRDHUP then, and EPOLLHUP only when nobody can read any more. The watch has a descriptor of its own,
/// because hyper's writing needs the readiness that is cleared here.
async fn hung_up(stream: &UnixStream) {
    let Ok(fd) = stream.as_fd().try_clone_to_owned() else { return };
    let Ok(watch) = UnixStream::from_std(fd.into()) else { return };
    while let Ok(ready) = watch.ready(Interest::WRITABLE).await {
        if ready.is_write_closed() {
            return;
        }
        // Forgets that it is writable, so that the next event is waited for.
        let _ = watch.try_io(Interest::WRITABLE, || io::Result::<()>::Err(io::ErrorKind::WouldBlock.into()));
    }
}

/// Finishes sending, then reads and throws away what the client still sends: closing with unread bytes would reset the
/// connection under an answer that was not read yet.
async fn linger(stream: &UnixStream, limits: &Limits) {
    let _ = nix::sys::socket::shutdown(std::os::fd::AsRawFd::as_raw_fd(stream), nix::sys::socket::Shutdown::Write);
    let mut scratch = [0; 16 << 10];
    let mut left = limits.linger_bytes;
    let draining = async {
        while left > 0 && stream.readable().await.is_ok() {
            match stream.try_read(&mut scratch) {
                Ok(0) => return,
                Ok(count) => left = left.saturating_sub(count as u64),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    };
    let _ = tokio::time::timeout(limits.linger, draining).await;
}
