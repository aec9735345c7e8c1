//! A relay of either kind on a thread of its own, as the launcher would run it.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::oneshot;
use watertight_reference::guards::RelayGuards;
use watertight_reference::relay::{
    BaseUrl, Bearer, InstanceRelay, KeyFile, Limits, Listener, Log, Origin, Owner, ProviderRelay, Settings, Trust,
    listen,
};

use crate::client::Client;

/// The provider's real key: no client may ever see it, and no upstream anything else.
pub const KEY: &str = "sk-real-5f2c9e";

thread_local! {
    static PATIENCE: Cell<Duration> = const { Cell::new(Duration::from_secs(20)) };
}

/// How long a check waits for what must happen. Only failures pay it.
pub fn patience() -> Duration {
    PATIENCE.get()
}

/// Runs a check that is expected to fail, without waiting long for that.
pub fn impatiently<T>(check: impl FnOnce() -> T) -> T {
    PATIENCE.set(Duration::from_millis(400));
    let done = check();
    PATIENCE.set(Duration::from_secs(20));
    done
}

pub struct Running {
    pub path: PathBuf,
    /// What the provider's clients must present; the instance relay does not look at it.
    pub bearer: String,
    pub lines: Arc<Mutex<Vec<String>>>,
    written: Arc<Condvar>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    _directory: tempfile::TempDir,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Provider,
    Instance,
}

pub const BOTH: [Kind; 2] = [Kind::Provider, Kind::Instance];

/// A relay of this kind to `origin`, an `http://host:port`; the provider's base path is `/v1`.
pub fn relay<G: RelayGuards>(kind: Kind, origin: &str) -> Running {
    relay_with::<G>(kind, origin, Limits::default(), &Trust::public())
}

pub fn relay_with<G: RelayGuards>(kind: Kind, origin: &str, limits: Limits, trust: &Trust) -> Running {
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("relay.sock");
    let listener = listen(&path).expect("listen");
    let bearer = Bearer::generate().expect("bearer");
    let lines = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::new(Condvar::new());
    let (sink, wakes) = (lines.clone(), written.clone());
    let log = Log::new(move |line: &str| {
        sink.lock().expect("lines").push(line.to_owned());
        wakes.notify_all();
    });
    let settings = Settings { limits, log };
    let (stop, stopped) = oneshot::channel();
    let shutdown = async { stopped.await.unwrap_or_default() };
    let thread = match kind {
        Kind::Provider => {
            let base = BaseUrl::parse(&format!("{origin}/v1")).expect("base");
            let file = directory.path().join("key");
            fs::write(&file, KEY).expect("write");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("chmod");
            let key = KeyFile::open(&file, Owner::Anyone).expect("key file").read().expect("key");
            let relay = ProviderRelay::<G>::new(base, &bearer, key, trust, settings).expect("relay");
            std::thread::spawn(move || run(relay.serve(listener, shutdown)))
        }
        Kind::Instance => {
            let origin = Origin::parse(origin).expect("origin");
            let relay = InstanceRelay::<G>::new(origin, trust, settings).expect("relay");
            std::thread::spawn(move || run(relay.serve(listener, shutdown)))
        }
    };
    Running {
        path,
        bearer: bearer.expose().to_owned(),
        lines,
        written,
        stop: Some(stop),
        thread: Some(thread),
        _directory: directory,
    }
}

/// The same over a listener that the test made.
pub fn instance_on<G: RelayGuards>(listener: Listener, origin: &str) -> JoinHandle<()> {
    let settings = Settings { limits: Limits::default(), log: Log::silent() };
    let relay = InstanceRelay::<G>::new(Origin::parse(origin).expect("origin"), &Trust::public(), settings);
    let relay = relay.expect("relay");
    std::thread::spawn(move || run(relay.serve(listener, std::future::ready(()))))
}

fn run(serving: impl Future<Output = std::io::Result<()>>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
    runtime.block_on(serving).expect("served");
    // Connections that a guard left alive go on until the test's process ends, as they would in a launcher.
    if tokio_tasks_left(&runtime) {
        std::mem::forget(std::thread::spawn(move || runtime.block_on(std::future::pending::<()>())));
    }
}

fn tokio_tasks_left(runtime: &tokio::runtime::Runtime) -> bool {
    runtime.metrics().num_alive_tasks() > 0
}

impl Running {
    pub fn connect(&self) -> Client {
        Client::connect(&self.path)
    }

    /// The head's lines that the relay's kind needs besides the request line, without the empty one.
    pub fn credentials(&self) -> String {
        format!("Host: relay\r\nAuthorization: Bearer {}\r\n", self.bearer)
    }

    /// A whole head that this relay lets through.
    pub fn head(&self, request_line: &str, more: &str) -> String {
        format!("{request_line} HTTP/1.1\r\n{}{more}\r\n", self.credentials())
    }

    pub fn get(&self) -> String {
        self.head("GET /v1/models", "")
    }

    /// A POST whose head is whole and whose body is up to the caller.
    pub fn post(&self, framing: &str) -> String {
        self.head("POST /v1/chat/completions", &format!("{framing}\r\n"))
    }

    #[track_caller]
    pub fn wait_for_line(&self, line: &str) {
        let lines = self.lines.lock().expect("lines");
        let absent = |lines: &mut Vec<String>| !lines.iter().any(|written| written == line);
        let (lines, waited) = self.written.wait_timeout_while(lines, patience(), absent).expect("lines");
        assert!(!waited.timed_out(), "{line:?} is not in {lines:?}");
    }

    /// Shuts down and waits until `serve` has returned.
    pub fn stop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("relay");
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let joined = thread.join();
            assert!(joined.is_ok() || std::thread::panicking(), "the relay panicked");
        }
    }
}

/// The same check on each relay.
pub fn for_both(check: impl Fn(Kind)) {
    BOTH.into_iter().for_each(check);
}
