//! Observations and sightings in words, for reports. Text out of a target arrives here already escaped.

use watertight_probe::{
    observation::{Ended, Exchange, Facts, Outcome},
    sighting::{Event, Sighting},
};

/// What the probe saw.
pub fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Refused { call, errno } => format!("{call}: {}", errno_name(*errno)),
        Outcome::Killed { signal } => format!("killed by {}", signal_name(*signal)),
        Outcome::TimedOut { step } => format!("timed out at {step}"),
        Outcome::Silent { step } => format!("{step} worked, nothing came back"),
        Outcome::Heard { len, head, .. } => format!("read {len} bytes: {head}"),
        Outcome::Found { facts } => found(facts),
        Outcome::Absent { what, errno } => format!("could not be tried: {what} is not there ({})", errno_name(*errno)),
        Outcome::Broken { message } => format!("the probe failed: {message}"),
    }
}

fn found(facts: &Facts) -> String {
    match facts {
        Facts::SocketMade => "the socket was made".into(),
        Facts::DescriptorsReceived { count } => format!("{count} descriptors were handed in"),
        Facts::Descriptors { open } if open.is_empty() => "no descriptor but 0, 1 and 2".into(),
        Facts::Descriptors { open } => {
            let each =
                open.iter().map(|one| format!("{} {}{}", one.fd, one.kind, if one.usable { " (usable)" } else { "" }));
            format!("open: {}", each.collect::<Vec<_>>().join(", "))
        }
        Facts::Network { links, addresses, routes } => {
            format!("{} links, {} addresses, {} routes", links.len(), addresses.len(), routes.len())
        }
        Facts::Changed => "the kernel made the change".into(),
        Facts::Privileges { of } => {
            let each = of.iter().map(|one| {
                format!(
                    "{}: uid {} eff {:x} bnd {:x} nnp {}",
                    one.of,
                    one.uid[1],
                    one.effective,
                    one.bounding,
                    u8::from(one.no_new_privs)
                )
            });
            each.collect::<Vec<_>>().join("; ")
        }
        Facts::Namespaces { reached, tries } => {
            let each = tries.iter().map(|(what, errno)| format!("{what} {}", errno_name(*errno)));
            let reached = if *reached { "reached the outside" } else { "reached nothing" };
            format!("made; {reached}; {}", each.collect::<Vec<_>>().join(", "))
        }
        Facts::Identity { ruid, euid, no_new_privs, effective } => {
            format!("uid {ruid}, effective {euid}, no_new_privs {no_new_privs}, capabilities {effective:x}")
        }
        Facts::File { len, has_nonce, .. } => {
            format!("read {len} bytes, {} the planted text", if *has_nonce { "with" } else { "without" })
        }
        Facts::Written => "written and read back".into(),
        Facts::Scanned { found, places, bytes, complete } => {
            let whole = if *complete { "" } else { ", not to the end" };
            let places = format!("{places} places, {bytes} bytes{whole}");
            if found.is_empty() {
                return format!("not found in {places}");
            }
            let each = found.iter().map(|(needle, place)| format!("{needle} in {place}"));
            format!("{} ({places})", each.collect::<Vec<_>>().join(", "))
        }
        Facts::Exchange { exchange: had } => exchange(had),
        Facts::Ports { open, tried, .. } => format!("{} of {tried} ports open: {open:?}", open.len()),
        Facts::Mcp { tools, calls } => {
            let failed = calls.iter().filter(|call| call.is_error).count();
            format!("{} tools, {} calls, {failed} failed", tools.len(), calls.len())
        }
        Facts::Lingering { pid } => format!("left process {pid}"),
        Facts::Mounted => "mounted".into(),
        Facts::Granted => "the kernel granted it".into(),
        Facts::ProxyVariables { connect, absolute, socks5 } => {
            let named = [("CONNECT", connect), ("absolute-form", absolute), ("SOCKS5", socks5)];
            let each = named.into_iter().map(|(by, at)| match at {
                Some(at) => format!("{by} at {at}"),
                None => format!("{by} nowhere"),
            });
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

/// How a scripted exchange went.
pub fn exchange(exchange: &Exchange) -> String {
    let mut text = match exchange.status {
        Some(status) => format!("status {status}, {} body bytes", exchange.body_len),
        None => "no status".to_owned(),
    };
    text.push_str(match exchange.ended {
        Ended::Open => "",
        Ended::Complete => ", complete",
        Ended::Truncated => ", cut short",
        Ended::Reset => ", reset",
        Ended::Closed => ", closed",
        Ended::Malformed => ", not HTTP",
    });
    if let Some(stopped) = &exchange.stopped {
        text.push_str(&format!("; stopped: {stopped}"));
    }
    text
}

/// What was seen outside, in one line.
pub fn sightings(sightings: &[Sighting]) -> String {
    let Some(first) = sightings.first() else { return "nothing".into() };
    let more = match sightings.len() {
        1 => String::new(),
        many => format!(" (and {} more)", many - 1),
    };
    format!("{}{more}", sighting(first))
}

fn sighting(sighting: &Sighting) -> String {
    let to = sighting.to.map(|to| format!(" at {to}")).unwrap_or_default();
    let what = match &sighting.event {
        Event::Accepted { .. } => "a connection".to_owned(),
        Event::Received { len, .. } => format!("{len} bytes"),
        Event::Question { name, qtype, over } => format!("the question {name} type {qtype} over {over}"),
        Event::Request { method, target, .. } => format!("the request {method} {target}"),
        Event::Body { len, .. } => format!("a body of {len} bytes"),
        Event::Responded { status, .. } => format!("a response {status}"),
        Event::Closed { by, .. } => format!("the end of a connection, by {by}"),
        Event::Frame { link, protocol, .. } => format!("a {protocol} frame on {link}"),
    };
    format!("{}{to} saw {what}", sighting.fixture)
}

/// `ECONNREFUSED`, or the number where it has no name.
pub fn errno_name(errno: i32) -> String {
    match nix::errno::Errno::from_raw(errno) {
        nix::errno::Errno::UnknownErrno => format!("errno {errno}"),
        known => format!("{known:?}"),
    }
}

fn signal_name(signal: i32) -> String {
    nix::sys::signal::Signal::try_from(signal).map_or_else(|_| format!("signal {signal}"), |signal| signal.to_string())
}
