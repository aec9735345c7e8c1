//! The stand-alone bridge between a TCP client and a Unix socket, both held by the test.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tempfile::TempDir;

use super::support::{DEADLINE, helper, stdout};

/// A running bridge and the relay's listening socket behind it.
struct Bridge {
    child: Child,
    port: u16,
    relay: UnixListener,
    _directory: TempDir,
}

impl Bridge {
    fn start(variant: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let socket = directory.path().join("relay.sock");
        let relay = UnixListener::bind(&socket).expect("a relay");
        let port = free_port();
        let mut command = Command::new(helper());
        command.args(["helper", "bridge", variant]).arg(&socket).arg(port.to_string());
        let child = command.args(["--", "/bin/cat"]).stdin(Stdio::piped()).spawn().expect("the bridge starts");
        let deadline = Instant::now() + DEADLINE;
        while let Err(error) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
            assert!(Instant::now() < deadline, "the bridge does not listen: {error}");
            std::thread::yield_now();
        }
        // The connection that found the bridge listening reaches the relay as well.
        drop(relay.accept().expect("accepted"));
        Self { child, port, relay, _directory: directory }
    }

    /// A client's stream and the relay's.
    fn connect(&self) -> (TcpStream, UnixStream) {
        let client = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("the bridge accepts");
        let (relay, _) = self.relay.accept().expect("the bridge connects");
        client.set_read_timeout(Some(DEADLINE)).expect("a deadline");
        relay.set_read_timeout(Some(DEADLINE)).expect("a deadline");
        (client, relay)
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.local_addr().expect("bound").port()
}

/// Whether the other end of a Unix stream has closed, rather than ended its direction, within a time.
fn hangs_up(stream: &UnixStream, within: Duration) -> bool {
    let mut entries = [PollFd::new(stream.as_fd(), PollFlags::empty())];
    let timeout = PollTimeout::try_from(within).expect("a short time");
    poll(&mut entries, timeout).expect("polls");
    entries[0].revents().is_some_and(|events| events.contains(PollFlags::POLLHUP))
}

/// For things that must not happen: long against the bridge's own intervals, short against a test's patience.
const WHILE: Duration = Duration::from_millis(300);

pub fn trials() -> Vec<Trial> {
    let trial = |fact: &str, test: fn()| {
        Trial::test(format!("bridge::{fact}"), move || {
            test();
            Ok(())
        })
    };
    vec![
        trial("bytes_are_carried_unchanged_both_ways", || {
            let bridge = Bridge::start("");
            let (mut client, mut relay) = bridge.connect();
            let bytes: Vec<u8> = (0..=255).collect();
            client.write_all(&bytes).expect("sent");
            let mut read = vec![0; 256];
            relay.read_exact(&mut read).expect("carried");
            assert_eq!(read, bytes);
            relay.write_all(&bytes).expect("sent");
            client.read_exact(&mut read).expect("carried");
            assert_eq!(read, bytes);
        }),
        trial("a_half_closed_client_still_gets_its_answer", || {
            let answer = |variant| {
                let bridge = Bridge::start(variant);
                let (mut client, mut relay) = bridge.connect();
                client.write_all(b"question").expect("sent");
                client.shutdown(Shutdown::Write).expect("half-closed");
                let mut question = String::new();
                relay.read_to_string(&mut question).expect("the question ends");
                assert_eq!(question, "question");
                let hung_up = hangs_up(&relay, WHILE);
                relay.write_all(b"answer").ok();
                drop(relay);
                let mut answer = String::new();
                client.read_to_string(&mut answer).ok();
                (hung_up, answer)
            };
            assert_eq!(answer(""), (false, "answer".to_owned()));
            assert_eq!(answer("cut-half-open"), (true, String::new()));
        }),
        trial("a_client_that_closes_hangs_up_on_the_relay", || {
            let hung_up = |variant, wait| {
                let bridge = Bridge::start(variant);
                let (mut client, relay) = bridge.connect();
                client.write_all(b"question").expect("sent");
                drop(client);
                hangs_up(&relay, wait)
            };
            assert!(hung_up("", DEADLINE));
            assert!(!hung_up("mistake-close", WHILE));
        }),
        trial("a_client_that_half_closes_and_then_closes_hangs_up_on_the_relay", || {
            let bridge = Bridge::start("");
            let (client, mut relay) = bridge.connect();
            client.shutdown(Shutdown::Write).expect("half-closed");
            let mut nothing = Vec::new();
            relay.read_to_end(&mut nothing).expect("the request ends");
            assert!(!hangs_up(&relay, WHILE));
            drop(client);
            assert!(hangs_up(&relay, DEADLINE));
        }),
        trial("a_client_that_closes_hangs_up_on_a_relay_that_does_not_read", || {
            let bridge = Bridge::start("");
            let (client, relay) = bridge.connect();
            client.set_nonblocking(true).expect("non-blocking");
            fill(&client);
            drop(client);
            assert!(hangs_up(&relay, DEADLINE));
        }),
        trial("a_reset_reaches_the_relay", || {
            let hung_up = |variant, wait| {
                let bridge = Bridge::start(variant);
                let (client, mut relay) = bridge.connect();
                // Closing with bytes unread resets.
                relay.write_all(b"unread").expect("sent");
                let mut one = [0];
                client.peek(&mut one).expect("arrived");
                drop(client);
                hangs_up(&relay, wait)
            };
            assert!(hung_up("", DEADLINE));
            assert!(!hung_up("swallow-reset", WHILE));
        }),
        trial("an_end_of_the_relay_reaches_the_client_at_once", || {
            let ended = |variant, within| {
                let bridge = Bridge::start(variant);
                let (mut client, mut relay) = bridge.connect();
                relay.write_all(b"part").expect("sent");
                drop(relay);
                client.set_read_timeout(Some(within)).expect("a deadline");
                let mut part = Vec::new();
                let end = client.read_to_end(&mut part);
                assert_eq!(part, b"part");
                end.is_ok()
            };
            assert!(ended("", DEADLINE));
            assert!(!ended("keep-hung-up", WHILE));
        }),
        trial("a_relay_that_hangs_up_closes_both_directions_of_the_client", || {
            let closed = |variant, within| {
                let bridge = Bridge::start(variant);
                let (client, relay) = bridge.connect();
                // The client's direction is full, so nothing but the hang-up can end it.
                client.set_nonblocking(true).expect("non-blocking");
                fill(&client);
                drop(relay);
                let mut entries = [PollFd::new(client.as_fd(), PollFlags::empty())];
                poll(&mut entries, PollTimeout::try_from(within).expect("a short time")).expect("polls");
                entries[0].revents().is_some_and(|events| events.contains(PollFlags::POLLHUP))
            };
            assert!(closed("", DEADLINE));
        }),
        trial("a_relay_that_closes_without_reading_resets_the_client", || {
            let bridge = Bridge::start("");
            let (mut client, relay) = bridge.connect();
            client.write_all(b"question").expect("sent");
            assert!(readable(&relay));
            drop(relay);
            let mut answer = Vec::new();
            let error = client.read_to_end(&mut answer).expect_err("reset");
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        }),
        trial("without_a_relay_the_client_is_reset", || {
            let bridge = Bridge::start("");
            std::fs::remove_file(bridge._directory.path().join("relay.sock")).expect("removed");
            let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, bridge.port)).expect("accepted");
            client.read(&mut [0]).expect_err("reset");
        }),
        trial("bulk_is_carried_both_ways", || {
            let bridge = Bridge::start("");
            let (mut client, mut relay) = bridge.connect();
            const SIZE: usize = 32 << 20;
            let sender = std::thread::spawn(move || {
                let block: Vec<u8> = (0..1 << 16).map(|index| (index % 251) as u8).collect();
                for _ in 0..SIZE >> 16 {
                    relay.write_all(&block).expect("sent");
                }
            });
            let mut received = Vec::with_capacity(SIZE);
            client.read_to_end(&mut received).expect("all arrives");
            sender.join().expect("all is sent");
            assert_eq!(received.len(), SIZE);
            assert!(received.iter().enumerate().all(|(index, byte)| *byte == ((index % (1 << 16)) % 251) as u8));
        }),
        trial("hundreds_of_connections_are_carried_side_by_side", || {
            let bridge = Bridge::start("");
            let mut pairs: Vec<_> = (0..300).map(|_| bridge.connect()).collect();
            for (index, (client, _)) in pairs.iter_mut().enumerate() {
                client.write_all(&(index as u32).to_le_bytes()).expect("sent");
            }
            for (index, (_, relay)) in pairs.iter_mut().enumerate() {
                let mut number = [0; 4];
                relay.read_exact(&mut number).expect("carried");
                assert_eq!(u32::from_le_bytes(number), index as u32);
            }
        }),
        trial("connections_beyond_the_cap_wait", || {
            let bridge = Bridge::start("");
            let mut pairs: Vec<_> = (0..480).map(|_| bridge.connect()).collect();
            let late = TcpStream::connect((Ipv4Addr::LOCALHOST, bridge.port)).expect("waits in the backlog");
            bridge.relay.set_nonblocking(true).expect("non-blocking");
            let deadline = Instant::now() + WHILE;
            while Instant::now() < deadline {
                assert!(bridge.relay.accept().is_err(), "carried beyond the cap");
                std::thread::yield_now();
            }
            pairs.pop();
            super::support::eventually("a free place is taken", || bridge.relay.accept().is_ok());
            drop(late);
        }),
        trial("without_the_cap_more_connections_are_carried", || {
            let bridge = Bridge::start("unlimited-connections");
            let pairs: Vec<_> = (0..481).map(|_| bridge.connect()).collect();
            assert_eq!(pairs.len(), 481);
        }),
        trial("signals_reach_the_command", || {
            let directory = tempfile::tempdir().expect("a directory");
            let mut bridge = Command::new(helper());
            bridge.args(["helper", "bridge", ""]).arg(directory.path().join("none")).arg(free_port().to_string());
            bridge.args(["--", "/bin/sh", "-c", "trap 'exit 9' TERM; echo ready; while true; do read line; done"]);
            let mut bridge = bridge.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
            let mut ready = [0; 6];
            bridge.stdout.as_mut().expect("a pipe").read_exact(&mut ready).expect("the command starts");
            nix::sys::signal::kill(nix::unistd::Pid::from_raw(bridge.id() as i32), nix::sys::signal::SIGTERM)
                .expect("sent");
            assert_eq!(bridge.wait().expect("ends").code(), Some(9));
        }),
        trial("it_works_as_pid_1_of_an_empty_root_with_loopback_down", || {
            // No /proc, no directory that can be written, nothing but the program and the relay's socket.
            let root = tempfile::tempdir().expect("a root");
            std::fs::copy(helper(), root.path().join("helper")).expect("a copy");
            let relay = UnixListener::bind(root.path().join("relay.sock")).expect("a relay");
            std::thread::spawn(move || {
                for mut stream in relay.incoming().map_while(Result::ok) {
                    let mut question = String::new();
                    stream.read_to_string(&mut question).expect("the question ends");
                    stream.write_all(format!("relay heard {question}").as_bytes()).expect("sent");
                }
            });
            let run = |keep_capabilities: &[&str]| {
                let mut command = Command::new("unshare");
                command.args(["--user", "--map-root-user", "--net", "--pid", "--fork", "--root"]).arg(root.path());
                command.args(keep_capabilities);
                command.args(["/helper", "helper", "bridge", "", "/relay.sock", "8765", "--"]);
                command.args(["/helper", "helper", "inside", "connect", "8765"]);
                command.output().expect("unshare starts")
            };
            assert_eq!(stdout(&run(&[])), "relay heard hello");
        }),
        trial("loopback_that_cannot_be_raised_makes_the_target_unusable", || {
            let directory = tempfile::tempdir().expect("a directory");
            let run = |wrapper: &[&str]| {
                let mut command = Command::new("unshare");
                command.args(["--user", "--map-root-user", "--net"]).args(wrapper).arg(helper());
                command.args(["helper", "bridge", ""]).arg(directory.path().join("none")).arg("8765");
                command.args(["--", "/bin/echo", "executed"]).output().expect("unshare starts")
            };
            assert_eq!(stdout(&run(&[])), "executed");
            let without = run(&["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"]);
            assert_eq!(without.status.code(), Some(125));
            assert!(String::from_utf8_lossy(&without.stderr).contains("target unusable"));
        }),
        trial("the_commands_status_is_the_bridges", || {
            let run = |command: &[&str]| {
                let directory = tempfile::tempdir().expect("a directory");
                let socket = directory.path().join("relay.sock");
                let _relay = UnixListener::bind(&socket).expect("a relay");
                let mut bridge = Command::new(helper());
                bridge.args(["helper", "bridge", ""]).arg(&socket).arg(free_port().to_string()).arg("--").args(command);
                bridge.output().expect("the bridge starts")
            };
            assert_eq!(run(&["/bin/sh", "-c", "exit 7"]).status.code(), Some(7));
            assert_eq!(run(&["/bin/sh", "-c", "kill -TERM $$"]).status.code(), Some(143));
            assert_eq!(run(&["/no/such"]).status.code(), Some(127));
            assert_eq!(run(&["/etc/passwd"]).status.code(), Some(126));
            assert_eq!(run(&[]).status.code(), Some(125));
            let open = run(&["/bin/sh", "-c", "ls -l /proc/self/fd | grep -c socket"]);
            assert_eq!(stdout(&open), "0", "the command inherits no listener");
        }),
    ]
}

/// Writes until nothing moves any more: every buffer on the way is full.
fn fill(mut client: &TcpStream) {
    let bytes = vec![7; 1 << 16];
    let mut last = Instant::now();
    while last.elapsed() < WHILE {
        if client.write(&bytes).is_ok() {
            last = Instant::now();
        }
    }
}

fn readable(stream: &UnixStream) -> bool {
    let mut entries = [PollFd::new(stream.as_fd(), PollFlags::POLLIN)];
    poll(&mut entries, PollTimeout::try_from(DEADLINE).expect("a short time")).expect("polls") == 1
}
