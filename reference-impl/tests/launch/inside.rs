//! The workload: makes one attempt and prints what came of it as one line.

use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use super::sys::{find_session_key, raw};

/// Returns the exit status of the workload.
pub fn main(arguments: Vec<String>) -> i32 {
    let mut arguments = arguments.iter().map(String::as_str);
    let line = match arguments.next().expect("an attempt") {
        "status" => status(arguments.next().expect("a field")),
        "call" => {
            let mut number = || number(arguments.next().unwrap_or("0"));
            let call = number() as i64;
            outcome(raw(call, [number(), number(), number(), number()]))
        }
        "session" => {
            let session = fs::read_to_string("/proc/self/stat").expect("stat is readable");
            let session = session.rsplit_once(')').expect("a name").1.split_whitespace().nth(3).expect("a session");
            if session == "0" { "inherited" } else { "own" }.to_owned()
        }
        "proc" => {
            let own = fs::read_link("/proc/self")
                .is_ok_and(|link| link.as_os_str() == std::process::id().to_string().as_str());
            if own { "fresh" } else { "foreign" }.to_owned()
        }
        "keyring" => outcome(find_session_key(c"watertight-test")),
        "mounts" => fs::read_to_string("/proc/self/mountinfo").expect("mountinfo is readable"),
        "connect" => connect(arguments.next().expect("a port")).unwrap_or_else(|error| format!("{:?}", error.kind())),
        "securebits" => {
            format!("{:#x}", raw(libc::SYS_prctl, [libc::PR_GET_SECUREBITS as u64, 0, 0, 0]).expect("told"))
        }
        "unix" => match UnixStream::connect(arguments.next().expect("a path")) {
            Ok(_) => "connected".to_owned(),
            Err(error) => format!("{:?}", error.kind()),
        },
        #[cfg(target_arch = "x86_64")]
        "i386" => outcome(Ok::<_, io::Error>(super::sys::i386_getpid())),
        other => panic!("no attempt is called {other}"),
    };
    println!("{line}");
    0
}

fn number(text: &str) -> u64 {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    }
    .expect("a number")
}

fn outcome<T>(result: io::Result<T>) -> String {
    match result {
        Ok(_) => "ok".to_owned(),
        Err(error) => nix::Error::from_raw(error.raw_os_error().unwrap_or_default()).to_string(),
    }
    .split(':')
    .next()
    .unwrap_or_default()
    .to_owned()
}

fn status(field: &str) -> String {
    let status = fs::read_to_string("/proc/self/status").expect("status is readable");
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.expect("the field is there").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Says hello through the bridge and returns what the relay answered.
fn connect(port: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port.parse().expect("a port")))?;
    stream.write_all(b"hello")?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.replace('\n', " "))
}
