//! io_uring, one operation at a time: a way to the network that filters of `socket` and `connect` do not see.

use std::{
    io,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    ptr,
    sync::atomic::{AtomicU32, Ordering},
    time::Instant,
};

use super::{check, socket::Address};

const ENTRIES: u32 = 4;
const OP_CONNECT: u8 = 16;
const OP_SEND: u8 = 26;
const OP_RECV: u8 = 27;
const OP_SOCKET: u8 = 45;
const OFFSET_ENTRIES: libc::off_t = 0x1000_0000;
const ENTER_GETEVENTS: u32 = 1;
const ENTER_EXT_ARG: u32 = 8;
const FEATURE_SINGLE_MAP: u32 = 1;

/// `struct io_uring_params`: what is asked, and where the kernel put the rings' parts.
#[repr(C)]
#[derive(Default)]
struct Parameters {
    sq_entries: u32,
    cq_entries: u32,
    flags: u32,
    thread: [u32; 2],
    features: u32,
    reserved: [u32; 4],
    sq: Offsets,
    cq: Offsets,
}

/// `struct io_sqring_offsets` and `struct io_cqring_offsets`; the last two differ: flags and dropped and array, or overflow and cqes and flags.
#[repr(C)]
#[derive(Default)]
struct Offsets {
    head: u32,
    tail: u32,
    mask: u32,
    entries: u32,
    rest: [u32; 4],
    address: u64,
}

/// `struct io_uring_sqe`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Submission {
    operation: u8,
    flags: u8,
    priority: u16,
    fd: i32,
    offset: u64,
    address: u64,
    len: u32,
    operation_flags: u32,
    user_data: u64,
    rest: [u64; 3],
}

/// `struct io_uring_getevents_arg`.
#[repr(C)]
struct Wait {
    mask: u64,
    mask_size: u32,
    padding: u32,
    time: u64,
}

/// A ring. Its mappings live as long as the process, which is one attempt.
pub struct Ring {
    fd: OwnedFd,
    ring: *mut u8,
    entries: *mut Submission,
    parameters: Parameters,
}

impl Ring {
    /// An error says which call it was.
    pub fn new() -> Result<Self, (&'static str, io::Error)> {
        let mut parameters = Parameters::default();
        // SAFETY: the parameters are as the kernel lays them out and it fills them; a new descriptor is ours.
        let fd = unsafe {
            check(libc::syscall(libc::SYS_io_uring_setup, ENTRIES, &raw mut parameters))
                .map(|fd| OwnedFd::from_raw_fd(fd as i32))
                .map_err(|error| ("io_uring_setup", error))?
        };
        if parameters.features & FEATURE_SINGLE_MAP == 0 {
            return Err(("io_uring_setup", io::Error::from_raw_os_error(libc::ENOSYS)));
        }
        let submissions = parameters.sq.rest[2] as usize + parameters.sq_entries as usize * 4;
        let completions = parameters.cq.rest[1] as usize + parameters.cq_entries as usize * 16;
        let ring = map(&fd, submissions.max(completions), 0)?;
        let entries = map(&fd, parameters.sq_entries as usize * size_of::<Submission>(), OFFSET_ENTRIES)?.cast();
        Ok(Self { fd, ring, entries, parameters })
    }

    /// A socket made by the ring.
    pub fn socket(&mut self, family: i32, kind: i32, protocol: i32) -> io::Result<OwnedFd> {
        let submission = Submission {
            operation: OP_SOCKET,
            fd: family,
            offset: kind as u64,
            len: protocol as u32,
            ..Submission::default()
        };
        let fd = self.run(submission, None)?.ok_or(io::ErrorKind::TimedOut)?;
        // SAFETY: the operation answers with a new descriptor, which is ours.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    /// `None` where `until` passed first.
    pub fn connect(&mut self, socket: &OwnedFd, to: Address, until: Instant) -> io::Result<Option<()>> {
        // The kernel may read it after a wait that timed out, so it is never freed.
        let to = Box::leak(Box::new(to));
        let (address, len) = to.as_raw();
        let submission = Submission {
            operation: OP_CONNECT,
            fd: socket.as_raw_fd(),
            address: address as u64,
            offset: u64::from(len),
            ..Submission::default()
        };
        Ok(self.run(submission, Some(until))?.map(drop))
    }

    pub fn send(&mut self, socket: &OwnedFd, bytes: &[u8], until: Instant) -> io::Result<Option<usize>> {
        let bytes = Vec::leak(bytes.to_vec());
        let submission = Submission {
            operation: OP_SEND,
            fd: socket.as_raw_fd(),
            address: bytes.as_ptr() as u64,
            len: bytes.len() as u32,
            operation_flags: libc::MSG_NOSIGNAL as u32,
            ..Submission::default()
        };
        Ok(self.run(submission, Some(until))?.map(|sent| sent as usize))
    }

    pub fn receive(&mut self, socket: &OwnedFd, most: usize, until: Instant) -> io::Result<Option<Vec<u8>>> {
        let buffer = Vec::leak(vec![0u8; most]);
        let submission = Submission {
            operation: OP_RECV,
            fd: socket.as_raw_fd(),
            address: buffer.as_mut_ptr() as u64,
            len: buffer.len() as u32,
            ..Submission::default()
        };
        Ok(self.run(submission, Some(until))?.map(|read| buffer[..read as usize].to_vec()))
    }

    /// Submits one operation and waits for its result.
    fn run(&mut self, submission: Submission, until: Option<Instant>) -> io::Result<Option<i32>> {
        let sq = &self.parameters.sq;
        // SAFETY: the offsets are the kernel's for this mapping; only this thread moves the submission tail, by one, into a
        // ring that is empty since every earlier operation has completed or ended the attempt.
        unsafe {
            let tail = self.word(sq.tail);
            let index = tail.load(Ordering::Relaxed) & self.word(sq.mask).load(Ordering::Relaxed);
            self.entries.add(index as usize).write(submission);
            self.word(sq.rest[2] + index * 4).store(index, Ordering::Relaxed);
            tail.fetch_add(1, Ordering::Release);
        }
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let time = left.map(|left| [left.as_secs() as i64, i64::from(left.subsec_nanos())]);
        let wait =
            Wait { mask: 0, mask_size: 0, padding: 0, time: time.as_ref().map_or(0, |time| time.as_ptr() as u64) };
        // SAFETY: the wait and the time that it points to live across the call.
        let entered = unsafe {
            let flags = ENTER_GETEVENTS | ENTER_EXT_ARG;
            libc::syscall(
                libc::SYS_io_uring_enter,
                self.fd.as_raw_fd(),
                1,
                1,
                flags,
                &raw const wait,
                size_of::<Wait>(),
            )
        };
        match check(entered) {
            Ok(_) => {}
            Err(error) if error.raw_os_error() == Some(libc::ETIME) => return Ok(None),
            Err(error) => return Err(error),
        }
        self.completed()
    }

    fn completed(&self) -> io::Result<Option<i32>> {
        let cq = &self.parameters.cq;
        // SAFETY: as in `run`; an entry is read only where the kernel's tail says that it is there.
        let result = unsafe {
            let head = self.word(cq.head);
            let at = head.load(Ordering::Relaxed);
            if self.word(cq.tail).load(Ordering::Acquire) == at {
                return Ok(None);
            }
            let index = at & self.word(cq.mask).load(Ordering::Relaxed);
            // `struct io_uring_cqe`: user data, then the result.
            let result = self.word(cq.rest[1] + index * 16 + 8).load(Ordering::Relaxed) as i32;
            head.store(at.wrapping_add(1), Ordering::Release);
            result
        };
        if result < 0 { Err(io::Error::from_raw_os_error(-result)) } else { Ok(Some(result)) }
    }

    /// # Safety
    /// `offset` must be a word's place in the ring's mapping.
    unsafe fn word(&self, offset: u32) -> &AtomicU32 {
        // SAFETY: the caller says so; the mapping is page-aligned, shared with the kernel and never unmapped.
        unsafe { AtomicU32::from_ptr(self.ring.add(offset as usize).cast()) }
    }
}

fn map(fd: &OwnedFd, len: usize, offset: libc::off_t) -> Result<*mut u8, (&'static str, io::Error)> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
    let address = unsafe { libc::mmap(ptr::null_mut(), len, access, libc::MAP_SHARED, fd.as_raw_fd(), offset) };
    if address == libc::MAP_FAILED { Err(("mmap", io::Error::last_os_error())) } else { Ok(address.cast()) }
}
