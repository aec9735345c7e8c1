//! Nothing of a run reaches a link of the machine: every frame on every link of it is looked at meanwhile.

use std::{
    collections::BTreeSet,
    fs::File,
    io::Read,
    net::{IpAddr, UdpSocket},
    thread::{self, JoinHandle},
};

use libtest_mimic::Failed;
use watertight_probe::nonce::{Nonce, RunNonce};

use crate::{
    place::{self, Who},
    runs::to_the_end,
    sys,
};

/// What was seen on the machine's links.
#[derive(Default)]
struct Seen {
    nonces: BTreeSet<Nonce>,
    addresses: BTreeSet<IpAddr>,
    lost: u32,
}

/// Runs `open`, whose probe is confined by nothing but the world.
pub fn none(who: Who) -> Result<(), Failed> {
    let (first, last) = (mark("first"), mark("last"));
    let watching = watch(sys::packet_socket()?, last);
    send(first)?;
    let outputs = place::directory();
    let evidence = outputs.join("evidence.json");
    let mut command = who.command(&place::program(), &place::directory());
    command.args(["check", "open", "--quiet", "--evidence"]).arg(&evidence);
    let ended = to_the_end(command, &outputs);
    send(last)?;
    let seen = watching.join().expect("the watch does not panic")?;
    let ended = ended?;
    let text = std::fs::read(&evidence).map_err(|error| format!("no evidence: {error}: {}", ended.stderr))?;
    let of_run: BTreeSet<Nonce> = Nonce::find_all(&text).into_iter().collect();
    let escaped: Vec<&Nonce> = of_run.intersection(&seen.nonces).collect();
    let strange: Vec<&IpAddr> = seen.addresses.iter().filter(|address| is_nobodys(**address)).collect();
    if of_run.len() < 100 || !seen.nonces.contains(&first) {
        return Err(format!("the watch is not alive: {} nonces in the run", of_run.len()).into());
    }
    if seen.lost > 0 {
        return Err(format!("{} frames were not looked at", seen.lost).into());
    }
    if escaped.is_empty() && strange.is_empty() {
        return Ok(());
    }
    Err(format!("frames of the run on the machine's links: nonces {escaped:?}, to or from {strange:?}").into())
}

/// Reads frames until the last mark has come: they come in order.
fn watch(mut socket: File, last: Nonce) -> JoinHandle<std::io::Result<Seen>> {
    thread::spawn(move || {
        let mut seen = Seen::default();
        let mut buffer = vec![0; 1 << 17];
        while !seen.nonces.contains(&last) {
            let length = socket.read(&mut buffer)?;
            let frame = &buffer[..length];
            seen.addresses.extend(addresses(frame));
            seen.nonces.extend(Nonce::find_all(frame));
        }
        seen.lost = sys::lost_frames(&socket)?;
        Ok(seen)
    })
}

/// Source and destination of an IP packet.
fn addresses(packet: &[u8]) -> Vec<IpAddr> {
    let v4 = |at: usize| Some(IpAddr::from(<[u8; 4]>::try_from(packet.get(at..at + 4)?).ok()?));
    let v6 = |at: usize| Some(IpAddr::from(<[u8; 16]>::try_from(packet.get(at..at + 16)?).ok()?));
    match packet.first().map(|byte| byte >> 4) {
        Some(4) => [v4(12), v4(16)].into_iter().flatten().collect(),
        Some(6) => [v6(8), v6(24)].into_iter().flatten().collect(),
        _ => vec![],
    }
}

/// Addresses that no machine has and that worlds use: the blocks for documentation (RFC 5737, RFC 3849).
fn is_nobodys(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_documentation(),
        IpAddr::V6(v6) => v6.segments()[..2] == [0x2001, 0xdb8],
    }
}

fn mark(name: &str) -> Nonce {
    let mut bytes = [0; 32];
    bytes[..4].copy_from_slice(&std::process::id().to_ne_bytes());
    RunNonce::from_bytes(bytes).attempt("frames", name)
}

/// A datagram with this mark on the machine's own loopback.
fn send(mark: Nonce) -> std::io::Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.send_to(format!("wt:{mark}").as_bytes(), socket.local_addr()?).map(|_| ())
}
