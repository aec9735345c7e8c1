//! Both relays of one launch on a thread of their own, from their start to their shutdown.

use std::io;
use std::os::unix::net::UnixListener;
use std::thread::{self, JoinHandle};

use thiserror::Error;
use tokio::sync::watch;

use super::bearer::Bearer;
use super::instance::InstanceRelay;
use super::key_file::Key;
use super::limits::Limits;
use super::listener::Listener;
use super::log::Log;
use super::origin::{BaseUrl, Origin};
use super::provider::ProviderRelay;
use super::server::Settings;
use super::tls::{Trust, TrustError};
use crate::guards::RelayGuards;

/// What the relays of one launch lead to, and what they serve with. The listeners are bound and non-blocking.
#[derive(Debug)]
pub struct Service {
    pub provider: (BaseUrl, UnixListener),
    pub instance: Option<(Origin, UnixListener)>,
    pub key: Key,
    pub bearer: Bearer,
    pub trust: Trust,
}

/// Why the relays do not serve.
#[derive(Debug, Error)]
pub enum ServiceError {
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error("failed to start the relays' thread: {0}; is a process limit reached?")]
    Thread(#[source] io::Error),
}

/// Serving relays. Dropping it ends them: no connection is left on either side then.
pub struct Serving {
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Service {
    /// Starts to serve. What is refused is told to `log`, one line each.
    pub fn start<G: RelayGuards>(
        self,
        log: impl Fn(&str) + Clone + Send + Sync + 'static,
    ) -> Result<Serving, ServiceError> {
        let settings = || Settings { limits: Limits::default(), log: Log::new(log.clone()) };
        let (base, provider_listener) = self.provider;
        let provider = ProviderRelay::<G>::new(base, &self.bearer, self.key, &self.trust, settings())?;
        let instance = match self.instance {
            Some((origin, listener)) => Some((InstanceRelay::<G>::new(origin, &self.trust, settings())?, listener)),
            None => None,
        };
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ServiceError::Thread)?;
        let (stop, stopped) = watch::channel(false);
        let serve = move || {
            runtime.block_on(async {
                let provider = provider.serve(Listener::from(provider_listener), end(stopped.clone()));
                let instance = async {
                    match instance {
                        Some((relay, listener)) => relay.serve(Listener::from(listener), end(stopped.clone())).await,
                        None => Ok(()),
                    }
                };
                // A relay that cannot accept any more leaves its clients refused: closed, not open.
                for result in <[_; 2]>::from(tokio::join!(provider, instance)) {
                    if let Err(error) = result {
                        log(&format!("a relay ended: {error}"));
                    }
                }
            });
        };
        let thread = thread::Builder::new().name("relays".into()).spawn(serve).map_err(ServiceError::Thread)?;
        Ok(Serving { stop, thread: Some(thread) })
    }
}

async fn end(mut stopped: watch::Receiver<bool>) {
    // An error means that the owner is gone, which is an end as well.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

impl Drop for Serving {
    fn drop(&mut self) {
        // The thread may have ended by itself.
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
