//! A reader of HTTP/1 responses that tells a whole message from a cut one (RFC 9112): it never guesses.

/// Most bytes of a head or of a chunk's size line.
const MOST_HEAD: usize = 64 * 1024;

/// A response's status line and header fields. Names are in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    pub status: u16,
    pub headers: Vec<(String, Vec<u8>)>,
}

/// How the body is delimited, and what is still to come of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    /// So many bytes.
    Length(u64),
    /// A chunk's size line.
    ChunkSize,
    /// The rest of a chunk and its line end.
    Chunk(u64),
    ChunkEnd,
    /// Trailer fields up to an empty line.
    Trailer,
    /// Everything up to the end of the connection.
    UntilClose,
    Whole,
}

/// What the bytes so far are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The head has not ended.
    InHead,
    /// The body has not ended.
    InBody,
    /// The message has ended.
    Whole,
    Malformed,
}

/// Reads one message after another from the bytes of a connection.
#[derive(Debug, Default)]
pub struct Reader {
    unread: Vec<u8>,
    head: Option<Head>,
    framing: Option<Framing>,
    malformed: bool,
    /// Whether the request was one whose response has no body.
    bodiless: bool,
}

impl Reader {
    /// Takes bytes and hands the body's bytes among them to `body`.
    pub fn take(&mut self, bytes: &[u8], body: &mut impl FnMut(&[u8])) {
        self.unread.extend(bytes);
        self.go_on(body);
    }

    /// Takes the end of the connection. The state afterwards says whether the message was whole.
    pub fn end(&mut self) {
        if self.framing == Some(Framing::UntilClose) {
            self.framing = Some(Framing::Whole);
        }
    }

    pub fn state(&self) -> State {
        match (self.malformed, &self.head, self.framing) {
            (true, _, _) => State::Malformed,
            (_, None, _) => State::InHead,
            (_, _, Some(Framing::Whole)) => State::Whole,
            (_, _, _) => State::InBody,
        }
    }

    pub fn head(&self) -> Option<&Head> {
        self.head.as_ref()
    }

    /// For the response to a HEAD request, or to another one.
    pub fn expects_no_body(bodiless: bool) -> Self {
        Self { bodiless, ..Self::default() }
    }

    /// Whether no byte of a message has come.
    pub fn is_untouched(&self) -> bool {
        self.unread.is_empty() && self.head.is_none()
    }

    /// Turns to the next message, whose request was a HEAD or not.
    pub fn next_message(&mut self, bodiless: bool, body: &mut impl FnMut(&[u8])) {
        self.bodiless = bodiless;
        (self.head, self.framing) = (None, None);
        self.go_on(body);
    }

    fn go_on(&mut self, body: &mut impl FnMut(&[u8])) {
        while !self.malformed && self.step(body).unwrap_or_else(|| self.give_up()) {}
    }

    fn give_up(&mut self) -> bool {
        self.malformed = true;
        false
    }

    /// One step; `Some(false)` where more bytes are needed, `None` where what came is not HTTP/1.
    fn step(&mut self, body: &mut impl FnMut(&[u8])) -> Option<bool> {
        let Some(framing) = self.framing else { return self.read_head() };
        match framing {
            Framing::Whole => Some(false),
            Framing::UntilClose => {
                body(&self.unread);
                self.unread.clear();
                Some(false)
            }
            Framing::Length(left) => Some(self.pass(left, Framing::Length, Framing::Whole, body)),
            Framing::Chunk(left) => Some(self.pass(left, Framing::Chunk, Framing::ChunkEnd, body)),
            Framing::ChunkSize => self.line(|line| {
                Some(match chunk_size(line)? {
                    0 => Framing::Trailer,
                    size => Framing::Chunk(size),
                })
            }),
            Framing::ChunkEnd => self.line(|line| line.is_empty().then_some(Framing::ChunkSize)),
            Framing::Trailer => self.line(|line| match line {
                [] => Some(Framing::Whole),
                field => parse_field(field).map(|_| Framing::Trailer),
            }),
        }
    }

    fn pass(&mut self, left: u64, rest: fn(u64) -> Framing, then: Framing, body: &mut impl FnMut(&[u8])) -> bool {
        let here = (self.unread.len() as u64).min(left) as usize;
        body(&self.unread[..here]);
        self.unread.drain(..here);
        let left = left - here as u64;
        self.framing = Some(if left == 0 { then } else { rest(left) });
        left == 0
    }

    /// One line that ends with CR LF.
    fn line(&mut self, read: impl FnOnce(&[u8]) -> Option<Framing>) -> Option<bool> {
        let Some(end) = self.unread.windows(2).position(|bytes| bytes == b"\r\n") else {
            return (self.unread.len() <= MOST_HEAD).then_some(false);
        };
        self.framing = Some(read(&self.unread[..end])?);
        self.unread.drain(..end + 2);
        Some(true)
    }

    fn read_head(&mut self) -> Option<bool> {
        let Some(end) = self.unread.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
            let starts_well = self.unread.iter().zip(b"HTTP/1.").all(|(byte, wanted)| byte == wanted);
            return (starts_well && self.unread.len() <= MOST_HEAD).then_some(false);
        };
        let head = parse_head(&self.unread[..end])?;
        self.unread.drain(..end + 4);
        // Interim responses (RFC 9110 15.2) come before the one that counts; 101 is the end of HTTP.
        if (100..200).contains(&head.status) && head.status != 101 {
            return Some(true);
        }
        self.framing = Some(framing(&head, self.bodiless)?);
        self.head = Some(head);
        Some(true)
    }
}

fn parse_head(bytes: &[u8]) -> Option<Head> {
    // A line feed alone ends no line: whoever takes it for an end and whoever does not see different fields.
    let bare = (0..bytes.len()).any(|at| bytes[at] == b'\n' && (at == 0 || bytes[at - 1] != b'\r'));
    if bare {
        return None;
    }
    let mut lines = bytes.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let status_line = lines.next()?;
    let rest = status_line.strip_prefix(b"HTTP/1.1 ").or_else(|| status_line.strip_prefix(b"HTTP/1.0 "))?;
    let (digits, reason) = rest.split_at_checked(3)?;
    let status: u16 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let reason_follows = reason.is_empty() || reason.starts_with(b" ");
    let headers = lines.map(parse_field).collect::<Option<Vec<_>>>()?;
    ((100..1000).contains(&status) && reason_follows).then_some(Head { status, headers })
}

fn parse_field(line: &[u8]) -> Option<(String, Vec<u8>)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    let sound =
        !name.is_empty() && name.iter().all(is_token) && !value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n'));
    sound.then(|| (String::from_utf8_lossy(name).to_ascii_lowercase(), value.to_vec()))
}

/// RFC 9112 6.3. Both framings at once, or two lengths that differ, are an attack and not a message.
fn framing(head: &Head, bodiless: bool) -> Option<Framing> {
    let values = |name: &'static str| {
        head.headers.iter().filter(move |(other, _)| other == name).map(|(_, value)| value.as_slice())
    };
    let mut codings = values("transfer-encoding");
    let mut lengths = values("content-length");
    let (coding, length) = (codings.next(), lengths.next());
    if coding.is_some() && length.is_some() || codings.next().is_some() {
        return None;
    }
    let length = match length {
        Some(value) if lengths.all(|other| other == value) => Some(decimal(value)?),
        Some(_) => return None,
        None => None,
    };
    if bodiless || matches!(head.status, 101 | 204 | 304) {
        // After 101 the bytes are those of another protocol, up to the end.
        return Some(if head.status == 101 { Framing::UntilClose } else { Framing::Whole });
    }
    match (coding, length) {
        (Some(coding), _) => coding.eq_ignore_ascii_case(b"chunked").then_some(Framing::ChunkSize),
        (None, Some(0)) => Some(Framing::Whole),
        (None, Some(length)) => Some(Framing::Length(length)),
        (None, None) => Some(Framing::UntilClose),
    }
}

fn decimal(digits: &[u8]) -> Option<u64> {
    let sound = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    sound.then(|| std::str::from_utf8(digits).ok()?.parse().ok()).flatten()
}

/// Hexadecimal digits, then an optional extension.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|byte| *byte == b';').next()?.trim_ascii_end();
    let sound = (1..=16).contains(&digits.len()) && digits.iter().all(u8::is_ascii_hexdigit);
    sound.then(|| u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

    /// State while the connection is open, state after its end, and the body: the same however the bytes are cut.
    fn read(bytes: &str) -> (State, State, String) {
        let mut results = Vec::new();
        for piece in [1, 3, bytes.len().max(1)] {
            let (mut reader, mut body) = (Reader::default(), Vec::new());
            bytes.as_bytes().chunks(piece).for_each(|bytes| reader.take(bytes, &mut |part| body.extend(part)));
            let open = reader.state();
            reader.end();
            results.push((open, reader.state(), String::from_utf8(body).expect("text")));
        }
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "cuts matter: {results:?}");
        results.swap_remove(0)
    }

    #[track_caller]
    fn assert_reads(bytes: &str, open: State, ended: State, body: &str) {
        assert_eq!(read(bytes), (open, ended, body.to_owned()), "{bytes:?}");
    }

    #[test]
    fn whole_messages_are_whole_before_the_end_of_the_connection() {
        use State::Whole;
        assert_reads("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi", Whole, Whole, "hi");
        assert_reads("HTTP/1.0 404 \r\nContent-Length: 0\r\n\r\n", Whole, Whole, "");
        assert_reads("HTTP/1.1 204\r\n\r\n", Whole, Whole, "");
        assert_reads("HTTP/1.1 304 X\r\ncontent-length: 9\r\n\r\n", Whole, Whole, "");
        assert_reads(&format!("{CHUNKED}2;x=y\r\nhi\r\n1\r\n!\r\n0\r\n\r\n"), Whole, Whole, "hi!");
        assert_reads(&format!("{CHUNKED}0\r\nx-sum: 1\r\n\r\n"), Whole, Whole, "");
        assert_reads("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na", Whole, Whole, "a");
        assert_reads("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\na", Whole, Whole, "a");
    }

    #[test]
    fn a_message_that_only_the_connection_delimits_is_whole_at_its_end() {
        assert_reads("HTTP/1.1 200 OK\r\n\r\nhi", State::InBody, State::Whole, "hi");
        assert_reads("HTTP/1.1 101 Switching\r\n\r\nraw", State::InBody, State::Whole, "raw");
    }

    #[test]
    fn cut_messages_are_never_whole() {
        use State::{InBody, InHead};
        assert_reads("", InHead, InHead, "");
        assert_reads("HTTP/1.1 200 OK\r\n", InHead, InHead, "");
        assert_reads("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nhi", InBody, InBody, "hi");
        assert_reads(CHUNKED, InBody, InBody, "");
        assert_reads(&format!("{CHUNKED}5\r\nhi"), InBody, InBody, "hi");
        assert_reads(&format!("{CHUNKED}2\r\nhi"), InBody, InBody, "hi");
        assert_reads(&format!("{CHUNKED}2\r\nhi\r\n"), InBody, InBody, "hi");
        assert_reads(&format!("{CHUNKED}0\r\n"), InBody, InBody, "");
    }

    #[test]
    fn what_is_not_http_is_malformed() {
        for bytes in [
            "SSH-2.0\r\n",
            "HTTP/2 200\r\n\r\n",
            "HTTP/1.1 20 OK\r\n\r\n",
            "HTTP/1.1 2000\r\n\r\n",
            "HTTP/1.1 200 OK\r\na: b\nc: d\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
            "HTTP/1.1 200 OK\r\nsp ace: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: +1\r\n\r\na",
            "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\na",
            "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n11111111111111111\r\n",
        ] {
            assert_eq!(read(bytes).1, State::Malformed, "{bytes:?}");
        }
    }

    #[test]
    fn bytes_behind_a_message_belong_to_the_next_one() {
        let mut reader = Reader::default();
        let mut bodies = Vec::<u8>::new();
        let two = "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\naHTTP/1.1 401 No\r\ncontent-length: 1\r\n\r\nb";
        reader.take(two.as_bytes(), &mut |part| bodies.extend(part));
        assert_eq!((reader.state(), reader.head().map(|head| head.status)), (State::Whole, Some(200)));
        reader.next_message(false, &mut |part| bodies.extend(part));
        assert_eq!((reader.state(), reader.head().map(|head| head.status)), (State::Whole, Some(401)));
        assert_eq!(bodies, b"ab");
        reader.next_message(true, &mut |_| {});
        assert!(reader.is_untouched());
        reader.take(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n", &mut |_| {});
        assert_eq!(reader.state(), State::Whole, "a response to HEAD has no body");
    }
}
