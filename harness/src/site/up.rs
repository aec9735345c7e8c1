//! Brings a site up and takes it down again.

use std::{
    fs, io,
    net::{IpAddr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use watertight_fixtures::{
    ledger::Ledger,
    servers::{Servers, ServersError, Zone},
    world::{Capture, Config, HOME, Leftovers, Namespaces, Program, RESOLVER, WORKSPACE, World, WorldError},
};

use watertight_probe::{nonce::Nonce, sighting::Event, wire};

use super::{
    address, granted,
    listeners::{TCP, UDP},
    planted::Plants,
    secrets::Secrets,
};
use crate::{doctor::programs, planner::Layout, way::Way};

const HTTP: u16 = 80;
/// What sightings of watched files are called, and how much of one is shown.
const FILE: &str = "file";
const SHOWN: usize = 1024;
/// How long any target may take to start the probe: it may have to start a machine first.
const START: Duration = Duration::from_secs(15);
/// How long it may take where one did not start it: less than three times as long as others took is no hang.
const START_AGAIN: Duration = Duration::from_secs(2);

/// One world with everything in it.
pub struct Site {
    pub world: World,
    pub secrets: Secrets,
    pub plants: Plants,
    pub began: Instant,
    /// The machine's own network namespace: nothing is let go there.
    pub machine_net: u64,
    /// Its mount namespace: nothing is mounted there.
    pub machine_mnt: u64,
    /// Where the workload of this run finds its bearer.
    pub bearer_variable: Option<String>,
    /// How long a target may take to start the probe.
    pub start: Duration,
    /// A launch of this site did not end in time, with the trouble that its adapter had.
    pub ends_late: Arc<OnceLock<Option<String>>>,
    /// Files of the world that are looked at when all is over.
    pub(super) watched: Vec<PathBuf>,
    servers: Servers,
    capture: Capture,
    /// A launch of this site was waited for in vain.
    hung: AtomicBool,
    /// The number of the next launch, by which what it has for itself is called.
    launches: AtomicU32,
    /// Milliseconds that the slowest launch took to start the probe.
    slowest: AtomicU64,
}

/// Why a site could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    #[error(transparent)]
    World(#[from] WorldError),
    #[error(transparent)]
    Servers(#[from] ServersError),
    #[error("cannot read random numbers from /dev/urandom: {0}")]
    Random(io::Error),
    #[error("cannot work inside the world: {source}")]
    Enter { source: io::Error },
    #[error("cannot plant files in the world: {0}")]
    Plant(io::Error),
    #[error("cannot open the canary {what}: {source}")]
    Canary { what: String, source: io::Error },
}

impl Site {
    /// Makes the world and starts every fixture that all launches share.
    pub fn up(
        program: &Path,
        beside: &[(String, PathBuf)],
        init_in_cgroup: bool,
        secrets: Secrets,
    ) -> Result<Self, SiteError> {
        let began = Instant::now();
        let mut config = Config::new(program);
        config.programs.extend(beside.iter().cloned().map(|(name, path)| Program { name, path }));
        config.tools = programs::tools();
        config.init_in_cgroup = init_in_cgroup;
        config.etc.push(("hosts".into(), address::hosts()));
        let world = World::up(&config)?;
        let capture = Capture::start(&world, began)?;
        let servers = Servers::new(Ledger::new(began), Zone::default())?;
        serve_internet(&world, &servers, &secrets)?;
        let plants = Plants::plant(&world, &secrets).map_err(SiteError::Plant)?;
        let Namespaces { net: machine_net, mnt: machine_mnt, .. } =
            Namespaces::own().map_err(|source| SiteError::Enter { source })?;
        Ok(Self {
            world,
            secrets,
            plants,
            began,
            machine_net,
            machine_mnt,
            bearer_variable: None,
            start: START,
            ends_late: Arc::default(),
            watched: vec![],
            servers,
            capture,
            hung: AtomicBool::new(false),
            launches: AtomicU32::new(0),
            slowest: AtomicU64::new(0),
        })
    }

    /// A number that no other launch of this site has.
    pub fn next_launch(&self) -> u32 {
        self.launches.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether a launch that had to run the probe was waited for in vain.
    pub fn has_hung(&self) -> bool {
        self.hung.load(Ordering::Relaxed)
    }

    /// A launch came to its probe after this time.
    pub fn note_start(&self, took: Duration) {
        self.slowest.fetch_max(took.as_millis() as u64, Ordering::Relaxed);
    }

    /// How long a launch may take to start the probe where an earlier one that had to did not: a slow target stays one.
    pub fn start_again(&self) -> Duration {
        let slowest = Duration::from_millis(self.slowest.load(Ordering::Relaxed));
        START_AGAIN.max(slowest * 3).min(self.start)
    }

    pub fn note_hang(&self) {
        self.hung.store(true, Ordering::Relaxed);
    }

    pub fn ledger(&self) -> &Ledger {
        self.servers.ledger()
    }

    pub(super) fn servers(&self) -> &Servers {
        &self.servers
    }

    /// What the planner must know of this site.
    pub fn layout(&self) -> Result<Layout, SiteError> {
        let link = self.world.on_host(|| nix::net::if_::if_nametoindex("host0"));
        let link =
            link.and_then(|index| index.map_err(io::Error::from)).map_err(|source| SiteError::Enter { source })?;
        let granted = granted::by(&self.world);
        Ok(Layout {
            link,
            by_root: self.world.is_roots(),
            resolver: SocketAddr::new(RESOLVER.into(), 53),
            set_user_id: self.plants.set_user_id.clone(),
            closed_file: self.plants.closed_file.clone(),
            group_file: self.plants.group_file.clone(),
            home: HOME.into(),
            workspace: WORKSPACE.into(),
            absent: vec![],
            way: Way::Relays,
            needles: self.secrets.key_needles(),
            tun: granted.iter().any(|one| one == "/dev/net/tun"),
            planted: self.secrets.planted_needles(),
            second_bearer: None,
            spare: granted::spare(&self.world),
            typing: granted::typing(),
            granted,
        })
    }

    /// Records what was written to the files that are watched.
    fn note_files(&self) -> io::Result<()> {
        if self.watched.is_empty() {
            return Ok(());
        }
        let read = || self.watched.iter().map(fs::read).collect::<io::Result<Vec<_>>>();
        for (path, bytes) in self.watched.iter().zip(self.world.in_host_files(read)??) {
            let nonces = Nonce::find_all(&bytes);
            if !nonces.is_empty() {
                let head = wire::escape(&bytes, SHOWN);
                let event = Event::Received { connection: None, len: bytes.len() as u64, head };
                self.ledger().record(FILE, nonces, None, &path.display().to_string(), event);
            }
        }
        Ok(())
    }

    /// Ends the fixtures and the world. Everything recorded stays with the caller.
    pub fn down(self) -> Result<Down, SiteError> {
        self.note_files().map_err(|source| SiteError::Enter { source })?;
        let captured = self.capture.stop().map_err(|source| SiteError::Enter { source })?;
        let ledger = self.servers.ledger().clone();
        let leftovers = self.world.down()?;
        self.servers.shutdown();
        Ok(Down { ledger, frames: captured.frames, lost: captured.lost, leftovers })
    }
}

/// What is known when a site is down.
pub struct Down {
    pub ledger: Ledger,
    pub frames: Vec<watertight_probe::sighting::Sighting>,
    /// Frames that the capture could not keep.
    pub lost: u64,
    pub leftovers: Leftovers,
}

fn serve_internet(world: &World, servers: &Servers, secrets: &Secrets) -> Result<(), SiteError> {
    let caught = world.catch_all()?;
    for listener in [caught.tcp4, caught.tcp6] {
        servers.canary_tcp(TCP, TcpListener::from(listener), &secrets.spoken(TCP))?;
    }
    for datagrams in [caught.udp4, caught.udp6] {
        servers.canary_udp_catch_all(UDP, datagrams, &secrets.spoken(UDP))?;
    }
    let zone = Zone::default();
    let addresses = [zone.provider, zone.instance].map(|(v4, v6)| [IpAddr::from(v4), IpAddr::from(v6)]);
    let listen = || -> io::Result<Vec<Vec<TcpListener>>> {
        let on = |address: &IpAddr| TcpListener::bind(SocketAddr::new(*address, HTTP));
        addresses.iter().map(|both| both.iter().map(on).collect()).collect()
    };
    let listeners = world.on_internet(listen).and_then(|listeners| listeners);
    let listeners = listeners.map_err(|source| SiteError::Canary { what: "provider and instance".into(), source })?;
    for (index, both) in listeners.into_iter().enumerate() {
        for listener in both {
            match index {
                0 => servers.provider(listener, &secrets.provider_key)?,
                _ => servers.instance(listener)?,
            }
        }
    }
    Ok(())
}
