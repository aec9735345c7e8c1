//! What CONNECT would be if it were let through. No relay has it: the guard `tunnels_to` names no destination.

use std::io;

use hyper::body::Incoming;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;

use super::body::{Body, whole};
use super::origin::Origin;

/// Connects, answers 200 and copies bytes, unjudged, until either side ends.
pub async fn open(to: &Origin, request: Request<Incoming>) -> io::Result<Response<Body>> {
    let mut upstream = TcpStream::connect((to.host(), to.port())).await?;
    let upgraded = hyper::upgrade::on(request);
    tokio::spawn(async move {
        if let Ok(client) = upgraded.await {
            let _ = copy_bidirectional(&mut TokioIo::new(client), &mut upstream).await;
        }
    });
    Ok(Response::new(whole(Default::default())))
}
