//! Identity and privileges: of this process, a thread, and fork and exec descendants of it; and after a set-user-id exec.

use std::{
    ffi::CString,
    io,
    os::fd::{AsFd, OwnedFd},
    time::Instant,
};

use crate::{
    context::{Attempted, Context, Stop, absent, found, refused},
    identity::{IDENTITY_COMMAND, Identity},
    observation::{Facts, Privileges},
    program,
    sys::{self, descriptors, memory::Slots, poll, privileges, process, signals, socket},
};

/// `Attempt::Privileges`. What could not be started is not in the list.
pub fn look(context: &Context<'_>) -> Attempted {
    let mut of = vec![privileges::of_this_thread("self")];
    context.step("thread");
    let thread = std::thread::Builder::new().spawn(|| privileges::of_this_thread("thread"));
    of.extend(thread.ok().and_then(|thread| thread.join().ok()));
    context.step("fork");
    of.extend(of_a_fork());
    context.step("exec");
    of.extend(
        identity_by(context, || program::execute_self(&[IDENTITY_COMMAND])).ok().map(|identity| identity.privileges),
    );
    Ok(found(Facts::Privileges { of }))
}

fn of_a_fork() -> Option<Privileges> {
    let slots = Slots::new(1).ok()?;
    let child = process::spawn(|| {
        let told =
            serde_json::to_vec(&privileges::of_this_thread("fork")).is_ok_and(|told| slots.slot(0).finish(0, &told));
        u8::from(!told)
    });
    process::wait_for(child.ok()?).ok()?;
    let (_, told) = slots.slot(0).result()?;
    serde_json::from_slice(&told).ok()
}

/// `Attempt::SetUserId`.
pub fn set_user_id(context: &Context<'_>, path: &str) -> Attempted {
    context.step("execve");
    let program = CString::new(path).map_err(|_| Stop::Broken("a path holds no NUL".into()))?;
    let argument = CString::new(IDENTITY_COMMAND).map_err(|_| Stop::Broken("an argument holds no NUL".into()))?;
    let identity = identity_by(context, || process::execute(&program, std::slice::from_ref(&argument))).map_err(
        |stop| match stop {
            Stop::Refused("execve", errno @ (libc::ENOENT | libc::ENOTDIR)) => Stop::Absent(path.to_owned(), errno),
            other => other,
        },
    )?;
    Ok(found(Facts::Identity {
        ruid: identity.ruid,
        euid: identity.euid,
        no_new_privs: identity.no_new_privs,
        effective: identity.effective,
    }))
}

/// What a child that `execute` turns into another program says of itself.
fn identity_by(context: &Context<'_>, execute: impl Fn() -> io::Error) -> Result<Identity, Stop> {
    let (said, say) = socket::pipe().map_err(absent("a pipe"))?;
    let slots = Slots::new(1).map_err(absent("shared memory"))?;
    let child = process::spawn(|| {
        signals::end_after(10);
        if process::replace_standard(say.as_fd(), 1).is_ok() {
            let errno = sys::errno(&execute());
            slots.slot(0).finish(0, &errno.to_le_bytes());
        }
        127
    })
    .map_err(refused("fork"))?;
    drop(say);
    let line = read_line(said, context.until).map_err(refused("read"));
    process::wait_for(child).map_err(refused("waitpid"))?;
    if let Some(errno) = slots.slot(0).result().and_then(|(_, bytes)| Some(i32::from_le_bytes(bytes.try_into().ok()?)))
    {
        return Err(Stop::Refused("execve", errno));
    }
    serde_json::from_slice(&line?)
        .map_err(|error| Stop::Broken(format!("the executed program said no identity: {error}")))
}

fn read_line(from: OwnedFd, until: Instant) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    let mut buffer = [0; 4096];
    while !line.contains(&b'\n') && line.len() < 64 * 1024 && poll::wait(&from, poll::READ, until)?.is_some() {
        match descriptors::read(from.as_fd(), &mut buffer)? {
            0 => break,
            read => line.extend(&buffer[..read]),
        }
    }
    Ok(line)
}
