//! What the test binary is when it does not test: a launcher, a bridge, or a workload.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::ExitCode;

use watertight_reference::bridge;
use watertight_reference::guards::Guards;
use watertight_reference::launch::{LaunchSpec, beside_relays, run};
use watertight_reference::relay::{Key, Service};

use super::variants::{With, dispatch};
use super::{inside, sys};

/// `without CALL ERRNO program…` executes a program for which a system call fails; `run VARIANT [--option value]… -- command…`, `bridge VARIANT SOCKET PORT -- command…` or `inside ATTEMPT…`.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let mut text = || arguments.next().and_then(|argument| argument.into_string().ok()).expect("an argument");
    let status = match text().as_str() {
        "run" => {
            let variant = text();
            dispatch(&variant, Run, arguments.collect())
        }
        "bridge" => {
            let variant = text();
            dispatch(&variant, Bridge, arguments.collect())
        }
        "without" => {
            let (call, errno) = (text().parse().expect("a call"), text().parse().expect("an errno"));
            sys::forbid(call, errno).expect("a filter");
            let mut program = std::process::Command::new(text());
            panic!("not executed: {}", std::os::unix::process::CommandExt::exec(program.args(arguments)));
        }
        "inside" => inside::main(arguments.filter_map(|argument| argument.into_string().ok()).collect()),
        other => panic!("no helper is called {other}"),
    };
    ExitCode::from(u8::try_from(status).expect("an exit status"))
}

struct Run;

impl With for Run {
    fn with<G: Guards>(self, arguments: Vec<OsString>) -> i32 {
        let mut spec = LaunchSpec { provider: "http://203.0.113.10/v1".into(), ..LaunchSpec::default() };
        let mut relays_fail = false;
        let mut beside = None::<PathBuf>;
        let mut arguments = arguments.into_iter();
        while let Some(option) = arguments.next().filter(|option| option != "--") {
            let mut value = || arguments.next().expect("a value");
            let text = |value: OsString| value.into_string().expect("UTF-8");
            match option.to_str().expect("UTF-8") {
                "--provider" => spec.provider = text(value()),
                "--key" => spec.key_file = value().into(),
                "--instance" => spec.instance = Some(text(value())),
                "--workspace" => spec.workspace = Some(value().into()),
                "--ro" => spec.read_only.push(PathBuf::from(value())),
                "--rw" => spec.read_write.push(PathBuf::from(value())),
                "--user" => spec.user = Some(text(value())),
                "--env" => spec.pass_environment.push(value()),
                "--plant-key" => sys::plant_session_key(c"watertight-test").expect("the session keyring takes a key"),
                "--beside" => beside = Some(value().into()),
                "--relays-fail" => relays_fail = true,
                other => panic!("no option is called {other}"),
            }
        }
        spec.argv = arguments.collect();
        let relays = |service: Service| if relays_fail { Err("no upstream") } else { Ok(serve(service)) };
        let status = match beside {
            None => run::<G, _, _, _>(&spec, relays),
            Some(directory) => beside_relays::<G, _, _, _>(&spec, &directory, relays),
        };
        status.unwrap_or_else(|error| {
            eprintln!("watertight: {error}");
            error.exit_status()
        })
    }
}

/// A relay that names itself and then returns what it is sent. The key stays in memory, as a real relay keeps it.
fn serve(service: Service) -> Key {
    let instance = service.instance.map(|(_, listener)| listener);
    let named = [("provider", Some(service.provider.1)), ("instance", instance)];
    for (name, listener) in named.into_iter().filter_map(|(name, listener)| Some((name, listener?))) {
        listener.set_nonblocking(false).expect("the listener blocks");
        std::thread::spawn(move || echo(name, &listener));
    }
    service.key
}

fn echo(name: &'static str, listener: &UnixListener) {
    for mut stream in listener.incoming().map_while(Result::ok) {
        std::thread::spawn(move || {
            stream.write_all(format!("{name}\n").as_bytes()).ok();
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = stream.read(&mut buffer) {
                if stream.write_all(&buffer[..length]).is_err() {
                    return;
                }
            }
        });
    }
}

struct Bridge;

impl With for Bridge {
    fn with<G: Guards>(self, arguments: Vec<OsString>) -> i32 {
        let mut arguments = arguments.into_iter();
        let socket = PathBuf::from(arguments.next().expect("a socket"));
        let port = arguments.next().and_then(|port| port.into_string().ok()?.parse().ok()).expect("a port");
        let argv = arguments.skip_while(|argument| argument == "--").collect();
        bridge::main::<G>(&socket, port, None, 0, argv).unwrap_or_else(|error| {
            eprintln!("watertight: {error}");
            125
        })
    }
}
