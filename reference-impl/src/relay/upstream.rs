//! One connection to the upstream for one request: no pool, no proxy, no retry, no state that outlives the request.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::guards::RelayGuards;

use super::body::Body;
use super::limits::BUFFER;
use super::origin::{Origin, Scheme};

/// The upstream gave no answer.
#[derive(Debug, Error)]
pub enum UpstreamError {
    #[error("failed to connect to the upstream: {0}")]
    Connect(io::Error),
    #[error("the upstream did not accept the connection in time")]
    Slow,
    #[error("the upstream ended without an answer: {0}")]
    Exchange(#[from] hyper::Error),
}

/// The upstream connection of the request in progress. The client's connection polls it, so that dropping the one drops
/// the other in the same instant; HTTP/1 has one request in progress at most.
#[derive(Clone, Default)]
pub struct Driver(Arc<Mutex<Option<Running>>>);

type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Driver {
    /// Drives the upstream connection, where there is one.
    pub fn poll(&self, cx: &mut Context<'_>) {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if running.as_mut().is_some_and(|running| running.as_mut().poll(cx).is_ready()) {
            *running = None;
        }
    }

    /// Ends the upstream connection, and says whether there was one.
    pub fn stop(&self) -> bool {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        running.is_some()
    }

    fn start(&self, running: Running) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).replace(running));
    }
}

/// Sends one request and waits for the head of its answer.
pub async fn send<G: RelayGuards>(
    driver: &Driver,
    origin: &Origin,
    tls: &Arc<ClientConfig>,
    server_name: String,
    limit: Duration,
    request: Request<Body>,
) -> Result<Response<Incoming>, UpstreamError> {
    let connecting = connect::<G>(origin, tls, server_name);
    let stream = tokio::time::timeout(limit, connecting).await.map_err(|_| UpstreamError::Slow)?;
    let stream = ReadOn::<G>::new(stream.map_err(UpstreamError::Connect)?);
    let (mut sender, connection) = http1::Builder::new().max_buf_size(BUFFER).handshake(TokioIo::new(stream)).await?;
    driver.start(Box::pin(async move {
        // Its error reaches whoever waits for the answer or reads the body.
        let _ = connection.await;
    }));
    Ok(sender.send_request(request).await?)
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

async fn connect<G: RelayGuards>(
    origin: &Origin,
    tls: &Arc<ClientConfig>,
    server_name: String,
) -> io::Result<Box<dyn Stream>> {
    let (host, port) = G::dials(origin);
    let tcp = TcpStream::connect((host.as_str(), port)).await?;
    tcp.set_nodelay(true)?;
    match origin.scheme() {
        Scheme::Http => Ok(Box::new(tcp)),
        Scheme::Https => {
            let name = ServerName::try_from(server_name).map_err(io::Error::other)?;
            Ok(Box::new(TlsConnector::from(tls.clone()).connect(name, tcp).await?))
        }
    }
}

/// A stream that can still be read after writing failed: an upstream may answer and close before it has read the request,
/// and that answer is what the client should get.
struct ReadOn<G> {
    stream: Box<dyn Stream>,
    failed: Option<io::ErrorKind>,
    guards: std::marker::PhantomData<fn() -> G>,
}

impl<G: RelayGuards> ReadOn<G> {
    fn new(stream: Box<dyn Stream>) -> Self {
        Self { stream, failed: None, guards: std::marker::PhantomData }
    }

    fn settle<T>(&mut self, done: io::Result<T>, instead: T) -> io::Result<T> {
        done.or_else(|error| {
            if !G::reads_answer_to_unread_request() {
                return Err(error);
            }
            self.failed = Some(error.kind());
            Ok(instead)
        })
    }
}

impl<G: RelayGuards> AsyncRead for ReadOn<G> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        match self.failed {
            // The end of a stream that broke is no clean end.
            Some(kind) if buf.filled().len() == before => Poll::Ready(Err(kind.into())),
            _ => Poll::Ready(Ok(())),
        }
    }
}

impl<G: RelayGuards> AsyncWrite for ReadOn<G> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.failed.is_some() {
            // Nobody reads the request any more: no need to take more of it from the client.
            return Poll::Pending;
        }
        let done = ready!(Pin::new(&mut self.stream).poll_write(cx, buf));
        Poll::Ready(self.settle(done, buf.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.failed.is_some() {
            return Poll::Ready(Ok(()));
        }
        let done = ready!(Pin::new(&mut self.stream).poll_flush(cx));
        Poll::Ready(self.settle(done, ()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Shutdown;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::guards::AllUp;

    struct StopsAtTheFirstError;

    impl RelayGuards for StopsAtTheFirstError {
        fn reads_answer_to_unread_request() -> bool {
            false
        }
    }

    /// A peer that has answered, takes nothing more, and then ends.
    fn answered_and_deaf<G: RelayGuards>() -> ReadOn<G> {
        let (ours, mut peer) = std::os::unix::net::UnixStream::pair().expect("pair");
        io::Write::write_all(&mut peer, b"answer").expect("answer");
        peer.shutdown(Shutdown::Both).expect("shutdown");
        ours.set_nonblocking(true).expect("nonblocking");
        ReadOn::new(Box::new(tokio::net::UnixStream::from_std(ours).expect("stream")))
    }

    #[tokio::test]
    async fn an_answer_is_read_after_writing_failed_and_its_end_is_no_clean_one() {
        let mut stream = answered_and_deaf::<AllUp>();
        stream.write_all(b"request").await.expect("the failure is kept for the end");
        stream.flush().await.expect("nothing to flush");
        let mut answer = [0; 6];
        stream.read_exact(&mut answer).await.expect("answer");
        assert_eq!(&answer, b"answer");
        assert_eq!(stream.read(&mut answer).await.map_err(|error| error.kind()), Err(io::ErrorKind::BrokenPipe));
    }

    #[tokio::test]
    async fn without_that_the_answer_is_lost() {
        let mut stream = answered_and_deaf::<StopsAtTheFirstError>();
        let error = stream.write_all(b"request").await.map_err(|error| error.kind());
        assert_eq!(error, Err(io::ErrorKind::BrokenPipe));
    }
}
