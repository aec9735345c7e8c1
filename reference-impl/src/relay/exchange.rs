//! One request through a relay: judged, sent once to the fixed origin, and its answer handed back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http_body_util::BodyExt;
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{ALLOW, CONNECTION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, LOCATION};
use hyper::{Method, Request, Response, StatusCode, Uri};

use crate::guards::RelayGuards;

use super::body::{Body, Download, Upload, whole};
use super::destination::Destination;
use super::gate::Verdicts;
use super::head::Head;
use super::headers;
use super::log;
use super::route::{Kind, Refusal};
use super::server::Relay;
use super::tunnel;
use super::upstream::{Driver, UpstreamError, send};

/// One client's connection, between its requests.
pub struct Conversation {
    pub verdicts: Verdicts,
    pub driver: Driver,
    /// Whether a request was let through already.
    pub admitted: AtomicBool,
}

/// Answers one request, whatever it is.
pub async fn answer<R: Relay>(relay: &R, conversation: &Conversation, request: Request<Incoming>) -> Response<Body> {
    let has_body = !request.body().is_end_stream();
    let head = match conversation.verdicts.next() {
        Some(Ok(head)) => head,
        Some(Err(fault)) => return refuse(relay, None, Refusal::Head(fault), has_body),
        None => return refuse(relay, None, Refusal::Unjudged, has_body),
    };
    if let Some(to) =
        Some(&head).filter(|head| head.method == "CONNECT").and_then(|head| R::Guards::tunnels_to(&head.target))
    {
        return tunnel::open(&to, request)
            .await
            .unwrap_or_else(|_| refuse(relay, Some(&head), Refusal::Route, has_body));
    }
    let judged = if R::Guards::judges_each_request() || !conversation.admitted.load(Ordering::Relaxed) {
        relay.judge(&head, request.headers())
    } else {
        Ok(relay.unjudged(&head))
    };
    match judged {
        Err(refusal) => refuse(relay, Some(&head), refusal, has_body),
        Ok(fixed) => {
            conversation.admitted.store(true, Ordering::Relaxed);
            forward(relay, &conversation.driver, fixed, &head, request).await.unwrap_or_else(|failure| {
                conversation.driver.stop();
                let line = format!("{} relay failed {}: {}", R::KIND.name(), shown::<R>(&head), failure.reason());
                relay.settings().log.line::<R::Guards>(&line);
                failure.response(R::KIND)
            })
        }
    }
}

/// A request that was let through and got no answer that may be handed on.
enum Failure {
    Redirect,
    Switch,
    Ambiguous,
    /// The client's own body was malformed or cut short.
    Body,
    Upstream(UpstreamError),
    /// A target that hyper cannot send, and that it did not accept either.
    Target,
}

async fn forward<R: Relay>(
    relay: &R,
    driver: &Driver,
    fixed: Destination,
    head: &Head,
    request: Request<Incoming>,
) -> Result<Response<Body>, Failure> {
    let has_body = !request.body().is_end_stream();
    let (parts, incoming) = request.into_parts();
    let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
    let kept = headers::request::<R::Guards>(R::KIND, &parts.headers);
    let broken = Arc::new(AtomicBool::new(false));
    let upload = Upload::new::<R::Guards>(incoming, broken.clone());
    let again = !has_body && !R::Guards::sends_once();
    let (body, spare) = if R::Guards::streams_request() && !again {
        (upload.boxed_unsync(), None)
    } else {
        let bytes = upload.collect().await.map_err(|_| Failure::Body)?.to_bytes();
        (whole(bytes.clone()), Some(bytes))
    };
    let trip = Trip { relay, driver, method: &parts.method, host, kept: &kept };
    let destination = R::Guards::destination(fixed, head, host);
    let mut sent = trip.go(&destination, body).await;
    if let (Some(bytes), true) = (&spare, again) {
        sent = trip.go(&destination, whole(bytes.clone())).await;
    }
    let mut response = sent.map_err(|failure| if broken.load(Ordering::Relaxed) { Failure::Body } else { failure })?;
    let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
    if let Some(next) = location.and_then(R::Guards::follows_redirect) {
        response = trip.go(&next, whole(spare.unwrap_or_default())).await?;
    }
    hand_back::<R>(driver, response).await
}

/// What stays the same however often a request is sent.
struct Trip<'a, R> {
    relay: &'a R,
    driver: &'a Driver,
    method: &'a Method,
    host: Option<&'a str>,
    kept: &'a HeaderMap,
}

impl<R: Relay> Trip<'_, R> {
    async fn go(&self, to: &Destination, body: Body) -> Result<Response<Incoming>, Failure> {
        let settings = self.relay.settings();
        let mut request = Request::new(body);
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = to.target.parse::<Uri>().map_err(|_| Failure::Target)?;
        let host = R::Guards::host(&to.origin, self.host);
        let headers = request.headers_mut();
        headers.append(HOST, HeaderValue::try_from(host).map_err(|_| Failure::Target)?);
        for (name, value) in self.kept {
            headers.append(name, value.clone());
        }
        self.relay.authorize(headers);
        let server_name = R::Guards::server_name(&to.origin, self.host);
        let limit = settings.limits.connect;
        let sent = send::<R::Guards>(self.driver, &to.origin, self.relay.tls(), server_name, limit, request);
        sent.await.map_err(Failure::Upstream)
    }
}

async fn hand_back<R: Relay>(driver: &Driver, response: Response<Incoming>) -> Result<Response<Body>, Failure> {
    let (mut parts, incoming) = response.into_parts();
    if parts.status == StatusCode::SWITCHING_PROTOCOLS && R::Guards::refuses_protocol_switch() {
        return Err(Failure::Switch);
    }
    if R::KIND == Kind::Provider && parts.status.is_redirection() && R::Guards::refuses_redirects() {
        return Err(Failure::Redirect);
    }
    if !headers::is_framed_once(&parts.headers) && R::Guards::refuses_ambiguous_response() {
        return Err(Failure::Ambiguous);
    }
    parts.headers = headers::response::<R::Guards>(R::KIND, &parts.headers);
    parts.version = hyper::Version::HTTP_11;
    parts.extensions.clear();
    let download = Download::new::<R::Guards>(incoming, driver.clone());
    if R::Guards::streams_response() {
        return Ok(Response::from_parts(parts, download.boxed_unsync()));
    }
    let collected = download.collect().await.map_err(|error| Failure::Upstream(error.into()))?;
    Ok(Response::from_parts(parts, whole(collected.to_bytes())))
}

fn refuse<R: Relay>(relay: &R, head: Option<&Head>, refusal: Refusal, has_body: bool) -> Response<Body> {
    let request = head.map_or_else(|| format!("a request ({refusal:?})"), shown::<R>);
    relay.settings().log.line::<R::Guards>(&format!("{} relay refused {request}", R::KIND.name()));
    let text = match refusal {
        Refusal::Bearer => String::new(),
        Refusal::Route => format!("Unsupported {} request: {request}", R::KIND.name()),
        _ => format!("Refused: {refusal:?}"),
    };
    let mut response = text_response(refusal.status(), text);
    if refusal == Refusal::Method && R::KIND == Kind::Provider {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST"));
    }
    // What is left of a refused request's body is never taken for a request.
    if refusal.ends_connection() || has_body {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn shown<R: Relay>(head: &Head) -> String {
    log::request::<R::Guards>(&head.method, &head.target)
}

fn text_response(status: StatusCode, text: String) -> Response<Body> {
    let has_text = !text.is_empty();
    let mut response = Response::new(whole(Bytes::from(text)));
    *response.status_mut() = status;
    if has_text {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=us-ascii"));
    }
    response
}

impl Failure {
    /// For the log: no byte of the upstream's or the client's.
    fn reason(&self) -> String {
        match self {
            Self::Redirect => "the upstream redirects".to_owned(),
            Self::Switch => "the upstream switches protocols".to_owned(),
            Self::Ambiguous => "the upstream's answer is framed in two ways".to_owned(),
            Self::Body => "the client's body is malformed or incomplete".to_owned(),
            Self::Target => "the target cannot be sent".to_owned(),
            Self::Upstream(error) => log::printable(&error.to_string()),
        }
    }

    fn response(&self, kind: Kind) -> Response<Body> {
        let failed = match kind {
            Kind::Provider => "Provider request failed",
            Kind::Instance => "Instance request failed",
        };
        let (status, text) = match self {
            Self::Redirect => (StatusCode::BAD_GATEWAY, "Provider redirects are not supported"),
            Self::Body => (StatusCode::BAD_REQUEST, "Malformed or incomplete body"),
            Self::Target => (StatusCode::BAD_REQUEST, "Unsupported target"),
            Self::Switch | Self::Ambiguous | Self::Upstream(_) => (StatusCode::BAD_GATEWAY, failed),
        };
        text_response(status, text.to_owned())
    }
}
