//! Proxies that a sandbox brings, found in the environment: tunnels by CONNECT and SOCKS5, absolute-form, and refusals.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    process::Stdio,
    sync::mpsc::Receiver,
};

use watertight_probe::{
    observation::{Facts, Outcome},
    plan::{Attempt, Authority, Carry, Endpoint, Proxy, ProxyAt, Step},
};

use crate::{
    launch::{command, plan, read, start},
    servers, sys,
};

crate::trials! {
    a_proxy_of_the_environment_carries_attempts_and_exchanges_in_each_way,
    what_a_proxy_refuses_reaches_nobody,
    without_a_proxy_in_the_environment_nothing_is_attempted,
}

const HTTP_USER: &str = "Proxy-Authorization: Basic dXNlcjpwYXNzOndvcmQ=\r\n";

/// Reads up to the end of a head.
fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("a whole head");
        head.push(byte[0]);
    }
    String::from_utf8(head).expect("text")
}

fn exactly<const N: usize>(stream: &mut TcpStream) -> [u8; N] {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).expect("bytes");
    bytes
}

/// The address of a server that goes on for as long as the test: it would end with the first one whom nobody asks about.
fn kept<T: Send + 'static>((address, told): (SocketAddr, Receiver<T>)) -> SocketAddr {
    std::thread::spawn(move || told.into_iter().for_each(drop));
    address
}

/// An HTTP proxy that knows one name and one user, and is the destination itself.
fn http() -> SocketAddr {
    let serve = |mut stream: TcpStream| {
        let head = head(&mut stream);
        let known = head.contains("http://allowed.test:80/wt:") || head.starts_with("CONNECT allowed.test:80 ");
        if !known || !head.contains(HTTP_USER) {
            stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").expect("written");
        } else if head.starts_with("CONNECT") {
            stream.write_all(b"HTTP/1.1 200 Established\r\nx: y\r\n\r\nthe destination\n").expect("written");
            // What comes through the tunnel, until the probe has heard enough.
            let mut rest = vec![];
            let _ = stream.read_to_end(&mut rest);
        } else {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nin absolute-form").expect("written");
        }
    };
    kept(servers::tcp_with("127.0.0.1:0", serve))
}

/// The same in SOCKS5.
fn socks() -> SocketAddr {
    let serve = |mut stream: TcpStream| {
        assert_eq!(exactly::<3>(&mut stream), [5, 1, 2], "a user name is offered");
        stream.write_all(&[5, 2]).expect("written");
        assert_eq!(exactly::<12>(&mut stream), *b"\x01\x04user\x05pa:ss");
        stream.write_all(&[1, 0]).expect("written");
        let [version, connect, _, kind] = exactly::<4>(&mut stream);
        assert_eq!((version, connect), (5, 1));
        assert_eq!(kind, 3, "a name");
        let mut name = vec![0; usize::from(exactly::<1>(&mut stream)[0])];
        stream.read_exact(&mut name).expect("a name");
        assert_eq!(exactly::<2>(&mut stream), [0, 80]);
        if name != b"allowed.test" {
            stream.write_all(&[5, 2, 0, 1, 0, 0, 0, 0, 0, 0]).expect("written");
            return;
        }
        stream.write_all(&[5, 0, 0, 3, 1, b'x', 0, 0]).expect("written");
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi\n").expect("written");
        let mut rest = vec![];
        let _ = stream.read_to_end(&mut rest);
    };
    kept(servers::tcp_with("127.0.0.1:0", serve))
}

fn proxied(by: Carry, host: &str) -> Attempt {
    Attempt::Proxied { proxy: Proxy { at: ProxyAt::Environment, by }, to: Authority { host: host.into(), port: 80 } }
}

/// What the attempts came to with these proxies in the environment.
fn outcomes(attempts: impl IntoIterator<Item = Attempt>, environment: &[(&str, String)]) -> Vec<Outcome> {
    let plan = plan(attempts);
    let mut command = command(&plan);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
        command.env_remove(name);
    }
    command.envs(environment.iter().map(|(name, value)| (*name, value)));
    let said = read(start(&mut command, Stdio::null()));
    (0..plan.attempts.len()).map(|index| said.outcome(index).clone()).collect()
}

fn environment() -> [(&'static str, String); 3] {
    let http = http();
    [
        ("HTTPS_PROXY", format!("http://user:pass%3Aword@{http}")),
        ("http_proxy", format!("http://user:pass%3Aword@{http}/")),
        ("ALL_PROXY", format!("socks5h://user:pa%3ass@{}", socks())),
    ]
}

fn a_proxy_of_the_environment_carries_attempts_and_exchanges_in_each_way() {
    sys::new_network(true);
    let request = Step::Send("GET / HTTP/1.1\\x0d\\x0ahost: x\\x0d\\x0a\\x0d\\x0a".into());
    let exchange = Attempt::Exchange {
        to: Endpoint::Proxied {
            proxy: Proxy { at: ProxyAt::Environment, by: Carry::Socks5 },
            to: Authority { host: "allowed.test".into(), port: 80 },
        },
        steps: vec![request, Step::ReadResponse],
    };
    let ways = [Carry::Connect, Carry::Absolute, Carry::Socks5].map(|by| proxied(by, "allowed.test"));
    let told = outcomes(ways.into_iter().chain([exchange, Attempt::ProxyVariables]), &environment());
    for (outcome, said) in told.iter().zip(["the destination", "in absolute-form", "HTTP/1.1 200 OK"]) {
        assert!(matches!(outcome, Outcome::Heard { head, .. } if head.contains(said)), "{said}: {outcome:?}");
    }
    let Outcome::Found { facts: Facts::Exchange { exchange } } = &told[3] else { panic!("{:?}", told[3]) };
    assert_eq!((exchange.status, exchange.body_head.as_str(), &exchange.stopped), (Some(200), "hi", &None));
    let named = |outcome: &Outcome| match outcome {
        Outcome::Found { facts: Facts::ProxyVariables { connect, absolute, socks5 } } => {
            [connect, absolute, socks5].map(Option::is_some)
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(named(&told[4]), [true; 3]);
}

fn what_a_proxy_refuses_reaches_nobody() {
    sys::new_network(true);
    let told = outcomes([Carry::Connect, Carry::Socks5].map(|by| proxied(by, "other.test")), &environment());
    for (outcome, (status, why)) in told.iter().zip([(Some(403), "CONNECT: "), (None, "SOCKS5: ")]) {
        let Outcome::Found { facts: Facts::Exchange { exchange } } = outcome else { panic!("{outcome:?}") };
        assert_eq!(exchange.status, status);
        assert!(exchange.stopped.as_ref().is_some_and(|text| text.starts_with(why)), "{exchange:?}");
    }
    let told = outcomes([proxied(Carry::Absolute, "other.test")], &environment());
    assert!(matches!(&told[0], Outcome::Heard { head, .. } if head.starts_with("HTTP/1.1 403 ")), "{told:?}");
}

fn without_a_proxy_in_the_environment_nothing_is_attempted() {
    sys::new_network(true);
    let http = ("HTTP_PROXY", format!("http://{}", http()));
    let told = outcomes([proxied(Carry::Connect, "allowed.test"), proxied(Carry::Socks5, "allowed.test")], &[http]);
    for outcome in &told {
        assert!(matches!(outcome, Outcome::Absent { what, .. } if what.contains("a proxy in ")), "{outcome:?}");
    }
}
