use proptest::{collection::vec, prelude::*, sample::select};

use super::*;
use crate::guards::AllUp;
use crate::relay::arbitrary::{any_case, bytes_of, config};

fn parsed(text: &str) -> Parsed {
    parse::<AllUp>(text.as_bytes(), &Limits::default())
}

fn with(header: &str) -> Parsed {
    parsed(&format!("POST /x HTTP/1.1\r\nHost: h\r\n{header}\r\n\r\n"))
}

#[test]
fn a_plain_head_gives_its_own_bytes_and_its_framing() {
    for (header, framing) in [
        ("A: b", Framing::Length(0)),
        ("Content-Length: 5", Framing::Length(5)),
        ("content-length:\t007 ", Framing::Length(7)),
        ("Transfer-Encoding: Chunked", Framing::Chunked),
        ("Expect: 100-Continue", Framing::Length(0)),
        ("X: \u{e9}\tb", Framing::Length(0)),
    ] {
        let text = format!("POST /a//b?c%2F#d HTTP/1.1\r\nHost: h\r\n{header}\r\n\r\nREST");
        let head = Head { method: "POST".into(), target: "/a//b?c%2F#d".into(), framing };
        assert_eq!(parsed(&text), Parsed::Complete(head, text.len() - 4), "{header}");
    }
}

#[test]
fn every_proper_prefix_of_a_good_head_is_incomplete() {
    let text = "POST /x HTTP/1.1\r\nHost: h:80\r\nContent-Length: 3\r\n\r\n";
    for end in 0..text.len() {
        assert_eq!(parsed(&text[..end]), Parsed::Incomplete, "{end}");
    }
}

#[test]
fn every_request_line_that_is_not_exactly_three_parts_is_refused() {
    for (line, fault) in [
        ("", Fault::RequestLine),
        ("GET", Fault::RequestLine),
        ("GET /", Fault::RequestLine),
        ("GET  / HTTP/1.1", Fault::RequestLine),
        ("GET /  HTTP/1.1", Fault::RequestLine),
        ("GET / HTTP/1.1 ", Fault::RequestLine),
        (" GET / HTTP/1.1", Fault::RequestLine),
        ("GET\t/\tHTTP/1.1", Fault::RequestLine),
        ("GET /a b HTTP/1.1", Fault::RequestLine),
        ("GET /\u{e9} HTTP/1.1", Fault::RequestLine),
        ("G(T / HTTP/1.1", Fault::RequestLine),
        ("GET / HTTP/1.0", Fault::Version),
        ("GET / HTTP/0.9", Fault::Version),
        ("GET / HTTP/1.2", Fault::Version),
        ("GET / http/1.1", Fault::Version),
        ("GET / HTTP/1.1x", Fault::Version),
        ("PRI * HTTP/2.0", Fault::Version),
        ("CONNECT h:443 HTTP/1.1", Fault::Connect),
        ("GET /\0 HTTP/1.1", Fault::Control),
        ("GET /\x1b HTTP/1.1", Fault::Control),
        ("GET /\x7f HTTP/1.1", Fault::Control),
        ("GET /\rx HTTP/1.1", Fault::LineEnd),
    ] {
        assert_eq!(parsed(&format!("{line}\r\n")), Parsed::Refused(fault), "{line:?}");
    }
}

#[test]
fn every_ambiguous_header_is_refused() {
    for (header, fault) in [
        ("Content-Length: 5\r\nContent-Length: 6", Fault::ContentLength),
        ("Content-Length: 5\r\ncontent-length: 5", Fault::ContentLength),
        ("Content-Length: 5, 5", Fault::ContentLength),
        ("Content-Length: +5", Fault::ContentLength),
        ("Content-Length: -1", Fault::ContentLength),
        ("Content-Length: 5 5", Fault::ContentLength),
        ("Content-Length: 0x5", Fault::ContentLength),
        ("Content-Length: 5.0", Fault::ContentLength),
        ("Content-Length:", Fault::ContentLength),
        ("Content-Length: 18446744073709551621", Fault::ContentLength),
        ("Content-Length: 18446744073709551615", Fault::ContentLength),
        ("Content-Length: 5\r\nTransfer-Encoding: chunked", Fault::BothFramings),
        ("Transfer-Encoding: chunked\r\nContent-Length: 5", Fault::BothFramings),
        ("Transfer-Encoding: chunked, identity", Fault::TransferEncoding),
        ("Transfer-Encoding: gzip, chunked", Fault::TransferEncoding),
        ("Transfer-Encoding: identity", Fault::TransferEncoding),
        ("Transfer-Encoding: xchunked", Fault::TransferEncoding),
        ("Transfer-Encoding: \"chunked\"", Fault::TransferEncoding),
        ("Transfer-Encoding:", Fault::TransferEncoding),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", Fault::TransferEncoding),
        ("Transfer-Encoding : chunked", Fault::HeaderName),
        ("Transfer-Encoding\t: chunked", Fault::HeaderName),
        (" Transfer-Encoding: chunked", Fault::Folding),
        ("A: b\r\n\tc", Fault::Folding),
        ("A: b\r\n c", Fault::Folding),
        (": b", Fault::HeaderName),
        ("A", Fault::HeaderName),
        ("\u{e9}: b", Fault::HeaderName),
        ("A b: c", Fault::HeaderName),
        ("A: b\nC: d", Fault::LineEnd),
        ("A: b\rC: d", Fault::LineEnd),
        ("A: b\r\rC: d", Fault::LineEnd),
        ("A: \0", Fault::Control),
        ("A: \x1b[2J", Fault::Control),
        ("Host: h", Fault::Host),
        ("Expect: 200-ok", Fault::Expectation),
    ] {
        assert_eq!(with(header), Parsed::Refused(fault), "{header:?}");
    }
}

#[test]
fn a_host_is_one_host_and_port_and_nothing_else() {
    for good in ["h", "h:80", "evil.test", "127.0.0.1:8765", "[::1]", "[::1]:80", "H_1.x-y"] {
        assert!(is_host(good.as_bytes()), "{good}");
    }
    for bad in [
        "", ":80", "h:", "h:x", "h:65536", "h:80:80", "a,b", "a b", "u@h", "h/p", "h?q", "h#f", "h\\x", "[::1", "::1",
        "[::1]x", "[h]", "\u{e9}", "h%00",
    ] {
        assert!(!is_host(bad.as_bytes()), "{bad}");
    }
    assert_eq!(parsed("GET / HTTP/1.1\r\n\r\n"), Parsed::Refused(Fault::Host));
}

#[test]
fn no_length_is_one_that_hyper_keeps_for_itself() {
    let most = u64::MAX / 2 - 1;
    assert_eq!(decimal(most.to_string().as_bytes()), Some(most));
    assert_eq!(decimal((most + 1).to_string().as_bytes()), None);
}

#[test]
fn what_is_no_http_is_refused_before_any_line_ends() {
    assert_eq!(parsed("\x05\x01\0"), Parsed::Refused(Fault::Control), "SOCKS");
    assert_eq!(parsed("\x16\x03\x01\x02\0\x01"), Parsed::Refused(Fault::Control), "TLS");
    assert_eq!(parsed("\r\nGET / HTTP/1.1\r\n"), Parsed::Refused(Fault::RequestLine), "an empty line first");
    assert_eq!(parsed("GET / HTTP/1.1\n"), Parsed::Refused(Fault::LineEnd), "no line of it ends well");
}

#[test]
fn a_head_has_as_many_bytes_and_lines_as_allowed_and_not_one_more() {
    let limits = Limits { head_bytes: 100, headers: 3, ..Limits::default() };
    let sized = |len: usize| format!("GET / HTTP/1.1\r\nHost: h\r\nA: {}\r\n\r\n", "x".repeat(len - 32));
    assert!(matches!(parse::<AllUp>(sized(100).as_bytes(), &limits), Parsed::Complete(_, 100)));
    assert_eq!(parse::<AllUp>(sized(101).as_bytes(), &limits), Parsed::Refused(Fault::TooLarge));
    assert_eq!(parse::<AllUp>(&[b'x'; 100], &limits), Parsed::Incomplete);
    assert_eq!(parse::<AllUp>(&[b'x'; 101], &limits), Parsed::Refused(Fault::TooLarge));
    let lines = |count| format!("GET / HTTP/1.1\r\nHost: h\r\n{}\r\n", "A:\r\n".repeat(count));
    assert!(matches!(parse::<AllUp>(lines(2).as_bytes(), &limits), Parsed::Complete(..)));
    assert_eq!(parse::<AllUp>(lines(3).as_bytes(), &limits), Parsed::Refused(Fault::TooLarge));
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let parts = bytes_of(&[
        "GET / HTTP/1.1\r\n",
        "POST",
        " ",
        "\r\n",
        "\n",
        "\r",
        "Host: h\r\n",
        "host",
        ": ",
        "Content-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Expect: x\r\n",
        "a:b\r\n",
        "HTTP/1.1",
        "\t",
        "\0",
    ]);
    let start = select(vec!["", "GET / HTTP/1.1\r\nHost: h\r\n"]);
    (start, parts, select(vec!["", "\r\n"]))
        .prop_map(|(start, parts, end)| [start.as_bytes(), &parts, end.as_bytes()].concat())
}

fn judged(bytes: &[u8]) -> Parsed {
    parse::<AllUp>(bytes, &Limits { head_bytes: 150, headers: 5, ..Limits::default() })
}

/// A head that is written well, and what is to be read of it.
fn good() -> impl Strategy<Value = (String, Head)> {
    let length = (any_case("content-length"), 0..u64::MAX / 2);
    let length = length.prop_map(|(name, length)| (format!("{name}: {length}\r\n"), Framing::Length(length)));
    let chunked = (any_case("transfer-encoding"), any_case("chunked"));
    let chunked = chunked.prop_map(|(name, value)| (format!("{name}:\t{value} \r\n"), Framing::Chunked));
    let framing = prop_oneof![Just((String::new(), Framing::Length(0))), length, chunked];
    let other =
        ("[!#$%&'*+.^_`|~0-9a-zA-Z-]{1,8}", "[ -~\t]{0,8}").prop_map(|(name, value)| format!("x-{name}:{value}\r\n"));
    (("[A-Z]{1,6}", "/[!-~]{0,12}"), any_case("host"), framing, vec(other, 0..3)).prop_filter_map(
        "CONNECT",
        |((method, target), host, (line, framing), others)| {
            let text = format!("{method} {target} HTTP/1.1\r\n{}{host}: h:80\r\n{line}\r\n", others.concat());
            (method != "CONNECT").then_some((text, Head { method, target, framing }))
        },
    )
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_is_accepted_is_lines_that_end_in_crlf_and_written_anew_reads_the_same(bytes in bytes()) {
        if let Parsed::Complete(head, len) = judged(&bytes) {
            let text = bytes[..len].strip_suffix(b"\r\n\r\n").expect("a head ends with an empty line");
            let lines: Vec<_> = text.split(|&byte| byte == b'\n').collect();
            for (number, line) in lines.iter().enumerate() {
                let line = if number + 1 < lines.len() { line.strip_suffix(b"\r").expect("CRLF") } else { line };
                prop_assert!(!line.iter().any(|&byte| byte == b'\r' || is_control(byte)));
                prop_assert!(number == 0 || !line.starts_with(b" ") && line.contains(&b':'));
            }
            let framing = match head.framing {
                Framing::Length(length) => format!("Content-Length: {length}"),
                Framing::Chunked => "Transfer-Encoding: chunked".into(),
            };
            let anew = format!("{} {} HTTP/1.1\r\nHost: h\r\n{framing}\r\n\r\n", head.method, head.target);
            prop_assert_eq!(judged(anew.as_bytes()), Parsed::Complete(head, anew.len()));
        }
    }

    #[test]
    fn a_verdict_stands_whatever_comes_after_it(bytes in bytes(), cut: prop::sample::Index, more in bytes()) {
        let early = judged(&bytes[..cut.index(bytes.len() + 1)]);
        for later in [judged(&bytes), judged(&[bytes, more].concat())] {
            match &early {
                Parsed::Incomplete => {}
                Parsed::Complete(..) => prop_assert_eq!(&later, &early),
                Parsed::Refused(_) => prop_assert!(matches!(later, Parsed::Refused(_)), "{:?}", later),
            }
        }
    }

    #[test]
    fn a_head_that_is_written_well_is_read_as_it_is((text, head) in good(), behind: Vec<u8>, cut: prop::sample::Index) {
        let sent = [text.as_bytes(), &behind].concat();
        prop_assert_eq!(parse::<AllUp>(&sent, &Limits::default()), Parsed::Complete(head, text.len()));
        prop_assert_eq!(parsed(&text[..cut.index(text.len())]), Parsed::Incomplete);
    }

    #[test]
    fn one_ambiguous_line_anywhere_is_enough_to_refuse_a_good_head(
        (text, head) in good(),
        at: prop::sample::Index,
        line in select(vec!["Host: h", "Content-Length: x", "Transfer-Encoding: gzip", "A b: c", "A", " a: b", "Expect: x"]),
    ) {
        let mut lines: Vec<&str> = text.split_inclusive("\r\n").collect();
        let line = format!("{line}\r\n");
        lines.insert(1 + at.index(lines.len() - 1), &line);
        prop_assert!(matches!(parsed(&lines.concat()), Parsed::Refused(_)), "{:?}", head);
    }

    #[test]
    fn a_number_is_its_digits_and_nothing_else(number: u64, text in "[0-9+ .x-]{0,20}") {
        prop_assert_eq!(decimal(number.to_string().as_bytes()), Some(number).filter(|&number| number < u64::MAX / 2));
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        prop_assert!(digits || decimal(text.as_bytes()).is_none());
    }
}
