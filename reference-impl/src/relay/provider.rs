//! The provider relay: takes the launch's bearer, gives the real key, and knows two routes.

use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::sync::Arc;

use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use tokio_rustls::rustls::ClientConfig;
use zeroize::Zeroizing;

use crate::guards::RelayGuards;

use super::bearer::Bearer;
use super::destination::Destination;
use super::head::Head;
use super::key_file::Key;
use super::listener::Listener;
use super::origin::BaseUrl;
use super::route::{Kind, Refusal};
use super::server::{Relay, Settings, serve};
use super::tls::{Trust, TrustError};

/// Leads to `POST <base>/chat/completions` and `GET <base>/models`, for whoever has the bearer.
pub struct ProviderRelay<G> {
    base: BaseUrl,
    /// The `Authorization` value that a client must send.
    expected: Zeroizing<Vec<u8>>,
    key: Key,
    tls: Arc<ClientConfig>,
    settings: Settings,
    guards: PhantomData<fn() -> G>,
}

impl<G: RelayGuards> ProviderRelay<G> {
    pub fn new(
        base: BaseUrl,
        bearer: &Bearer,
        key: Key,
        trust: &Trust,
        settings: Settings,
    ) -> Result<Self, TrustError> {
        let tls = trust.config::<G>()?;
        Ok(Self { base, expected: bearer.header(), key, tls, settings, guards: PhantomData })
    }

    /// Serves `listener` until `shutdown` is ready; then no connection is left on either side.
    pub async fn serve(self, listener: Listener, shutdown: impl Future<Output = ()>) -> io::Result<()> {
        serve(Arc::new(self), listener, shutdown).await
    }
}

impl<G: RelayGuards> Relay for ProviderRelay<G> {
    type Guards = G;
    const KIND: Kind = Kind::Provider;

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn tls(&self) -> &Arc<ClientConfig> {
        &self.tls
    }

    fn judge(&self, head: &Head, headers: &HeaderMap) -> Result<Destination, Refusal> {
        match G::credential(headers) {
            Some(given) if G::bearer_matches(&given, &self.expected) => {}
            _ => return Err(Refusal::Bearer),
        }
        G::provider_route(&head.method, &head.target, self.base.path())?;
        // The method chooses between the two constants; nothing of the request's own target is sent on.
        let route = if head.method == "GET" { "models" } else { "chat/completions" };
        let target = format!("{}/{route}", self.base.path());
        Ok(Destination { origin: self.base.origin().clone(), target })
    }

    fn unjudged(&self, head: &Head) -> Destination {
        Destination { origin: self.base.origin().clone(), target: head.target.clone() }
    }

    fn authorize(&self, headers: &mut HeaderMap) {
        let value = Zeroizing::new(format!("Bearer {}", self.key.expose()));
        if let Ok(mut value) = HeaderValue::try_from(value.as_str()) {
            value.set_sensitive(true);
            headers.append(AUTHORIZATION, value);
        }
    }
}
