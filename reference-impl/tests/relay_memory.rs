//! What a relay holds in memory while nobody reads: alone in its process, so that the number is its own.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use watertight_reference::guards::{AllUp, RelayGuards};
use watertight_reference::relay::{InstanceRelay, Limits, Log, Origin, Settings, Trust, listen};

/// What eight stalled streams may add to the process.
const BOUND: u64 = 16 << 20;
const STREAMS: usize = 8;

struct Collecting;

impl RelayGuards for Collecting {
    fn streams_response() -> bool {
        false
    }
}

/// How much the resident memory grows while eight clients ask for 64 MiB each and read nothing.
fn growth<G: RelayGuards>() -> u64 {
    let upstream = TcpListener::bind("127.0.0.1:0").expect("bind");
    let origin = format!("http://{}", upstream.local_addr().expect("address"));
    std::thread::spawn(move || {
        for stream in upstream.incoming().take(STREAMS) {
            std::thread::spawn(move || {
                let mut stream = stream.expect("stream");
                let mut head = Vec::new();
                let mut buffer = [0; 4096];
                while !head.ends_with(b"\r\n\r\n") {
                    let count = stream.read(&mut buffer).expect("request");
                    head.extend_from_slice(&buffer[..count]);
                }
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n");
                while stream.write_all(&[0; 64 << 10]).is_ok() {}
            });
        }
    });
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("relay.sock");
    let listener = listen(&path).expect("listen");
    let (stop, stopped) = oneshot::channel::<()>();
    let relay = std::thread::spawn(move || {
        let settings = Settings { limits: Limits::default(), log: Log::silent() };
        let origin = Origin::parse(&origin).expect("origin");
        let relay = InstanceRelay::<G>::new(origin, &Trust::public(), settings).expect("relay");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
        runtime.block_on(relay.serve(listener, async { stopped.await.unwrap_or_default() })).expect("served");
    });
    let before = resident();
    let clients: Vec<UnixStream> = (0..STREAMS)
        .map(|_| {
            let mut client = UnixStream::connect(&path).expect("connect");
            client.write_all(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n").expect("send");
            client
        })
        .collect();
    // Full when nothing has grown for a while, or far beyond what is allowed.
    let (mut most, mut since) = (0, Instant::now());
    while since.elapsed() < Duration::from_millis(500) && most < 4 * BOUND {
        let now = resident().saturating_sub(before);
        if now > most + (64 << 10) {
            (most, since) = (now, Instant::now());
        }
        std::thread::yield_now();
    }
    drop(clients);
    drop(stop);
    relay.join().expect("relay");
    most
}

fn resident() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").expect("statm");
    let pages: u64 = statm.split(' ').nth(1).expect("resident").parse().expect("pages");
    pages * 4096
}

#[test]
fn eight_stalled_clients_cost_little_memory_and_a_relay_that_collects_is_noticed() {
    let streaming = growth::<AllUp>();
    assert!(streaming < BOUND, "{streaming} bytes more");
    let collecting = growth::<Collecting>();
    assert!(collecting > BOUND, "{collecting} bytes more, although it collects");
}
