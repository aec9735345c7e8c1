//! TLS to an https upstream: which certificates are believed.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme};

use crate::guards::RelayGuards;

/// Root certificates could not be used.
#[derive(Debug, Error)]
pub enum TrustError {
    #[error("the root certificates are not PEM: {0}")]
    Pem(tokio_rustls::rustls::pki_types::pem::Error),
    #[error("a root certificate cannot be used: {0}")]
    Certificate(TlsError),
    #[error("there is no certificate in the PEM given as roots")]
    Empty,
    #[error("TLS cannot be set up: {0}")]
    Setup(TlsError),
}

/// The roots that an upstream's certificate must lead to. Neither a file nor the environment adds to them.
#[derive(Clone)]
pub struct Trust(RootCertStore);

impl Trust {
    /// The public roots that are built in.
    pub fn public() -> Self {
        Self(webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect())
    }

    /// The certificates in this PEM text, and no other.
    pub fn only(pem: &[u8]) -> Result<Self, TrustError> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            roots.add(certificate.map_err(TrustError::Pem)?).map_err(TrustError::Certificate)?;
        }
        if roots.is_empty() { Err(TrustError::Empty) } else { Ok(Self(roots)) }
    }

    pub(crate) fn config<G: RelayGuards>(&self) -> Result<Arc<ClientConfig>, TrustError> {
        let provider = Arc::new(ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(TrustError::Setup)?
            .with_root_certificates(self.0.clone())
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        if !G::verifies_certificates() {
            config.dangerous().set_certificate_verifier(Arc::new(Unverified(provider)));
        }
        Ok(Arc::new(config))
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trust({} roots)", self.0.len())
    }
}

/// What the guard `verifies_certificates` keeps away: a verifier that believes everybody.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
