//! New namespaces, what can be done inside them, and mounts.

use std::{ffi::CString, fs::File, io, net::SocketAddr, os::unix::fs::MetadataExt, path::Path};

use super::{answer, net, raw};
use crate::{
    context::{Attempted, Context, Stop, found, refused},
    observation::{Facts, Outcome},
    sys::{self, link, memory::Slots, namespaces, process, socket},
};

/// Which namespaces, and by which call.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub user: bool,
    pub network: bool,
    pub mount: bool,
    pub by_clone3: bool,
}

impl Wanted {
    fn flags(self) -> i32 {
        let flag = |wanted, flag| if wanted { flag } else { 0 };
        flag(self.user, libc::CLONE_NEWUSER)
            | flag(self.network, libc::CLONE_NEWNET)
            | flag(self.mount, libc::CLONE_NEWNS)
    }
}

/// `Attempt::NewNamespaces`.
pub fn make(context: &Context<'_>, wanted: Wanted, reach: SocketAddr) -> Attempted {
    if !wanted.by_clone3 {
        context.step("unshare");
        namespaces::unshare(wanted.flags()).map_err(refused("unshare"))?;
        return Ok(found(try_inside(context, wanted, reach)));
    }
    context.step("clone3");
    let slots = Slots::new(1).map_err(refused("mmap"))?;
    let child = process::spawn_by_clone3(wanted.flags(), || {
        let told =
            serde_json::to_vec(&try_inside(context, wanted, reach)).is_ok_and(|told| slots.slot(0).finish(0, &told));
        u8::from(!told)
    })
    .map_err(refused("clone3"))?;
    process::wait_for(child).map_err(refused("waitpid"))?;
    let facts = slots.slot(0).result().and_then(|(_, told)| serde_json::from_slice(&told).ok());
    facts.map(found).ok_or_else(|| Stop::Broken("the process in the new namespaces said nothing".into()))
}

/// What a workload would do next. Each try says the errno that it ended with, 0 where it worked.
fn try_inside(context: &Context<'_>, wanted: Wanted, reach: SocketAddr) -> Facts {
    let mut tries = Vec::new();
    if wanted.mount {
        // Private first: a mount that could be seen elsewhere is not made.
        tries.push((
            "mount".to_owned(),
            errno(&namespaces::make_mounts_private().and_then(|()| namespaces::mount_tmpfs(c"/"))),
        ));
    }
    if wanted.network {
        tries.push(("lo up".to_owned(), errno(&raise_loopback())));
    }
    let (mut reached, errno_of_connect) = try_to_reach(context, reach);
    tries.push(("connect".to_owned(), errno_of_connect));
    tries.push(("packet".to_owned(), outcome_errno(&raw::frames(context))));
    let joined = join_first_process();
    tries.push(("setns".to_owned(), errno(&joined)));
    // Where the first process is the machine's own, this process now stands outside every world: it does nothing there.
    if joined.is_ok() && !stands_outside(context) {
        let (again, errno) = try_to_reach(context, reach);
        reached |= again;
        tries.push(("connect after setns".to_owned(), errno));
        tries.push(("packet after setns".to_owned(), outcome_errno(&raw::frames(context))));
    }
    Facts::Namespaces { reached, tries }
}

fn raise_loopback() -> io::Result<()> {
    let socket = socket::socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
    link::set_up(&socket, "lo", true).map_err(|(_, error)| error)
}

fn try_to_reach(context: &Context<'_>, reach: SocketAddr) -> (bool, i32) {
    let told = net::tcp(context, reach).and_then(|stream| answer::say_and_hear(context, stream));
    (matches!(told, Ok(Outcome::Heard { .. } | Outcome::Silent { .. })), outcome_errno(&told))
}

/// Whether this process's network namespace is, or may be, the machine's own.
pub fn stands_outside(context: &Context<'_>) -> bool {
    let socket = socket::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0);
    socket.and_then(socket::namespace_cookie).map_or(true, |cookie| cookie == context.machine_netns)
}

/// Joins the network namespace of the first process that is seen here.
pub fn join_first_process() -> io::Result<()> {
    namespaces::join(File::open("/proc/1/ns/net")?)
}

fn errno(result: &io::Result<()>) -> i32 {
    result.as_ref().err().map_or(0, |error| sys::errno(error).max(1))
}

fn outcome_errno(result: &Attempted) -> i32 {
    match result {
        Ok(_) => 0,
        Err(Stop::Refused(_, errno) | Stop::Absent(_, errno)) => *errno,
        Err(Stop::TimedOut(_)) => libc::ETIMEDOUT,
        Err(Stop::Broken(_)) => libc::EIO,
    }
}

/// `Attempt::Mount`: only where this is known not to be the machine's own mount namespace. Unmounts again.
pub fn mount(context: &Context<'_>, over: &str, new_api: bool) -> Attempted {
    refuse_machine(context)?;
    context.step("mount");
    let place = CString::new(over).map_err(|_| Stop::Broken("a path holds no NUL".into()))?;
    if new_api {
        namespaces::mount_tmpfs_by_parts(&place).map_err(|(call, error)| Stop::Refused(call, sys::errno(&error)))?;
    } else {
        namespaces::mount_tmpfs(&place).map_err(refused("mount"))?;
    }
    namespaces::unmount(&place)
        .map_err(|error| Stop::Broken(format!("mounted over {over} and could not unmount: {error}")))?;
    Ok(found(Facts::Mounted))
}

fn refuse_machine(context: &Context<'_>) -> Result<(), Stop> {
    let Some(machine) = context.machine_mnt else {
        return Err(Stop::Absent("the plan's machine_mnt".into(), 0));
    };
    // Without /proc this is a root that someone made: the machine's has one.
    match Path::new("/proc/self/ns/mnt").metadata() {
        Ok(own) if own.ino() == machine => Err(Stop::Absent("a mount namespace other than the machine's".into(), 0)),
        Ok(_) | Err(_) => Ok(()),
    }
}
