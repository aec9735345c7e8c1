//! An upstream made of raw TCP: the test says which bytes it writes, and it records every byte that reached it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use crate::running::patience;

#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Connections accepted so far, and how many of them are still there.
    pub accepted: usize,
    pub live: usize,
    /// Requests read to their end.
    pub requests: Vec<Request>,
    /// Bytes that `Visit::pour` could write.
    pub poured: u64,
}

#[derive(Clone, Debug)]
pub struct Request {
    pub line: String,
    /// Names in lower case, in the order in which they came.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn all(&self, name: &str) -> Vec<&str> {
        self.headers.iter().filter(|(given, _)| given == name).map(|(_, value)| value.as_str()).collect()
    }
}

#[derive(Default)]
struct Shared {
    ledger: Mutex<Ledger>,
    changed: Condvar,
}

pub struct Upstream {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

/// One connection, from the handler's side. It counts as live until the handler returns.
pub struct Visit {
    pub stream: TcpStream,
    bytes: Vec<u8>,
    shared: Arc<Shared>,
}

impl Upstream {
    /// Runs `handler` on a thread for each connection.
    pub fn start(handler: impl Fn(&mut Visit) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address");
        let (shared, handler) = (Arc::new(Shared::default()), Arc::new(handler));
        let accepting = shared.clone();
        // Ends with the test's process: nothing connects once its test is over.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { continue };
                let (shared, handler) = (accepting.clone(), handler.clone());
                shared.change(|ledger| {
                    ledger.accepted += 1;
                    ledger.live += 1;
                });
                std::thread::spawn(move || {
                    let mut visit = Visit { stream, bytes: Vec::new(), shared };
                    handler(&mut visit);
                    let shared = visit.shared.clone();
                    drop(visit);
                    shared.change(|ledger| ledger.live -= 1);
                });
            }
        });
        Self { address, shared }
    }

    /// Reads one request, answers 200 with `ok`, and closes.
    pub fn ok() -> Self {
        Self::start(|visit| {
            if visit.request().is_some() {
                visit.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                visit.until_closed();
            }
        })
    }

    /// Reads one request, answers with these bytes, and closes.
    pub fn saying(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |visit| {
            if visit.request().is_some() {
                visit.write(&answer);
            }
        })
    }

    /// Reads whatever comes and never answers.
    pub fn silent() -> Self {
        Self::start(|visit| {
            visit.request();
            visit.until_closed();
        })
    }

    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn ledger(&self) -> Ledger {
        self.shared.ledger.lock().expect("ledger").clone()
    }

    /// Waits until the ledger is as it should be.
    #[track_caller]
    pub fn wait(&self, what: &str, is: impl Fn(&Ledger) -> bool) {
        let deadline = Instant::now() + patience();
        let mut ledger = self.shared.ledger.lock().expect("ledger");
        while !is(&ledger) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let (accepted, live) = (ledger.accepted, ledger.live);
                drop(ledger);
                panic!("{what}: {accepted} accepted, {live} live");
            }
            ledger = self.shared.changed.wait_timeout(ledger, left).expect("ledger").0;
        }
    }
}

impl Shared {
    fn change(&self, change: impl FnOnce(&mut Ledger)) {
        change(&mut self.ledger.lock().expect("ledger"));
        self.changed.notify_all();
    }
}

impl Visit {
    /// Reads one request by its framing; none where the connection ends first. What follows it is kept for the next.
    pub fn request(&mut self) -> Option<Request> {
        let (line, headers) = self.request_head()?;
        let mut request = Request { line, headers, body: Vec::new() };
        if request.all("transfer-encoding").is_empty() {
            let length = request.all("content-length").first().map_or(0, |length| length.parse().expect("length"));
            request.body = self.exactly(length)?;
        } else {
            loop {
                let size = usize::from_str_radix(&self.line()?, 16).expect("chunk size");
                if size == 0 {
                    break;
                }
                request.body.extend(self.exactly(size)?);
                assert_eq!(self.line()?, "", "chunk end");
            }
            loop {
                let line = self.line()?;
                let Some((name, value)) = line.split_once(':') else { break };
                request.headers.push((format!("trailer {}", name.to_ascii_lowercase()), value.trim().to_owned()));
            }
        }
        let recorded = request.clone();
        self.shared.change(|ledger| ledger.requests.push(recorded));
        Some(request)
    }

    /// Reads a head and leaves the body where it is.
    pub fn request_head(&mut self) -> Option<(String, Vec<(String, String)>)> {
        let line = self.line()?;
        let mut headers = Vec::new();
        loop {
            let header = self.line()?;
            let Some((name, value)) = header.split_once(':') else { return Some((line, headers)) };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    /// What has come since the last read; none at the connection's end.
    pub fn piece(&mut self) -> Option<Vec<u8>> {
        if self.bytes.is_empty() {
            self.fill()?;
        }
        Some(std::mem::take(&mut self.bytes))
    }

    pub fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.stream.write_all(bytes.as_ref());
    }

    /// Writes zeros until that many are written or the peer is gone, and counts them.
    pub fn pour(&mut self, mut left: u64) {
        let block = [0; 64 << 10];
        while left > 0 {
            let now = left.min(block.len() as u64) as usize;
            let Ok(count) = self.stream.write(&block[..now]) else { return };
            left -= count as u64;
            self.shared.change(|ledger| ledger.poured += count as u64);
        }
    }

    /// Reads and throws away until the peer has closed.
    pub fn until_closed(&mut self) {
        let mut buffer = [0; 64 << 10];
        while matches!(self.stream.read(&mut buffer), Ok(1..)) {}
    }

    fn line(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.bytes.windows(2).position(|pair| pair == b"\r\n") {
                let line: Vec<u8> = self.bytes.drain(..end + 2).collect();
                return Some(String::from_utf8_lossy(&line[..end]).into_owned());
            }
            self.fill()?;
        }
    }

    fn exactly(&mut self, count: usize) -> Option<Vec<u8>> {
        while self.bytes.len() < count {
            self.fill()?;
        }
        Some(self.bytes.drain(..count).collect())
    }

    fn fill(&mut self) -> Option<()> {
        let mut buffer = vec![0; 256 << 10];
        match self.stream.read(&mut buffer) {
            Ok(count @ 1..) => {
                self.bytes.extend_from_slice(&buffer[..count]);
                Some(())
            }
            _ => None,
        }
    }
}
