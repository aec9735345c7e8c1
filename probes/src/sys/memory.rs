//! Memory that a forked child and its parent share: one slot an attempt, with no descriptor and no pipe.

use std::{
    io, ptr,
    ptr::NonNull,
    sync::atomic::{
        AtomicU8, AtomicU32, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
};

/// Bytes of a result.
pub const PAYLOAD: usize = 8192 - 64;
const STEP: usize = 36;

const BEGUN: u32 = 1;
const FINISHED: u32 = 2;

/// What a child tells its parent. All of it is atomic, so that reading what a dying child half wrote is no undefined behaviour.
#[repr(C)]
pub struct Slot {
    state: AtomicU32,
    len: AtomicU32,
    micros: AtomicU64,
    step_len: AtomicU32,
    step: [AtomicU8; STEP],
    payload: [AtomicU8; PAYLOAD],
}

impl Slot {
    pub fn begin(&self) {
        self.state.store(BEGUN, Release);
    }

    pub fn begun(&self) -> bool {
        self.state.load(Acquire) >= BEGUN
    }

    /// Says what the child is about to wait for.
    pub fn note(&self, step: &str) {
        let bytes = &step.as_bytes()[..step.len().min(STEP)];
        self.step_len.store(0, Release);
        bytes.iter().zip(&self.step).for_each(|(byte, cell)| cell.store(*byte, Relaxed));
        self.step_len.store(bytes.len() as u32, Release);
    }

    pub fn step(&self) -> String {
        let len = (self.step_len.load(Acquire) as usize).min(STEP);
        self.step[..len].iter().map(|cell| char::from(cell.load(Relaxed))).filter(char::is_ascii).collect()
    }

    /// Hands the result over. `false` where it is longer than [`PAYLOAD`].
    pub fn finish(&self, micros: u64, result: &[u8]) -> bool {
        if result.len() > PAYLOAD {
            return false;
        }
        result.iter().zip(&self.payload).for_each(|(byte, cell)| cell.store(*byte, Relaxed));
        self.len.store(result.len() as u32, Relaxed);
        self.micros.store(micros, Relaxed);
        self.state.store(FINISHED, Release);
        true
    }

    /// The result and the microseconds it took, where the child came so far.
    pub fn result(&self) -> Option<(u64, Vec<u8>)> {
        if self.state.load(Acquire) != FINISHED {
            return None;
        }
        let len = (self.len.load(Relaxed) as usize).min(PAYLOAD);
        Some((self.micros.load(Relaxed), self.payload[..len].iter().map(|cell| cell.load(Relaxed)).collect()))
    }
}

/// A shared anonymous mapping of slots.
pub struct Slots {
    first: NonNull<Slot>,
    count: usize,
}

impl Slots {
    pub fn new(count: usize) -> io::Result<Self> {
        let count = count.max(1);
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches no memory of ours.
        let address = unsafe {
            libc::mmap(
                ptr::null_mut(),
                count * size_of::<Slot>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let first = NonNull::new(address.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { first, count })
    }

    pub fn slot(&self, index: usize) -> &Slot {
        let index = index.min(self.count - 1);
        // SAFETY: the mapping is page-aligned, zeroed (a valid state of every atomic), `count` slots long and lives as long as `self`.
        unsafe { self.first.add(index).as_ref() }
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length, and no `&Slot` outlives `self`.
        unsafe { libc::munmap(self.first.as_ptr().cast(), self.count * size_of::<Slot>()) };
    }
}
