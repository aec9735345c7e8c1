//! A client that writes raw bytes and reads HTTP/1.1 answers strictly: it can tell a whole answer from one cut short.

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;

use crate::running::patience;

pub struct Client {
    pub stream: UnixStream,
    /// Read and not yet used.
    bytes: Vec<u8>,
    /// The last request was a HEAD, whose answer has no body.
    asked_head: bool,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Whether the framing's own end was seen.
    pub complete: bool,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Client {
    pub fn connect(path: &Path) -> Self {
        let stream = UnixStream::connect(path).expect("connect to the relay");
        stream.set_read_timeout(Some(patience())).expect("timeout");
        stream.set_write_timeout(Some(patience())).expect("timeout");
        Self { stream, bytes: Vec::new(), asked_head: false }
    }

    #[track_caller]
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.asked_head = bytes.as_ref().starts_with(b"HEAD ");
        self.stream.write_all(bytes.as_ref()).expect("send");
    }

    /// Sends, and does not mind that the relay has closed already.
    pub fn try_send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.stream.write_all(bytes.as_ref());
    }

    pub fn half_close(&self) {
        self.stream.shutdown(Shutdown::Write).expect("half-close");
    }

    #[track_caller]
    pub fn ask(&mut self, bytes: impl AsRef<[u8]>) -> Answer {
        self.send(bytes);
        self.answer()
    }

    /// The next answer, whole or not.
    #[track_caller]
    pub fn answer(&mut self) -> Answer {
        self.try_answer().expect("an answer before the connection's end")
    }

    /// The next answer, or none where the connection ends without one. 1xx answers are skipped.
    #[track_caller]
    pub fn try_answer(&mut self) -> Option<Answer> {
        let mut answer = self.head()?;
        while (100..200).contains(&answer.status) && answer.status != 101 {
            answer = self.head()?;
        }
        if self.asked_head {
            answer.complete = true;
            return Some(answer);
        }
        let length = answer.header("content-length").map(|length| length.parse::<usize>().expect("length"));
        if answer.header("transfer-encoding").is_some() {
            assert_eq!(length, None, "framed twice");
            while let Some(chunk) = self.chunk() {
                if chunk.is_empty() {
                    answer.complete = true;
                    break;
                }
                answer.body.extend(chunk);
            }
        } else {
            let length = length.expect("an answer that says where it ends");
            while self.bytes.len() < length && self.fill() {}
            answer.complete = self.bytes.len() >= length;
            answer.body = self.bytes.drain(..length.min(self.bytes.len())).collect();
        }
        Some(answer)
    }

    /// The head of the next answer.
    #[track_caller]
    pub fn head(&mut self) -> Option<Answer> {
        let line = self.line()?;
        let status = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).expect("status line");
        let status = status.parse().expect("status");
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').expect("header");
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Some(Answer { status, headers, body: Vec::new(), complete: false })
    }

    /// The next chunk; empty for the last one, none where the connection ended first.
    #[track_caller]
    pub fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = usize::from_str_radix(&self.line()?, 16).expect("chunk size");
        while self.bytes.len() < size + 2 {
            if !self.fill() {
                return None;
            }
        }
        let mut chunk: Vec<u8> = self.bytes.drain(..size + 2).collect();
        assert_eq!(chunk.split_off(size), b"\r\n", "chunk end");
        Some(chunk)
    }

    /// Whether the connection ends, and nothing comes before that.
    #[track_caller]
    pub fn is_ended(&mut self) -> bool {
        self.bytes.is_empty() && !self.fill()
    }

    #[track_caller]
    fn line(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.bytes.windows(2).position(|pair| pair == b"\r\n") {
                let line: Vec<u8> = self.bytes.drain(..end + 2).collect();
                return Some(String::from_utf8(line[..end].to_vec()).expect("text"));
            }
            if !self.fill() {
                return None;
            }
        }
    }

    /// Reads some more; false at the connection's end. Fails where neither comes in time.
    #[track_caller]
    fn fill(&mut self) -> bool {
        let mut buffer = vec![0; 64 << 10];
        match self.stream.read(&mut buffer) {
            Ok(0) => false,
            Ok(count) => {
                self.bytes.extend_from_slice(&buffer[..count]);
                true
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => false,
            Err(error) => panic!("the client was left waiting: {error}"),
        }
    }
}
