//! Kernel interfaces that are asked for in their smallest form, and given back at once.

use std::{
    io,
    os::fd::{FromRawFd, OwnedFd},
};

use super::{check, uring::Ring};
use crate::plan::KernelCall;

/// Makes what the call makes, and closes it.
pub fn call(which: KernelCall) -> io::Result<()> {
    match which {
        KernelCall::IoUring => Ring::new().map(drop).map_err(|(_, error)| error),
        KernelCall::Userfaultfd => {
            /// Faults of user mode alone, which the kernel gives to everybody.
            const UFFD_USER_MODE_ONLY: libc::c_long = 1;
            // SAFETY: the call takes no pointer.
            descriptor(unsafe { libc::syscall(libc::SYS_userfaultfd, UFFD_USER_MODE_ONLY) })
        }
        KernelCall::Bpf => bpf(),
        KernelCall::PerfEvent => perf_event(),
        KernelCall::Keyctl => keyctl(),
    }
}

/// Closes a descriptor that the kernel just made.
fn descriptor(made: libc::c_long) -> io::Result<()> {
    let fd = check(made)?;
    // SAFETY: the kernel has just made it, for nobody else.
    drop(unsafe { OwnedFd::from_raw_fd(fd as libc::c_int) });
    Ok(())
}

/// A map of one element.
fn bpf() -> io::Result<()> {
    const BPF_MAP_CREATE: libc::c_long = 0;
    const BPF_MAP_TYPE_ARRAY: u32 = 2;
    // The first fields of `union bpf_attr`: type, key and value size, number of elements, flags.
    let map: [u32; 5] = [BPF_MAP_TYPE_ARRAY, 4, 4, 1, 0];
    // SAFETY: the structure is as long as is said, and the kernel takes what is left out for zero.
    descriptor(unsafe { libc::syscall(libc::SYS_bpf, BPF_MAP_CREATE, map.as_ptr(), size_of_val(&map)) })
}

/// The clock of this very process, in user mode alone.
fn perf_event() -> io::Result<()> {
    const PERF_TYPE_SOFTWARE: u32 = 1;
    const PERF_COUNT_SW_CPU_CLOCK: u64 = 0;
    /// `exclude_kernel` and `exclude_hv`.
    const USER_ONLY: u64 = 1 << 5 | 1 << 6;
    /// `struct perf_event_attr`, version 0.
    #[repr(C)]
    struct Attributes {
        kind: u32,
        size: u32,
        config: u64,
        period: u64,
        sample_type: u64,
        read_format: u64,
        flags: u64,
        rest: [u64; 2],
    }
    let attributes = Attributes {
        kind: PERF_TYPE_SOFTWARE,
        size: size_of::<Attributes>() as u32,
        config: PERF_COUNT_SW_CPU_CLOCK,
        period: 0,
        sample_type: 0,
        read_format: 0,
        flags: USER_ONLY,
        rest: [0; 2],
    };
    // SAFETY: the structure is of the size that it says.
    descriptor(unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, -1, 0) })
}

/// What the kernel's keyrings can do, which touches none of them (Linux 5.2).
fn keyctl() -> io::Result<()> {
    const KEYCTL_CAPABILITIES: libc::c_long = 31;
    let mut able = [0u8; 8];
    // SAFETY: the buffer is writable and as long as is said.
    check(unsafe { libc::syscall(libc::SYS_keyctl, KEYCTL_CAPABILITIES, able.as_mut_ptr(), able.len()) }).map(drop)
}
