//! The digests of generated bodies, each computed once a process: a body of 32 MiB takes a while.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use watertight_probe::plan::pseudo_random_sha256;

static KNOWN: Mutex<BTreeMap<(u64, u32), String>> = Mutex::new(BTreeMap::new());

/// SHA-256 of the first `len` bytes of the generated body with this seed, as hexadecimal digits.
pub fn digest(len: u64, seed: u32) -> String {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry((len, seed)).or_insert_with(|| pseudo_random_sha256(seed, len)).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_body_has_its_own_digest_however_often_it_is_asked_for() {
        let ask = || [(4, 1), (5, 1), (4, 3)].map(|(len, seed)| digest(len, seed));
        let first = ask();
        assert_eq!(first, ask());
        assert_eq!(first[0], pseudo_random_sha256(1, 4));
        assert!(first[0] != first[1] && first[0] != first[2]);
    }
}
