//! One HTTP/1.1 request head, judged byte by byte before hyper sees it: what can be read in two ways is refused, so that
//! no parser behind us can read it in the other (RFC 9112; catalogue J).

use crate::guards::RelayGuards;

use super::limits::Limits;

/// Why a head is refused. The guard `refuses_head` is asked about each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A line that ends in LF alone, or a CR elsewhere than before LF.
    LineEnd,
    /// A control character other than tab, anywhere: also what no HTTP client sends (TLS, SOCKS).
    Control,
    /// Not exactly `METHOD SP TARGET SP VERSION` in visible ASCII.
    RequestLine,
    /// Not HTTP/1.1: an older client could not be told that an answer was cut short.
    Version,
    /// CONNECT: a relay to one origin has nothing to tunnel.
    Connect,
    /// A line that starts with a space or tab (obsolete folding).
    Folding,
    /// A name that is no token, a space before the colon, or no colon.
    HeaderName,
    /// No Host, two, or one that is no host and port.
    Host,
    /// Two Content-Lengths, or one that is not a plain decimal number.
    ContentLength,
    /// A Transfer-Encoding that is not exactly `chunked`, or two.
    TransferEncoding,
    /// Both Content-Length and Transfer-Encoding.
    BothFramings,
    /// An Expect other than `100-continue`.
    Expectation,
    /// More bytes or lines than [`Limits`] allows.
    TooLarge,
}

/// How the body that follows a head is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    Length(u64),
    Chunked,
}

/// What the relay's decisions are made on: the very bytes of the request line, before any URL is made of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub method: String,
    pub target: String,
    pub(crate) framing: Framing,
}

/// What is known of the bytes so far.
#[derive(Debug, PartialEq, Eq)]
pub enum Parsed {
    Incomplete,
    /// The head and how many bytes it takes.
    Complete(Head, usize),
    Refused(Fault),
}

/// Judges the head at the start of `bytes`. A fault is found as soon as its line is there, not only at the head's end.
pub fn parse<G: RelayGuards>(bytes: &[u8], limits: &Limits) -> Parsed {
    match Reader::<G>::new(bytes, limits).read() {
        Ok(parsed) => parsed,
        Err(fault) => Parsed::Refused(fault),
    }
}

struct Reader<'a, G> {
    bytes: &'a [u8],
    limits: &'a Limits,
    hosts: usize,
    length: Option<u64>,
    chunked: bool,
    guards: std::marker::PhantomData<G>,
}

impl<'a, G: RelayGuards> Reader<'a, G> {
    fn new(bytes: &'a [u8], limits: &'a Limits) -> Self {
        Self { bytes, limits, hosts: 0, length: None, chunked: false, guards: std::marker::PhantomData }
    }

    fn read(mut self) -> Result<Parsed, Fault> {
        let mut head = None;
        let (mut at, mut lines) = (0, 0);
        while let Some(found) = self.bytes[at..].iter().position(|&byte| byte == b'\n') {
            let line = self.line(&self.bytes[at..at + found])?;
            at += found + 1;
            lines += 1;
            fault::<G>(at > self.limits.head_bytes || lines > self.limits.headers + 2, Fault::TooLarge)?;
            match head {
                None => head = Some(self.request_line(line)?),
                Some(head) if line.is_empty() => return self.end(head, at),
                Some(_) => self.header(line)?,
            }
        }
        let rest = &self.bytes[at..];
        fault::<G>(self.bytes.len() > self.limits.head_bytes, Fault::TooLarge)?;
        fault::<G>(rest.iter().any(|&byte| byte != b'\r' && is_control(byte)), Fault::Control)?;
        Ok(Parsed::Incomplete)
    }

    fn line(&self, raw: &'a [u8]) -> Result<&'a [u8], Fault> {
        let line = raw.strip_suffix(b"\r");
        fault::<G>(line.is_none(), Fault::LineEnd)?;
        let line = line.unwrap_or(raw);
        fault::<G>(line.contains(&b'\r'), Fault::LineEnd)?;
        fault::<G>(line.iter().any(|&byte| byte != b'\r' && is_control(byte)), Fault::Control)?;
        Ok(line)
    }

    fn request_line(&self, line: &[u8]) -> Result<(String, String), Fault> {
        let parts: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
        let plain =
            parts.len() == 3 && is_token(parts[0]) && !parts[1].is_empty() && parts[1].iter().all(u8::is_ascii_graphic);
        fault::<G>(!plain, Fault::RequestLine)?;
        fault::<G>(parts.get(2) != Some(&b"HTTP/1.1".as_slice()), Fault::Version)?;
        fault::<G>(parts[0] == b"CONNECT", Fault::Connect)?;
        let text =
            |part: Option<&&[u8]>| part.map(|part| String::from_utf8_lossy(part).into_owned()).unwrap_or_default();
        Ok((text(parts.first()), text(parts.get(1))))
    }

    fn header(&mut self, line: &[u8]) -> Result<(), Fault> {
        fault::<G>(matches!(line.first(), Some(b' ' | b'\t')), Fault::Folding)?;
        let colon = line.iter().position(|&byte| byte == b':').unwrap_or(line.len());
        let (name, value) = line.split_at(colon);
        fault::<G>(value.is_empty() || !is_token(name), Fault::HeaderName)?;
        let value = value.get(1..).unwrap_or_default().trim_ascii();
        match name.to_ascii_lowercase().as_slice() {
            b"host" => {
                self.hosts += 1;
                fault::<G>(self.hosts > 1 || !is_host(value), Fault::Host)?;
            }
            b"content-length" => {
                let length = decimal(value);
                fault::<G>(length.is_none() || self.length.is_some(), Fault::ContentLength)?;
                self.length = length.or(self.length);
            }
            b"transfer-encoding" => {
                fault::<G>(self.chunked || !value.eq_ignore_ascii_case(b"chunked"), Fault::TransferEncoding)?;
                self.chunked = true;
            }
            b"expect" => fault::<G>(!value.eq_ignore_ascii_case(b"100-continue"), Fault::Expectation)?,
            _ => {}
        }
        Ok(())
    }

    fn end(self, (method, target): (String, String), len: usize) -> Result<Parsed, Fault> {
        fault::<G>(self.hosts == 0, Fault::Host)?;
        fault::<G>(self.chunked && self.length.is_some(), Fault::BothFramings)?;
        let framing = if self.chunked { Framing::Chunked } else { Framing::Length(self.length.unwrap_or(0)) };
        Ok(Parsed::Complete(Head { method, target, framing }, len))
    }
}

fn fault<G: RelayGuards>(found: bool, fault: Fault) -> Result<(), Fault> {
    if found && G::refuses_head(fault) { Err(fault) } else { Ok(()) }
}

fn is_control(byte: u8) -> bool {
    byte != b'\t' && byte.is_ascii_control()
}

fn is_token(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

/// `host[:port]` of letters, digits, `-`, `.`, `_`, or an address in brackets.
fn is_host(value: &[u8]) -> bool {
    let (host, port) = match value.iter().rposition(|&byte| byte == b':') {
        Some(at) if !value.ends_with(b"]") => (&value[..at], &value[at + 1..]),
        _ => (value, b"0".as_slice()),
    };
    let name = host.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(byte));
    let address = host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]"));
    let address = address.is_some_and(|text| text.iter().all(|byte| byte.is_ascii_hexdigit() || b":.".contains(byte)));
    !host.is_empty() && (name || address) && decimal(port).is_some_and(|port| port <= 65535)
}

fn decimal(value: &[u8]) -> Option<u64> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    // hyper keeps the highest values for itself; no body is that long.
    digits.then(|| str::from_utf8(value).ok()?.parse().ok().filter(|&length| length < u64::MAX / 2)).flatten()
}

#[cfg(test)]
mod tests;
