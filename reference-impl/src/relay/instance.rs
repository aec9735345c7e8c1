//! The instance relay: leads every path to one origin and adds no credential of its own.

use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::sync::Arc;

use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue, UPGRADE};
use tokio_rustls::rustls::ClientConfig;

use crate::guards::RelayGuards;

use super::destination::Destination;
use super::head::Head;
use super::listener::Listener;
use super::origin::Origin;
use super::route::{Kind, Refusal};
use super::server::{Relay, Settings, serve};
use super::tls::{Trust, TrustError};

/// Leads to one origin, whatever the request says.
pub struct InstanceRelay<G> {
    origin: Origin,
    tls: Arc<ClientConfig>,
    settings: Settings,
    guards: PhantomData<fn() -> G>,
}

impl<G: RelayGuards> InstanceRelay<G> {
    pub fn new(origin: Origin, trust: &Trust, settings: Settings) -> Result<Self, TrustError> {
        Ok(Self { origin, tls: trust.config::<G>()?, settings, guards: PhantomData })
    }

    /// Serves `listener` until `shutdown` is ready; then no connection is left on either side.
    pub async fn serve(self, listener: Listener, shutdown: impl Future<Output = ()>) -> io::Result<()> {
        serve(Arc::new(self), listener, shutdown).await
    }
}

impl<G: RelayGuards> Relay for InstanceRelay<G> {
    type Guards = G;
    const KIND: Kind = Kind::Instance;

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn tls(&self) -> &Arc<ClientConfig> {
        &self.tls
    }

    fn judge(&self, head: &Head, headers: &HeaderMap) -> Result<Destination, Refusal> {
        G::instance_route(&head.method, &head.target)?;
        if headers.contains_key(UPGRADE) && G::refuses_upgrade() {
            return Err(Refusal::Upgrade);
        }
        Ok(self.unjudged(head))
    }

    fn unjudged(&self, head: &Head) -> Destination {
        Destination { origin: self.origin.clone(), target: head.target.clone() }
    }

    fn authorize(&self, headers: &mut HeaderMap) {
        if let Some(credential) = G::instance_credential() {
            headers.append(AUTHORIZATION, HeaderValue::from_static(credential));
        }
    }
}
