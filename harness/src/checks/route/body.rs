//! The digests of generated bodies, each computed once a process: a body of 32 MiB takes a while.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use sha2::{Digest, Sha256};
use watertight_probe::plan::pseudo_random;

static KNOWN: Mutex<BTreeMap<(u64, u32), String>> = Mutex::new(BTreeMap::new());

/// SHA-256 of the first `len` bytes of the generated body with this seed, as hexadecimal digits.
pub fn digest(len: u64, seed: u32) -> String {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry((len, seed)).or_insert_with(|| compute(len, seed)).clone()
}

fn compute(len: u64, seed: u32) -> String {
    let body: Vec<u8> = pseudo_random(seed).take(len as usize).collect();
    hex::encode(Sha256::digest(&body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_body_has_its_own_digest_however_often_it_is_asked_for() {
        let ask = || [(4, 1), (5, 1), (4, 3)].map(|(len, seed)| digest(len, seed));
        let first = ask();
        assert_eq!(first, ask());
        assert_eq!(first[0], compute(4, 1));
        assert!(first[0] != first[1] && first[0] != first[2]);
    }
}
