//! Whether an attempt got through, from its record alone: what was seen outside, and what it brought back.

use watertight_probe::{
    observation::{Facts, Outcome},
    plan::Attempt,
};
use watertight_reports::evidence::AttemptRecord;

/// How far an attempt got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Its nonce, or the destination that is its nonce, was seen outside.
    Outside,
    /// It read a canary's secret, though nothing was seen outside: the fixture's ledger is at fault, the breach is real.
    Banner,
    /// Only the probe can tell, and it says that it worked.
    Inside(String),
    /// Its report has facts that such an attempt cannot find: whoever wrote it did not make the attempt.
    Foreign,
    Nowhere,
}

/// How far this attempt got.
pub fn of(record: &AttemptRecord, banners: &[String]) -> Reach {
    if !record.sightings.is_empty() {
        return Reach::Outside;
    }
    let Some(observation) = &record.observation else { return Reach::Nowhere };
    match &observation.outcome {
        Outcome::Heard { head, .. } if banners.iter().any(|banner| head.contains(banner.as_str())) => Reach::Banner,
        Outcome::Found { facts } if !belongs(&record.attempt, facts) => Reach::Foreign,
        Outcome::Found { facts } => inside(&record.attempt, facts, banners),
        Outcome::Heard { .. }
        | Outcome::Refused { .. }
        | Outcome::Killed { .. }
        | Outcome::TimedOut { .. }
        | Outcome::Silent { .. }
        | Outcome::Absent { .. }
        | Outcome::Broken { .. } => Reach::Nowhere,
    }
}

/// Whether an attempt of this kind can find facts of that kind.
pub fn belongs(attempt: &Attempt, facts: &Facts) -> bool {
    match attempt {
        Attempt::Connect { .. }
        | Attempt::Send { .. }
        | Attempt::DnsStream { .. }
        | Attempt::Resolve { .. }
        | Attempt::Ping { .. }
        | Attempt::RawIp { .. }
        | Attempt::Frame
        | Attempt::Append { .. }
        | Attempt::Terminal { .. } => false,
        // What the proxy answered in place of the destination.
        Attempt::Proxied { .. } => matches!(facts, Facts::Exchange { .. }),
        Attempt::ProxyVariables => matches!(facts, Facts::ProxyVariables { .. }),
        Attempt::Unix { .. } => matches!(facts, Facts::DescriptorsReceived { .. }),
        Attempt::Socket { .. } => matches!(facts, Facts::SocketMade),
        Attempt::Descriptors { .. } => matches!(facts, Facts::Descriptors { .. }),
        Attempt::Network => matches!(facts, Facts::Network { .. }),
        Attempt::ChangeNetwork { .. } => matches!(facts, Facts::Changed),
        Attempt::Privileges => matches!(facts, Facts::Privileges { .. }),
        Attempt::NewNamespaces { .. } => matches!(facts, Facts::Namespaces { .. }),
        Attempt::Mount { .. } => matches!(facts, Facts::Mounted),
        Attempt::SetUserId { .. } => matches!(facts, Facts::Identity { .. }),
        Attempt::Read { .. } => matches!(facts, Facts::File { .. }),
        Attempt::Write { .. } => matches!(facts, Facts::Written),
        Attempt::Scan { .. } => matches!(facts, Facts::Scanned { .. }),
        Attempt::Exchange { .. } => matches!(facts, Facts::Exchange { .. }),
        Attempt::Ports { .. } => matches!(facts, Facts::Ports { .. }),
        Attempt::Mcp { .. } => matches!(facts, Facts::Mcp { .. }),
        Attempt::Linger { .. } => matches!(facts, Facts::Lingering { .. }),
        Attempt::Ipc { .. }
        | Attempt::Key { .. }
        | Attempt::Process { .. }
        | Attempt::Open { .. }
        | Attempt::Kernel { .. } => matches!(facts, Facts::Granted),
    }
}

fn inside(attempt: &Attempt, facts: &Facts, secrets: &[String]) -> Reach {
    let through = match facts {
        Facts::SocketMade
        | Facts::Changed
        | Facts::Mounted
        | Facts::Written
        | Facts::Lingering { .. }
        | Facts::Granted => true,
        Facts::DescriptorsReceived { count } => *count > 0,
        Facts::Descriptors { open } => !open.is_empty(),
        Facts::Namespaces { reached, .. } => *reached,
        Facts::Identity { ruid, euid, effective, .. } => ruid != euid || *effective != 0,
        Facts::File { has_nonce, sha256, .. } => *has_nonce || secrets.contains(sha256),
        Facts::Scanned { found, .. } => !found.is_empty(),
        Facts::Ports { open, known, .. } => open.iter().any(|port| Some(*port) != *known),
        Facts::Network { .. }
        | Facts::Privileges { .. }
        | Facts::Exchange { .. }
        | Facts::Mcp { .. }
        | Facts::ProxyVariables { .. } => false,
    };
    if through {
        let outcome = crate::describe::outcome(&Outcome::Found { facts: facts.clone() });
        let what = match facts {
            // Told by its digest: what it holds is in no report.
            Facts::File { len, sha256, .. } if secrets.contains(sha256) => {
                format!("{len} bytes, which are the planted secret")
            }
            _ => outcome,
        };
        Reach::Inside(format!("{}: {what}", verb(attempt)))
    } else {
        Reach::Nowhere
    }
}

fn verb(attempt: &Attempt) -> &'static str {
    match attempt {
        Attempt::Socket { .. } => "socket",
        Attempt::Descriptors { .. } => "inherited",
        Attempt::ChangeNetwork { .. } => "network change",
        Attempt::Mount { .. } => "mount",
        Attempt::NewNamespaces { .. } => "new namespaces",
        Attempt::SetUserId { .. } => "set-user-id program",
        Attempt::Read { .. } => "read",
        Attempt::Write { .. } => "write",
        Attempt::Scan { .. } => "search",
        Attempt::Ports { .. } => "ports",
        Attempt::Unix { .. } => "Unix socket",
        Attempt::Linger { .. } => "lingering",
        Attempt::Ipc { .. } => "object of IPC",
        Attempt::Key { .. } => "key",
        Attempt::Process { .. } => "process",
        Attempt::Open { .. } => "open",
        Attempt::Kernel { .. } => "kernel interface",
        Attempt::Connect { .. }
        | Attempt::Proxied { .. }
        | Attempt::ProxyVariables
        | Attempt::Send { .. }
        | Attempt::DnsStream { .. }
        | Attempt::Resolve { .. }
        | Attempt::Ping { .. }
        | Attempt::RawIp { .. }
        | Attempt::Frame
        | Attempt::Append { .. }
        | Attempt::Terminal { .. }
        | Attempt::Network
        | Attempt::Privileges
        | Attempt::Exchange { .. }
        | Attempt::Mcp { .. } => "attempt",
    }
}

#[cfg(test)]
mod tests;
