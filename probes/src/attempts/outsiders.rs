//! What lies beside the workload on the host: objects of IPC, keys, processes, terminals, devices, the kernel's own files.

use std::{
    ffi::CString,
    fs::OpenOptions,
    io::Write,
    os::{fd::AsFd, unix::fs::OpenOptionsExt},
};

use crate::{
    context::{Attempted, Context, Stop, found, refused, silent},
    observation::Facts,
    plan::{Access, IpcObject, KernelCall, TerminalWay},
    sys::{ipc, kernel, outsiders, terminal},
};

/// `Attempt::Ipc`.
pub fn open_ipc(context: &Context<'_>, object: &IpcObject) -> Attempted {
    let (call, opened) = match object {
        IpcObject::SharedMemory(key) => ("shmget", ipc::attach_shared_memory(*key)),
        IpcObject::Semaphores(key) => ("semget", ipc::find_semaphores(*key)),
        IpcObject::Messages(key) => ("msgget", ipc::find_messages(*key)),
        IpcObject::PosixMessages(name) => ("mq_open", ipc::open_posix_messages(&text(name)?)),
    };
    context.step(call);
    opened.map_err(refused(call))?;
    Ok(found(Facts::Granted))
}

/// `Attempt::Key`.
pub fn read_key(context: &Context<'_>, description: &str) -> Attempted {
    context.step("keyctl");
    ipc::read_key(&text(description)?).map_err(refused("keyctl"))?;
    Ok(found(Facts::Granted))
}

/// `Attempt::Process`.
pub fn process(context: &Context<'_>, pid: i32, access: Access) -> Attempted {
    let (call, granted) = match access {
        Access::Signal => ("kill", outsiders::may_signal(pid)),
        Access::Descriptor => ("pidfd_open", outsiders::open_pidfd(pid)),
        Access::Trace => ("ptrace", outsiders::trace(pid)),
        Access::Arguments => ("open", OpenOptions::new().read(true).open(format!("/proc/{pid}/cmdline")).map(drop)),
        Access::Environment => ("open", OpenOptions::new().read(true).open(format!("/proc/{pid}/environ")).map(drop)),
    };
    context.step(call);
    granted.map_err(refused(call))?;
    Ok(found(Facts::Granted))
}

/// `Attempt::Terminal`. What gets through is seen at the terminal's other end.
pub fn terminal(context: &Context<'_>, way: TerminalWay) -> Attempted {
    context.step("open");
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK);
    let mut tty = options.open("/dev/tty").map_err(refused("open"))?;
    let line = format!("{}\n", context.payload());
    let high_bit = match way {
        TerminalWay::Write => {
            context.step("write");
            tty.write_all(line.as_bytes()).map_err(refused("write"))?;
            return Ok(silent("write"));
        }
        TerminalWay::Inject => false,
        TerminalWay::InjectWithHighBit => true,
    };
    context.step("ioctl");
    for byte in line.bytes() {
        terminal::inject(tty.as_fd(), byte, high_bit).map_err(refused("ioctl"))?;
    }
    Ok(silent("ioctl"))
}

/// `Attempt::Open`: opened and closed, and never read or written.
pub fn open(context: &Context<'_>, path: &str, read: bool) -> Attempted {
    context.step("open");
    let mut options = OpenOptions::new();
    options.read(read).write(true).custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK);
    options.open(path).map_err(refused("open"))?;
    Ok(found(Facts::Granted))
}

/// `Attempt::Kernel`.
pub fn call(context: &Context<'_>, which: KernelCall) -> Attempted {
    let name = which.name();
    context.step(name);
    kernel::call(which).map_err(refused(name))?;
    Ok(found(Facts::Granted))
}

fn text(text: &str) -> Result<CString, Stop> {
    CString::new(text).map_err(|_| Stop::Broken("a name holds no NUL".into()))
}
