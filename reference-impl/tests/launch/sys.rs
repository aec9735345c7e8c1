//! Raw system calls that a workload would try.

use std::io;

/// Makes a system call whose arguments are numbers; pointers are null or the address of static memory.
pub fn raw(number: i64, arguments: [u64; 4]) -> io::Result<i64> {
    let [a, b, c, d] = arguments;
    // SAFETY: the callers pass invalid or harmless arguments on purpose; no memory of this process is written.
    let result = unsafe { libc::syscall(number, a, b, c, d, 0u64, 0u64) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// getpid by the system call gate of i386.
#[cfg(target_arch = "x86_64")]
pub fn i386_getpid() -> i64 {
    let result: i64;
    // SAFETY: number 20 of i386 is getpid, which touches no memory; the gate keeps all other registers but r8 to r11.
    unsafe {
        std::arch::asm!("int 0x80", inlateout("rax") 20i64 => result, out("r8") _, out("r9") _, out("r10") _, out("r11") _);
    }
    result
}

/// Adds a key to the session keyring of the calling process.
pub fn plant_session_key(description: &std::ffi::CStr) -> io::Result<()> {
    const SESSION: i32 = -3;
    // SAFETY: type and description are NUL-terminated; the payload is 4 bytes.
    let key = unsafe {
        libc::syscall(libc::SYS_add_key, c"user".as_ptr(), description.as_ptr(), c"leak".as_ptr(), 4usize, SESSION)
    };
    if key < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Searches the session keyring.
pub fn find_session_key(description: &std::ffi::CStr) -> io::Result<()> {
    const SEARCH: i32 = 10;
    const SESSION: i32 = -3;
    // SAFETY: type and description are NUL-terminated strings.
    let key = unsafe { libc::syscall(libc::SYS_keyctl, SEARCH, SESSION, c"user".as_ptr(), description.as_ptr(), 0) };
    if key < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Makes a system call fail for this process and all that it executes.
pub fn forbid(call: i64, errno: u32) -> Result<(), seccompiler::Error> {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let rules = [(call, Vec::new())].into();
    let program: BpfProgram =
        SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno), arch)?.try_into()?;
    seccompiler::apply_filter(&program)
}
