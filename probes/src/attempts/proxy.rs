//! Proxies that a target brings: HTTP CONNECT and absolute-form (RFC 9110 9.3.6, RFC 9112 3.2.2) and SOCKS5 (RFC 1928,
//! RFC 1929), spoken by hand.

use std::{
    io,
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    os::fd::OwnedFd,
    time::Instant,
};

use base64::{Engine, engine::general_purpose::STANDARD};

use super::{
    answer::{self, Received},
    net,
};
use crate::{
    context::{Attempted, Context, Stop, absent, found, refused},
    observation::{Exchange, Facts, Outcome},
    plan::{Authority, Carry, Proxy, ProxyAt},
    wire,
};

/// Bytes of an answer to CONNECT that are read.
const MOST_OF_HEAD: usize = 8 * 1024;
const MOST_SHOWN: usize = 160;

/// `Attempt::Proxied`: through the proxy as through a connection. What it refuses is found, and heard of nobody.
pub fn reach(context: &Context<'_>, proxy: &Proxy, to: &Authority) -> Attempted {
    let stream = match &proxy.by {
        Carry::Absolute => {
            let (stream, credentials) = dial(context, proxy)?;
            let request = format!(
                "GET http://{to}/{} HTTP/1.1\r\nHost: {to}\r\n{}Connection: close\r\n\r\n",
                context.payload(),
                authorization(credentials.as_ref())
            );
            answer::send_all(context, &stream, request.as_bytes())?;
            return answer::hear_all(context, stream, context.until, |_| false);
        }
        Carry::Connect | Carry::Socks5 => match tunnel(context, proxy, to)? {
            Tunnel::Open(stream) => stream,
            Tunnel::Refused(exchange) => return Ok(found(Facts::Exchange { exchange })),
        },
    };
    answer::say_and_hear(context, stream)
}

/// A tunnel, or what the proxy answered instead.
pub enum Tunnel {
    Open(OwnedFd),
    Refused(Exchange),
}

/// Opens a tunnel to `to`.
pub fn tunnel(context: &Context<'_>, proxy: &Proxy, to: &Authority) -> Result<Tunnel, Stop> {
    let (stream, credentials) = dial(context, proxy)?;
    match proxy.by {
        Carry::Socks5 => socks5(context, stream, credentials, to),
        Carry::Connect | Carry::Absolute => {
            let request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n{}\r\n", authorization(credentials.as_ref()));
            answer::send_all(context, &stream, request.as_bytes())?;
            let head = read_head(context, &stream)?;
            let status = status(&head);
            if status.is_some_and(|status| (200..300).contains(&status)) {
                return Ok(Tunnel::Open(stream));
            }
            let said = wire::escape(&head, MOST_SHOWN);
            Ok(Tunnel::Refused(Exchange { status, stopped: Some(format!("CONNECT: {said}")), ..Exchange::default() }))
        }
    }
}

/// The credentials of a proxy's URL.
struct Credentials {
    user: Vec<u8>,
    password: Vec<u8>,
}

fn dial(context: &Context<'_>, proxy: &Proxy) -> Result<(OwnedFd, Option<Credentials>), Stop> {
    context.step("proxy");
    let (address, credentials) = match &proxy.at {
        ProxyAt::Address(address) => (*address, None),
        ProxyAt::Environment => from_environment(proxy.by)?,
    };
    Ok((net::tcp(context, address)?, credentials))
}

/// `Attempt::ProxyVariables`.
pub fn variables() -> Outcome {
    let named = |by| from_environment(by).ok().map(|(address, _)| address);
    let (connect, absolute, socks5) = (named(Carry::Connect), named(Carry::Absolute), named(Carry::Socks5));
    found(Facts::ProxyVariables { connect, absolute, socks5 })
}

fn from_environment(by: Carry) -> Result<(SocketAddr, Option<Credentials>), Stop> {
    let names: &[&str] = match by {
        Carry::Connect => &["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
        Carry::Absolute => &["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
        Carry::Socks5 => &["ALL_PROXY", "all_proxy", "FTP_PROXY", "ftp_proxy", "HTTPS_PROXY", "https_proxy"],
    };
    let values = names.iter().filter_map(|name| std::env::var(name).ok());
    let mut places = values.filter_map(|value| place(&value, by == Carry::Socks5));
    places
        .next()
        .ok_or_else(|| absent(format!("a proxy in {}", names.join(", ")))(io::Error::from_raw_os_error(libc::ENOENT)))
}

/// The place that a proxy's URL names, where its scheme is of this kind.
fn place(url: &str, socks: bool) -> Option<(SocketAddr, Option<Credentials>)> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    if scheme.starts_with("socks5") != socks {
        return None;
    }
    let rest = rest.split(['/', '?']).next()?;
    let (user, place) = rest.rsplit_once('@').map_or((None, rest), |(user, place)| (Some(user), place));
    let address = place.to_socket_addrs().ok()?.next()?;
    let credentials = user.map(|user| {
        let (user, password) = user.split_once(':').unwrap_or((user, ""));
        Credentials { user: unescaped(user), password: unescaped(password) }
    });
    Some((address, credentials))
}

/// Percent-decoded (RFC 3986 2.1).
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = vec![];
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let coded = (*first == b'%').then(|| more.first_chunk::<2>()).flatten();
        let coded = coded.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(coded.unwrap_or(*first));
        rest = if coded.is_some() { &more[2..] } else { more };
    }
    bytes
}

fn authorization(credentials: Option<&Credentials>) -> String {
    credentials.map_or_else(String::new, |Credentials { user, password }| {
        let coded = STANDARD.encode([user, &b":"[..], password].concat());
        format!("Proxy-Authorization: Basic {coded}\r\n")
    })
}

fn read_head(context: &Context<'_>, stream: &OwnedFd) -> Result<Vec<u8>, Stop> {
    context.step("answer to CONNECT");
    let mut head = vec![];
    // Byte by byte: what follows the head belongs to the tunnel.
    while head.len() < MOST_OF_HEAD && !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        match read(stream, &mut byte, context.until)? {
            0 => break,
            _ => head.push(byte[0]),
        }
    }
    Ok(head)
}

fn status(head: &[u8]) -> Option<u16> {
    let line = head.split(|byte| *byte == b'\n').next()?;
    std::str::from_utf8(line).ok()?.split(' ').nth(1)?.trim().parse().ok()
}

fn socks5(
    context: &Context<'_>,
    stream: OwnedFd,
    credentials: Option<Credentials>,
    to: &Authority,
) -> Result<Tunnel, Stop> {
    const NONE: u8 = 0;
    const PASSWORD: u8 = 2;
    let refused =
        |why: String| Ok(Tunnel::Refused(Exchange { stopped: Some(format!("SOCKS5: {why}")), ..Exchange::default() }));
    let method = if credentials.is_some() { PASSWORD } else { NONE };
    answer::send_all(context, &stream, &[5, 1, method])?;
    match exactly::<2>(context, &stream, "method of SOCKS5")? {
        Some([5, chosen]) if chosen == method => {}
        other => return refused(format!("method {other:?}")),
    }
    if let Some(Credentials { user, password }) = credentials {
        let mut message = vec![1];
        for text in [&user, &password] {
            let Ok(len) = u8::try_from(text.len()) else { return refused("the credentials are too long".into()) };
            message.push(len);
            message.extend(text);
        }
        answer::send_all(context, &stream, &message)?;
        match exactly::<2>(context, &stream, "authentication of SOCKS5")? {
            Some([_, 0]) => {}
            other => return refused(format!("authentication {other:?}")),
        }
    }
    let mut request = vec![5, 1, 0];
    match to.host.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => {
            request.push(1);
            request.extend(address.octets());
        }
        Ok(IpAddr::V6(address)) => {
            request.push(4);
            request.extend(address.octets());
        }
        Err(_) => {
            let Ok(len) = u8::try_from(to.host.len()) else { return refused("the name is too long".into()) };
            request.extend([3, len]);
            request.extend(to.host.as_bytes());
        }
    }
    request.extend(to.port.to_be_bytes());
    answer::send_all(context, &stream, &request)?;
    let kind = match exactly::<4>(context, &stream, "answer of SOCKS5")? {
        Some([5, 0, _, kind]) => kind,
        other => return refused(format!("answer {other:?}")),
    };
    // The address that the proxy bound, and its port, are of no use.
    let rest = match kind {
        4 => 18,
        3 => usize::from(exactly::<1>(context, &stream, "address of SOCKS5")?.unwrap_or([0])[0]) + 2,
        _ => 6,
    };
    for _ in 0..rest {
        exactly::<1>(context, &stream, "address of SOCKS5")?;
    }
    Ok(Tunnel::Open(stream))
}

/// That many bytes; `None` where the connection ends before.
fn exactly<const N: usize>(context: &Context<'_>, stream: &OwnedFd, step: &str) -> Result<Option<[u8; N]>, Stop> {
    context.step(step);
    let mut bytes = [0; N];
    let mut have = 0;
    while have < N {
        match read(stream, &mut bytes[have..], context.until)? {
            0 => return Ok(None),
            read => have += read,
        }
    }
    Ok(Some(bytes))
}

/// Some bytes, or none where the connection has ended.
fn read(stream: &OwnedFd, buffer: &mut [u8], until: Instant) -> Result<usize, Stop> {
    match answer::receive(stream, buffer, until).map_err(refused("recv"))? {
        Received::Bytes(read) => Ok(read),
        Received::End => Ok(0),
        Received::Late => Err(Stop::TimedOut("answer of the proxy".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_and_the_credentials_of_a_proxy_are_read_from_its_url() {
        let read = |url, socks| {
            place(url, socks).map(|(address, credentials)| {
                let credentials = credentials.map(|one| [one.user, vec![b'|'], one.password].concat());
                (address.to_string(), credentials.map(|bytes| String::from_utf8(bytes).expect("text")))
            })
        };
        let at = |address: &str, credentials: Option<&str>| Some((address.to_owned(), credentials.map(str::to_owned)));
        assert_eq!(read("http://127.0.0.1:3128", false), at("127.0.0.1:3128", None));
        assert_eq!(read("127.0.0.1:3128", false), at("127.0.0.1:3128", None));
        assert_eq!(read("http://a%40b:c%3a%zz@127.0.0.1:1/", false), at("127.0.0.1:1", Some("a@b|c:%zz")));
        assert_eq!(read("socks5h://[::1]:1080", true), at("[::1]:1080", None));
        assert_eq!(read("socks5h://[::1]:1080", false), None);
        assert_eq!(read("http://127.0.0.1:3128", true), None);
        assert_eq!(read("http://nowhere", false), None);
    }

    #[test]
    fn a_status_is_read_of_a_head_and_of_nothing_else() {
        assert_eq!(status(b"HTTP/1.1 403 Forbidden\r\n\r\n"), Some(403));
        assert_eq!(status(b"HTTP/1.0 200\r\n\r\n"), Some(200));
        assert_eq!(status(b""), None);
        assert_eq!(status(b"\xff\xff 200\r\n"), None);
    }
}
