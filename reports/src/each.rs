//! The same thing done with each of many, on several threads.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Does `one` with each of `all`, begun in their order and at most `jobs` at once. What came of each, in their order.
pub fn each<T: Sync, R: Send>(all: &[T], jobs: usize, one: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let came: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(all.len()));
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(each) = all.get(index) else { return };
            let came_of_it = one(each);
            // No thread panics with the lock: what one does outside of it ends them all.
            came.lock().unwrap_or_else(PoisonError::into_inner).push((index, came_of_it));
        }
    };
    thread::scope(|scope| {
        for _ in 1..jobs.clamp(1, all.len().max(1)) {
            scope.spawn(work);
        }
        work();
    });
    let mut came = came.into_inner().unwrap_or_else(PoisonError::into_inner);
    came.sort_by_key(|(index, _)| *index);
    came.into_iter().map(|(_, one)| one).collect()
}

/// How many at once for what never waits: as many as this process has processors.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_of_each_comes_back_in_their_order_however_many_work() {
        let all: Vec<u32> = (0..100).collect();
        for jobs in [0, 1, 7, 1_000] {
            assert_eq!(each(&all, jobs, |number| number * 2), all.iter().map(|number| number * 2).collect::<Vec<_>>());
        }
        assert!(each(&[] as &[u32], 3, |number| *number).is_empty());
    }

    #[test]
    fn as_many_work_at_once_as_was_said() {
        let together = std::sync::Barrier::new(3);
        assert_eq!(each(&[1, 2, 3], 3, |number| (together.wait(), *number).1), [1, 2, 3]);
    }
}
