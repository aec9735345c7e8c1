//! TLS to the upstream: its certificate leads to the roots given and names the origin, or not one byte of a request is
//! sent (catalogue I11, I12).

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};
use watertight_reference::guards::{AllUp, RelayGuards};
use watertight_reference::relay::{Limits, Trust};

use crate::running::{BOTH, KEY, Kind, relay_with};

/// What is wrong with the upstream's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certificate {
    Good,
    OtherName,
    OtherRoot,
    Expired,
}

struct TlsUpstream {
    origin: String,
    roots: String,
    /// The server name that each client asked for, and the request that it sent, if any.
    seen: Arc<Mutex<Vec<Seen>>>,
}

type Seen = (Option<String>, String);

fn issuer() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().expect("key")).expect("root")
}

fn upstream(certificate: Certificate) -> TlsUpstream {
    let (root, other) = (issuer(), issuer());
    let name = if certificate == Certificate::OtherName { "other.test" } else { "localhost" };
    let mut params = CertificateParams::new(vec![name.to_owned()]).expect("params");
    if certificate == Certificate::Expired {
        params.not_before = date_time_ymd(2001, 1, 1);
        params.not_after = date_time_ymd(2002, 1, 1);
    }
    let key = KeyPair::generate().expect("key");
    let signer = if certificate == Certificate::OtherRoot { &other } else { &root };
    let signed = params.signed_by(&key, signer).expect("certificate");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![signed.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .expect("config");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let port = listener.local_addr().expect("address").port();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let recorded = seen.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(config.clone()).expect("connection");
            let mut tls = StreamOwned::new(connection, stream);
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            while !request.ends_with(b"\r\n\r\n") {
                match tls.read(&mut buffer) {
                    Ok(count @ 1..) => request.extend_from_slice(&buffer[..count]),
                    _ => break,
                }
            }
            let name = tls.conn.server_name().map(ToString::to_string);
            recorded.lock().expect("seen").push((name, String::from_utf8_lossy(&request).into_owned()));
            let _ = tls.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
            let _ = tls.flush();
        }
    });
    TlsUpstream { origin: format!("https://localhost:{port}"), roots: root.pem(), seen }
}

pub fn only_the_right_certificate_is_believed<G: RelayGuards>(kind: Kind, certificate: Certificate) {
    let upstream = upstream(certificate);
    let trust = Trust::only(upstream.roots.as_bytes()).expect("roots");
    let relay = relay_with::<G>(kind, &upstream.origin, Limits::default(), &trust);
    let head = relay.get().replace("Host: relay", "Host: other.test");
    let answer = relay.connect().ask(head);
    let seen = upstream.seen.lock().expect("seen").clone();
    if certificate == Certificate::Good {
        assert_eq!((answer.status, answer.text().as_str()), (200, "ok"));
        let [(name, request)] = &seen[..] else { panic!("one connection: {seen:?}") };
        assert_eq!(name.as_deref(), Some("localhost"));
        assert!(request.contains(&format!("host: {}\r\n", upstream.origin.replace("https://", ""))), "{request}");
        assert_eq!(request.contains(KEY), kind == Kind::Provider);
    } else {
        assert_eq!(answer.status, 502, "{certificate:?}");
        assert!(seen.iter().all(|(_, request)| request.is_empty()), "{certificate:?}: {seen:?}");
    }
}

#[test]
fn the_origins_own_certificate_is_believed_and_no_other() {
    for kind in BOTH {
        for certificate in [Certificate::Good, Certificate::OtherName, Certificate::OtherRoot, Certificate::Expired] {
            only_the_right_certificate_is_believed::<AllUp>(kind, certificate);
        }
    }
}

#[test]
fn the_public_roots_do_not_believe_a_private_one() {
    let upstream = upstream(Certificate::Good);
    let relay = relay_with::<AllUp>(Kind::Provider, &upstream.origin, Limits::default(), &Trust::public());
    assert_eq!(relay.connect().ask(relay.get()).status, 502);
}

#[test]
fn roots_that_are_none_are_refused_with_the_reason() {
    assert!(Trust::only(b"").expect_err("empty").to_string().contains("no certificate"));
    let broken = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert!(Trust::only(broken).expect_err("broken").to_string().contains("cannot be used"));
}
