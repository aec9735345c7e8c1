//! What stands between the probe and its first attempt: the namespace's cookie and the byte `go`.

use std::{
    io::{self, Read},
    os::fd::AsFd,
    time::{Duration, Instant},
};

use crate::{
    plan::Gate,
    sys::{
        descriptors,
        memory::{PAYLOAD, Slots},
        poll, process, signals, socket,
    },
};

/// How long the gate stays shut before the probe gives up.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a question asked in a child of its own may take.
const QUESTION: Duration = Duration::from_secs(2);

/// Whether the probe may go on.
#[derive(Debug, PartialEq, Eq)]
pub enum Opened {
    Go,
    Not(String),
}

/// Waits until the gate opens.
pub fn wait(gate: Gate) -> Opened {
    match gate {
        Gate::Cookie => Opened::Go,
        Gate::Go => wait_for_go(Instant::now() + PATIENCE)
            .unwrap_or_else(|error| Opened::Not(format!("standard input: {error}"))),
    }
}

fn wait_for_go(until: Instant) -> io::Result<Opened> {
    let input = io::stdin();
    loop {
        if poll::wait(input.as_fd(), poll::READ, until)?.is_none() {
            return Ok(Opened::Not(format!("no go within {} s", PATIENCE.as_secs())));
        }
        let mut byte = [0];
        match descriptors::read(input.as_fd(), &mut byte) {
            Ok(0) => return Ok(Opened::Not("standard input ended without go".into())),
            Ok(_) if byte == *b"g" => return Ok(Opened::Go),
            // A terminal sends line ends along.
            Ok(_) if byte[0].is_ascii_whitespace() => {}
            Ok(_) => return Ok(Opened::Not(format!("standard input said {:#04x} instead of go", byte[0]))),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
}

/// The cookie of this process's network namespace, where a socket of any family can be made.
///
/// A child asks, since a filter may kill whoever makes a socket.
pub fn namespace_cookie() -> Option<u64> {
    let families = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let answer = in_a_child(|| {
        let kind = |family| if family == libc::AF_NETLINK { libc::SOCK_RAW } else { libc::SOCK_STREAM };
        families
            .into_iter()
            .find_map(|family| socket::namespace_cookie(socket::socket(family, kind(family), 0).ok()?).ok())
            .map(|cookie| cookie.to_le_bytes().to_vec())
    })?;
    Some(u64::from_le_bytes(answer.try_into().ok()?))
}

/// Whether this process may start a thread: a filter may kill whoever tries.
pub fn can_start_a_thread() -> bool {
    in_a_child(|| std::thread::Builder::new().spawn(|| {}).ok()?.join().ok().map(|()| Vec::new())).is_some()
}

/// The answer of a child, or nothing where it had none, was killed or took too long.
fn in_a_child(question: impl FnOnce() -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let slots = Slots::new(1).ok()?;
    let child = process::spawn(|| {
        process::own_group();
        signals::end_after(QUESTION.as_secs() as u32);
        if let Some(answer) = question() {
            slots.slot(0).finish(0, &answer[..answer.len().min(PAYLOAD)]);
        }
        0
    })
    .ok()?;
    process::wait_for(child).ok()?;
    slots.slot(0).result().map(|(_, answer)| answer)
}

/// Stays until this much time has passed, or something ends the process. Reaps what a first process inherits.
pub fn stay(time: Duration) {
    let until = Instant::now() + time;
    while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        signals::wait_for_child(left);
        while process::ended().is_some_and(|pid| process::wait_for(pid).is_ok()) {}
    }
}

/// Reads a descriptor until its end: how samples park.
pub fn park(mut until_closed: impl Read) {
    let mut bytes = [0; 64];
    loop {
        match until_closed.read(&mut bytes) {
            Ok(0) => return,
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return,
            Ok(_) | Err(_) => {}
        }
    }
}
