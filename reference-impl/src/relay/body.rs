//! Bodies on their way through a relay: handed on frame by frame, trailers dropped, and never ended where they were cut.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body as HttpBody, Bytes, Frame, Incoming, SizeHint};

use crate::guards::RelayGuards;

use super::upstream::Driver;

/// Any body that a relay sends, in either direction.
pub type Body = UnsyncBoxBody<Bytes, hyper::Error>;

/// A body that is already there.
pub fn whole(bytes: Bytes) -> Body {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

/// What a client sees when the upstream's body ends too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncated {
    /// The connection ends without the body's end.
    Abort,
    /// A body that looks complete.
    End,
    /// Nothing more, for ever.
    Hang,
}

/// A client's body on its way up. `broken` is set where the client did not send it well or to its end.
pub struct Upload {
    incoming: Incoming,
    broken: Arc<AtomicBool>,
    drops_trailers: bool,
}

impl Upload {
    pub fn new<G: RelayGuards>(incoming: Incoming, broken: Arc<AtomicBool>) -> Self {
        Self { incoming, broken, drops_trailers: G::drops_trailers() }
    }
}

impl HttpBody for Upload {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        loop {
            match ready!(Pin::new(&mut self.incoming).poll_frame(cx)) {
                Some(Ok(frame)) if frame.is_trailers() && self.drops_trailers => {}
                Some(Err(error)) => {
                    self.broken.store(true, Ordering::Relaxed);
                    return Poll::Ready(Some(Err(error)));
                }
                other => return Poll::Ready(other),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

/// An upstream's body on its way down. Its end is the end of the upstream connection.
pub struct Download {
    incoming: Incoming,
    driver: Driver,
    failed: Option<hyper::Error>,
    hangs: bool,
    drops_trailers: bool,
    on_truncation: Truncated,
}

impl Download {
    pub fn new<G: RelayGuards>(incoming: Incoming, driver: Driver) -> Self {
        Self {
            incoming,
            driver,
            failed: None,
            hangs: false,
            drops_trailers: G::drops_trailers(),
            on_truncation: G::on_truncation(),
        }
    }
}

impl HttpBody for Download {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        if let Some(error) = self.failed.take() {
            return Poll::Ready(Some(Err(error)));
        }
        if self.hangs {
            return Poll::Pending;
        }
        loop {
            match ready!(Pin::new(&mut self.incoming).poll_frame(cx)) {
                Some(Ok(frame)) if frame.is_trailers() && self.drops_trailers => {}
                Some(Err(error)) => {
                    self.driver.stop();
                    match self.on_truncation {
                        Truncated::Abort => self.failed = Some(error),
                        Truncated::End => return Poll::Ready(None),
                        Truncated::Hang => {
                            self.hangs = true;
                            return Poll::Pending;
                        }
                    }
                    // Once round, so that hyper first sends what it has: the client gets all that came.
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                None => {
                    self.driver.stop();
                    return Poll::Ready(None);
                }
                frame => return Poll::Ready(frame),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.failed.is_none() && !self.hangs && self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        self.driver.stop();
    }
}
