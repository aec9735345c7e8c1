//! The bridge as a program of its own, for sandboxes that bring none: listens, then runs the command as its child.

use std::ffi::{CString, OsString};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use nix::unistd::Pid;

use super::supervise::{End, Supervisor, block_signals};
use super::{Bridge, Port};
use crate::guards::Guards;
use crate::launch::exec_command;
use crate::sys::net::raise_loopback;
use crate::sys::process::{Forked, exit_now, fork, reset_signals};

/// Why the bridge did not start its command.
#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    #[error("the bridge was given no command to run")]
    NoCommand,
    #[error("an argument of the command holds a zero byte")]
    ZeroByte,
    #[error("target unusable: loopback is down and the bridge may not raise it ({0}); let the sandbox raise it")]
    Loopback(io::Error),
    #[error("the bridge cannot listen on 127.0.0.1:{port}: {source}; is another bridge running in this network?")]
    Listen { port: u16, source: io::Error },
    #[error("the bridge cannot {what}: {source}")]
    System { what: &'static str, source: io::Error },
}

/// Listens on loopback, runs `argv` and serves until it ends; returns its exit status as a shell reports it.
///
/// The calling process must have a single thread. It needs neither `/proc` nor a writable directory, and may be pid 1.
/// The command inherits the descriptors and environment of the bridge, but none of its sockets.
pub fn main<G: Guards>(
    provider_socket: &Path,
    provider_port: u16,
    instance_socket: Option<&Path>,
    instance_port: u16,
    argv: Vec<OsString>,
) -> Result<i32, BridgeError> {
    if argv.is_empty() {
        return Err(BridgeError::NoCommand);
    }
    let argv: Vec<CString> = argv
        .into_iter()
        .map(|argument| CString::new(argument.into_vec()).map_err(|_| BridgeError::ZeroByte))
        .collect::<Result<_, _>>()?;
    require_loopback()?;
    let listen = |port, socket| Port::listen(port, socket).map_err(|source| BridgeError::Listen { port, source });
    let mut ports = vec![listen(provider_port, provider_socket)?];
    if let Some(socket) = instance_socket {
        ports.push(listen(instance_port, socket)?);
    }

    let system = |what| move |source: io::Error| BridgeError::System { what, source };
    let signals = block_signals().map_err(|error| system("read signals")(error.into()))?;
    let command = match fork().map_err(system("fork"))? {
        Forked::Child => {
            reset_signals().ok();
            let environment: Vec<CString> = std::env::vars_os()
                .filter_map(|(name, value)| {
                    let mut entry = name.into_vec();
                    entry.push(b'=');
                    entry.extend(value.into_vec());
                    CString::new(entry).ok()
                })
                .collect();
            exit_now(exec_command(&argv, &environment))
        }
        Forked::Parent(pid) => Pid::from_raw(pid),
    };
    let supervisor =
        Supervisor { command, leads_session: false, signals, lifeline: None, bridge: Bridge::<G>::new(ports) };
    match supervisor.run().map_err(system("wait for events"))? {
        End::Command(status) => Ok(status),
        End::Owner => unreachable!("a stand-alone bridge has no lifeline"),
    }
}

/// Raises loopback. Where that is not allowed but it is up already, all is well.
fn require_loopback() -> Result<(), BridgeError> {
    match raise_loopback() {
        Ok(()) => Ok(()),
        // An address of an interface that is down cannot be listened on usefully, but can be bound; connecting tells.
        Err(error) if !loopback_carries() => Err(BridgeError::Loopback(error)),
        Err(_) => Ok(()),
    }
}

fn loopback_carries() -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr()).is_ok_and(|address| {
        std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|s| s.connect(address)).is_ok()
    })
}
