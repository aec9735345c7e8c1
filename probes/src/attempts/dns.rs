//! Questions for `<nonce>.<zone>`: as a datagram's payload, over a stream, and by the C library.

use std::net::SocketAddr;

use super::{answer, net};
use crate::{
    context::{Attempted, Context, Stop, heard},
    plan::DnsQuery,
    sys::resolve,
};

/// The port of DNS over TLS (RFC 7858).
const DNS_OVER_TLS: u16 = 853;

/// A DNS query message (RFC 1035 4.1) that asks for recursion.
pub fn question(context: &Context<'_>, query: &DnsQuery) -> Result<Vec<u8>, Stop> {
    let name = format!("{}.{}", context.nonce, query.zone);
    let mut message = vec![0x77, 0x74, 0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.trim_end_matches('.').split('.') {
        let len = u8::try_from(label.len()).ok().filter(|len| (1..=63).contains(len));
        message.push(len.ok_or_else(|| Stop::Broken(format!("{label:?} is no label of a DNS name")))?);
        message.extend(label.as_bytes());
    }
    message.push(0);
    message.extend(query.qtype.to_be_bytes());
    message.extend(1u16.to_be_bytes());
    Ok(message)
}

/// `Attempt::DnsStream`: the message behind its length; on port 853 a TLS greeting that names the question goes first.
pub fn over_stream(context: &Context<'_>, to: SocketAddr, query: &DnsQuery) -> Attempted {
    let message = question(context, query)?;
    let stream = net::tcp(context, to)?;
    let mut bytes = Vec::new();
    if to.port() == DNS_OVER_TLS {
        bytes.extend(client_hello(&format!("{}.{}", context.nonce, query.zone)));
    }
    bytes.extend((message.len() as u16).to_be_bytes());
    bytes.extend(message);
    answer::send_all(context, &stream, &bytes)?;
    // A message behind its length, or a line from something that is no name server.
    answer::hear_all(context, &stream, context.until, |answer| {
        let message =
            answer.split_first_chunk().is_some_and(|(len, rest)| rest.len() >= u16::from_be_bytes(*len).into());
        message || answer.contains(&b'\n')
    })
}

/// `Attempt::Resolve`. A refusal has the `EAI_*` code (negative) as its errno, or the errno behind `EAI_SYSTEM`.
pub fn resolve(context: &Context<'_>, zone: &str) -> Attempted {
    context.step("getaddrinfo");
    match resolve::addresses(&format!("{}.{zone}", context.nonce)) {
        Ok(addresses) => {
            let text: Vec<_> = addresses.iter().map(ToString::to_string).collect();
            Ok(heard(text.join(" ").as_bytes()))
        }
        Err((code, 0)) => Err(Stop::Refused("getaddrinfo", code)),
        Err((_, errno)) => Err(Stop::Refused("getaddrinfo", errno)),
    }
}

/// A TLS 1.2 ClientHello record (RFC 8446 4.1.2) whose server name is `name`: what passes by it carries the nonce in the clear.
fn client_hello(name: &str) -> Vec<u8> {
    let host = [&[0][..], &prefixed16(name.as_bytes())].concat();
    let server_name = [&[0, 0][..], &prefixed16(&prefixed16(&host))].concat();
    let mut body = vec![3, 3];
    body.extend([0x77; 32]);
    body.extend([0, 0, 2, 0x13, 0x01, 1, 0]);
    body.extend(prefixed16(&server_name));
    let mut handshake = vec![1, 0];
    handshake.extend(prefixed16(&body));
    [&[22, 3, 1][..], &prefixed16(&handshake)].concat()
}

fn prefixed16(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat()
}

#[cfg(test)]
mod tests {
    use super::client_hello;

    #[test]
    fn every_length_of_the_greeting_covers_the_rest_of_it() {
        let record = client_hello("name.test");
        assert_eq!(usize::from(u16::from_be_bytes([record[3], record[4]])), record.len() - 5);
        assert_eq!(usize::from(u16::from_be_bytes([record[7], record[8]])), record.len() - 9);
        assert_eq!(usize::from(u16::from_be_bytes([record[50], record[51]])), record.len() - 52);
        assert!(record.ends_with(b"name.test"));
    }
}
