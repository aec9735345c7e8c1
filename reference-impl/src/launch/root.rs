//! The file system of a sandbox: the host's root, read-only, with everything private or risky covered.
//!
//! The sandbox's mount namespace is a copy of its own, so attributes are set and covers mounted in place; nothing can
//! be uncovered again without a capability in the namespace, and none is left.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};

use super::dev::Devices;
use super::error::{LaunchError, Step, require};
use crate::guards::Guards;
use crate::sys::mount::{Attributes, attach, clone_tree, set_attributes, set_tree_attributes};

pub(crate) const HOME: &str = "/run/watertight/home";
pub(crate) const BEARER_FILE: &str = "/run/watertight/bearer";
const HOST_RUN: &str = "/run/watertight/host";
const RESOLVER: &str = "/run/watertight/resolv.conf";

/// A path of the host that the sandbox sees.
#[derive(Clone, Debug)]
pub(crate) struct Exposure {
    pub option: &'static str,
    pub path: PathBuf,
    pub writable: bool,
}

/// What the file system of a sandbox is made from.
#[derive(Debug)]
pub(crate) struct View {
    /// Parents before children.
    pub exposures: Vec<Exposure>,
    pub homes: Vec<PathBuf>,
    /// Listening sockets in directories that stay visible.
    pub sockets: Vec<PathBuf>,
    pub key: PathBuf,
    pub bearer: String,
}

/// The directories that get a file system of their own and must not be exposed from the host.
pub(crate) fn covered_directories<'a>() -> impl Iterator<Item = &'a Path> {
    ["/proc", "/sys", "/dev", "/run", "/tmp", "/var/tmp"].into_iter().map(Path::new)
}

impl View {
    /// Turns the calling process's mount namespace into the sandbox's view.
    pub(crate) fn mount<G: Guards>(&self) -> Result<(), LaunchError> {
        if G::makes_mounts_private() {
            let private = Attributes { private: true, ..Attributes::default() };
            let advice = "; Linux 5.12 or newer is needed";
            require::<G>(set_attributes(Path::new("/"), private, true).step_or("make mounts private", advice))?;
        }
        // Taken before anything is covered: afterwards the sources cannot be reached by path.
        let exposed = self.exposures.iter().map(|exposure| exposure.take::<G>()).collect::<Result<Vec<_>, _>>()?;
        let devices = Devices::take()?;

        let attributes = Attributes {
            read_only: G::makes_root_read_only(),
            no_suid: G::forbids_setuid_and_devices(),
            no_dev: G::forbids_setuid_and_devices(),
            private: false,
        };
        require::<G>(set_attributes(Path::new("/"), attributes, true).step("make the root read-only"))?;

        self.cover::<G>()?;
        if G::mounts_fresh_proc() {
            require::<G>(mount_proc::<G>())?;
        }
        if G::gives_minimal_dev() {
            devices.mount()?;
        }
        self.write_own_files()?;
        for (exposure, tree) in self.exposures.iter().zip(exposed) {
            attach_at(tree, &exposure.path).step(format!("expose {}", exposure.path.display()))?;
        }
        if G::neutralises_resolver() {
            require::<G>(neutralise_resolver())?;
        }
        if G::hides_key_file() {
            require::<G>(hide(&self.key).step("hide the provider key file"))?;
        }
        for socket in &self.sockets {
            require::<G>(hide(socket).step(format!("hide the socket {}", socket.display())))?;
        }
        Ok(())
    }

    fn cover<G: Guards>(&self) -> Result<(), LaunchError> {
        if G::covers_temporary_directories() {
            cover("/tmp", "mode=1777")?;
            cover("/var/tmp", "mode=1777")?;
        }
        let shown = if G::covers_run() { None } else { Some(clone_tree(Path::new("/run")).step("take /run")?) };
        cover("/run", "mode=755")?;
        if let Some(shown) = shown {
            show_run(shown).step("show /run")?;
        } else {
            // Usually a link to /run, which needs no cover of its own.
            if fs::symlink_metadata("/var/run").is_ok_and(|metadata| metadata.is_dir()) {
                cover("/var/run", "mode=755")?;
            }
        }
        if G::covers_homes() {
            cover("/home", "mode=755")?;
            cover("/root", "mode=700")?;
            for home in &self.homes {
                if home.starts_with("/home") {
                    fs::DirBuilder::new().recursive(true).mode(0o700).create(home).step("make an empty home")?;
                } else if !home.starts_with("/root") {
                    cover(home, "mode=700")?;
                }
            }
        }
        if G::covers_sys() {
            cover("/sys", "mode=755,nr_inodes=1")?;
            set_attributes(Path::new("/sys"), Attributes { read_only: true, ..Attributes::default() }, false)
                .step("make the empty /sys read-only")?;
        }
        Ok(())
    }

    fn write_own_files(&self) -> Result<(), LaunchError> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(HOME).step(format!("make {HOME}"))?;
        let write = |path: &str, text: &str| {
            let mut file = fs::File::options().write(true).create_new(true).mode(0o600).open(path)?;
            io::Write::write_all(&mut file, text.as_bytes())
        };
        write(BEARER_FILE, &self.bearer).step(format!("write {BEARER_FILE}"))?;
        write(RESOLVER, "# No name service can be reached from here.\noptions timeout:1 attempts:1\n")
            .step(format!("write {RESOLVER}"))
    }
}

impl Exposure {
    fn take<G: Guards>(&self) -> Result<OwnedFd, LaunchError> {
        let attributes = Attributes {
            read_only: !self.writable,
            no_suid: G::forbids_setuid_and_devices(),
            no_dev: G::forbids_setuid_and_devices(),
            private: false,
        };
        let tree = clone_tree(&self.path).step(format!("take {}", self.path.display()))?;
        set_tree_attributes(&tree, attributes).step(format!("restrict {}", self.path.display()))?;
        Ok(tree)
    }
}

/// Mounts an empty tmpfs on a directory of the host, where there is one.
fn cover(path: impl AsRef<Path>, options: &str) -> Result<(), LaunchError> {
    let path = path.as_ref();
    match mount(Some("tmpfs"), path, Some("tmpfs"), MsFlags::MS_NOSUID | MsFlags::MS_NODEV, Some(options)) {
        // Without the directory, or without a way to it, there is nothing to cover.
        Ok(()) | Err(nix::Error::ENOENT | nix::Error::ENOTDIR | nix::Error::EACCES) => Ok(()),
        Err(error) => Err(error).step(format!("cover {}", path.display())),
    }
}

/// What `covers_run` keeps away: everything in the host's /run by its usual name, beside our own directory there.
fn show_run(host: OwnedFd) -> io::Result<()> {
    let place = Path::new(HOST_RUN);
    fs::create_dir_all(place)?;
    attach(host, place)?;
    for entry in fs::read_dir(place)? {
        let name = entry?.file_name();
        if name != "watertight" {
            symlink(place.join(&name), Path::new("/run").join(name))?;
        }
    }
    Ok(())
}

fn mount_proc<G: Guards>() -> Result<(), LaunchError> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    let options = if G::hides_untraceable_processes() { Some("hidepid=2") } else { None };
    mount(Some("proc"), "/proc", Some("proc"), flags, options).step_or(
        "mount a fresh /proc",
        "; where the /proc around the launcher is itself masked, as in many containers, the kernel forbids it",
    )
}

/// Attaches a tree at a path that may have to be made in a cover first.
fn attach_at(tree: OwnedFd, path: &Path) -> io::Result<()> {
    match attach(&tree, path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        result => return result,
    }
    let source_is_directory = fs::File::from(tree.try_clone()?).metadata()?.is_dir();
    if source_is_directory {
        fs::create_dir_all(path)?;
    } else {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::File::create(path)?;
    }
    attach(&tree, path)
}

fn neutralise_resolver() -> Result<(), LaunchError> {
    let tree = clone_tree(Path::new(RESOLVER)).step(format!("take {RESOLVER}"))?;
    match attach(tree, Path::new("/etc/resolv.conf")) {
        // Absent, or a link to something that is covered.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result.step("cover /etc/resolv.conf"),
    }
}

/// Covers a file that is still visible with the null device.
fn hide(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        // Covered already, or out of this user's reach. No mount is taken in vain: to give back one that was never
        // attached makes the kernel wait for all its processors.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR | libc::EACCES)) => Ok(()),
        Err(error) => Err(error),
        Ok(_) => attach(clone_tree(Path::new("/dev/null"))?, path),
    }
}
