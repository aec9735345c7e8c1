//! A process that tries to outlive everything that started it. Only an alarm of its own ends it for certain.

use std::os::fd::AsFd;

use super::exchange;
use crate::{
    context::{Attempted, Context, Stop, found, refused},
    observation::Facts,
    plan::{Endpoint, Step},
    sys::{
        descriptors,
        memory::{Slot, Slots},
        poll, process, signals, socket,
    },
};

/// How long it stays where nothing ends it.
const LONGEST: u32 = 90;

/// `Attempt::Linger`: answers when the process is there, with its steps done.
pub fn start(context: &Context<'_>, comm: &str, holding: Option<&(Endpoint, Vec<Step>)>) -> Attempted {
    context.step("fork");
    let (said, say) = socket::pipe().map_err(refused("pipe2"))?;
    let slots = Slots::new(1).map_err(refused("mmap"))?;
    let between = process::spawn(|| {
        let lingering = process::own_session().and_then(|()| {
            process::spawn(|| {
                linger(context, comm, holding, slots.slot(0));
                0
            })
        });
        u8::from(lingering.is_err())
    })
    .map_err(refused("fork"))?;
    drop(say);
    process::wait_for(between).map_err(refused("waitpid"))?;
    // The other end closes when the process is there, or has ended without.
    context.step("holding");
    poll::wait(said.as_fd(), poll::READ, context.until)
        .map_err(refused("poll"))?
        .ok_or_else(|| Stop::TimedOut("holding".into()))?;
    let (_, told) =
        slots.slot(0).result().ok_or_else(|| Stop::Broken("the process ended before it was there".into()))?;
    match <[u8; 4]>::try_from(&told[..]) {
        Ok(pid) => Ok(found(Facts::Lingering { pid: i32::from_le_bytes(pid) })),
        Err(_) => Err(Stop::Broken(format!("what was to be held is not: {}", String::from_utf8_lossy(&told)))),
    }
}

/// The process itself. It gives up every descriptor but the connection that it holds, so that nobody who reads the
/// probe's output to its end waits for it.
fn linger(context: &Context<'_>, comm: &str, holding: Option<&(Endpoint, Vec<Step>)>, slot: &Slot) {
    signals::end_after(LONGEST);
    signals::ignore(&[libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2]);
    if process::own_session().is_err() {
        return;
    }
    process::set_name(comm);
    let mut inherited = descriptors::inherited();
    inherited.extend([0, 1, 2]);
    let held = match holding.map(|(to, steps)| exchange::perform(context, to, steps)) {
        None => None,
        Some(Ok((connection, exchange))) if exchange.stopped.is_none() => connection,
        Some(Ok((_, exchange))) => return tell(slot, exchange.stopped.unwrap_or_default().as_bytes()),
        Some(Err(stop)) => return tell(slot, stop.into_text().as_bytes()),
    };
    tell(slot, &process::own_pid().to_le_bytes());
    inherited.into_iter().for_each(process::close_inherited);
    loop {
        signals::pause();
        // Held up to here.
        std::hint::black_box(&held);
    }
}

fn tell(slot: &Slot, told: &[u8]) {
    slot.finish(0, told);
}
