//! What a careless launcher leaves for its workload: open descriptors of every kind, secrets in the environment, files.

use std::{
    fs, io,
    net::{TcpListener, UdpSocket},
    os::{
        fd::OwnedFd,
        unix::{
            fs::{PermissionsExt, chown, symlink},
            net::UnixStream,
        },
    },
    path::PathBuf,
};

use nix::{
    sys::{
        eventfd::{EfdFlags, EventFd},
        memfd::{MFdFlags, memfd_create},
        socket::{AddressFamily, SockFlag, SockType, socket},
    },
    unistd::pipe,
};
use watertight_fixtures::world::{HOME, Key, Spawn, TOOLS, WORKSPACE, World};

use super::{secrets::Secrets, up::Site};
use crate::doctor::programs;

/// The first number of a planted descriptor.
const FIRST: i32 = 17;
/// A script of the workspace whose interpreter does not exist.
pub const BROKEN_PROGRAM: &str = "/home/agent/work/broken-program";
/// Key files that a launcher must refuse: others can read it, it is a link, it lies in the workspace. None holds the key.
pub const OPEN_KEY: &str = "/home/agent/.config/provider/open-key";
pub const LINKED_KEY: &str = "/home/agent/.config/provider/linked-key";
pub const WORKSPACE_KEY: &str = "/home/agent/work/key";
/// Where a launch finds the sockets of relays that are ours.
pub const SOCKETS: &str = "/run/user/1777/relays";
/// The file of a manifest's adapter, and where an adapter keeps what its sandboxes need outside.
pub const ADAPTER: &str = "/run/watertight-adapter";
pub const RUN_DIR: &str = "/run/user/1777/sandboxes";
/// What the directories of launches that have files of their own begin with; a number follows.
pub const LAUNCHES: &str = "/run/user/1777/launch-";
/// A group that only the launcher is in.
pub const GROUP: u32 = 4242;

/// Where the planted files are.
#[derive(Clone, Debug)]
pub struct Plants {
    pub closed_file: PathBuf,
    pub group_file: Option<PathBuf>,
    pub set_user_id: Option<PathBuf>,
    pub key_file: PathBuf,
}

impl Plants {
    /// Plants the files of one world.
    pub fn plant(world: &World, secrets: &Secrets) -> io::Result<Self> {
        let roots = world.is_roots();
        let owner = world.agent_owner();
        let plants = Self {
            closed_file: "/run/watertight-closed".into(),
            group_file: roots.then(|| "/run/watertight-group".into()),
            set_user_id: roots.then(|| "/run/watertight-suid/watertight".into()),
            key_file: format!("{HOME}/.config/provider/key").into(),
        };
        let agent = |path: &str, text: &str, mode: u32| {
            fs::write(path, text)?;
            fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
            chown(path, Some(owner), Some(owner))
        };
        world.in_host_files(|| {
            fs::write(&plants.closed_file, &secrets.marker)?;
            fs::set_permissions(&plants.closed_file, fs::Permissions::from_mode(0o000))?;
            if let Some(path) = &plants.group_file {
                fs::write(path, &secrets.marker)?;
                chown(path, Some(0), Some(GROUP))?;
                fs::set_permissions(path, fs::Permissions::from_mode(0o640))?;
            }
            for directory in [format!("{HOME}/.config"), format!("{HOME}/.config/provider"), SOCKETS.to_owned()] {
                fs::create_dir_all(&directory)?;
                fs::set_permissions(&directory, fs::Permissions::from_mode(0o700))?;
                chown(&directory, Some(owner), Some(owner))?;
            }
            agent(&plants.key_file.display().to_string(), &secrets.provider_key, 0o600)?;
            agent(OPEN_KEY, "sk-wt-open", 0o644)?;
            symlink(&plants.key_file, LINKED_KEY)?;
            agent(WORKSPACE_KEY, "sk-wt-workspace", 0o600)?;
            // Starts, and then lacks what runs it: a launch that fails late.
            agent(BROKEN_PROGRAM, "#!/nonexistent/watertight\n", 0o755)?;
            agent(&format!("{WORKSPACE}/marker"), &format!("file-{}", secrets.marker), 0o644)
        })??;
        Ok(plants)
    }
}

/// Puts an adapter into the world, where it is not installed, with a directory that it may use.
pub fn plant_adapter(world: &World, program: Option<&str>) -> io::Result<()> {
    let owner = world.agent_owner();
    world.in_host_files(|| {
        if let Some(program) = program {
            fs::write(ADAPTER, program)?;
            fs::set_permissions(ADAPTER, fs::Permissions::from_mode(0o755))?;
        }
        fs::create_dir(RUN_DIR)?;
        fs::set_permissions(RUN_DIR, fs::Permissions::from_mode(0o700))?;
        chown(RUN_DIR, Some(owner), Some(owner))
    })?
}

impl Plants {
    /// Gives a launch what its user has, and everything that a careless launcher leaves.
    pub fn into_spawn(site: &Site, spawn: &mut Spawn) -> io::Result<()> {
        spawn.env.extend(environment());
        spawn.env.push(("WATERTIGHT_MARKER".into(), site.secrets.marker_environment()));
        let planted = site.secrets.planted.iter();
        spawn.env.extend(planted.map(|(name, value)| ((*name).to_owned(), value.clone())));
        spawn.planted = planted_descriptors(&site.world)?;
        if site.world.is_roots() {
            spawn.groups = vec![GROUP];
        }
        let payload = site.secrets.marker.clone();
        spawn.key = Some(Key { description: "watertight".into(), payload });
        Ok(())
    }
}

/// The environment that the ordinary user has anyway.
pub fn environment() -> Vec<(String, String)> {
    let tools = programs::tools().map_or_else(String::new, |_| format!("{TOOLS}/bin:"));
    let path = tools + &programs::PATH.join(":");
    let usual = [
        ("PATH", path.as_str()),
        ("HOME", HOME),
        ("USER", "agent"),
        ("LOGNAME", "agent"),
        ("LANG", "C.UTF-8"),
        ("TERM", "dumb"),
        ("XDG_RUNTIME_DIR", "/run/user/1777"),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1777/bus"),
        ("DOCKER_HOST", "unix:///run/docker.sock"),
        ("SSH_AUTH_SOCK", "/tmp/ssh-agent.sock"),
    ];
    usual.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// One open descriptor of each kind that a launcher has been seen to leave (catalogue D08), made on the host side.
fn planted_descriptors(world: &World) -> io::Result<Vec<(i32, OwnedFd)>> {
    let made: Vec<OwnedFd> = world.in_host_files(|| -> io::Result<Vec<OwnedFd>> {
        let (read, write) = pipe()?;
        let (pair, _other) = UnixStream::pair()?;
        let inet = socket(AddressFamily::Inet, SockType::Stream, SockFlag::empty(), None)?;
        Ok(vec![
            fs::File::open("/run/watertight-closed")?.into(),
            fs::File::open("/")?.into(),
            read,
            write,
            pair.into(),
            inet,
            TcpListener::bind("127.0.0.1:0")?.into(),
            UdpSocket::bind("127.0.0.1:0")?.into(),
            memfd_create(c"watertight", MFdFlags::empty())?,
            EventFd::from_flags(EfdFlags::empty())?.into(),
            fs::File::open("/proc/1/ns/net")?.into(),
            fs::File::open("/proc/1/ns/mnt")?.into(),
        ])
    })??;
    Ok(made.into_iter().enumerate().map(|(index, fd)| (FIRST + index as i32, fd)).collect())
}
