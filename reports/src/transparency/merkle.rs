//! Merkle trees of RFC 6962, section 2.1: roots, and proofs that a leaf is in a tree or that a tree continues another.

use sha2::{Digest as _, Sha256};

use crate::signing::digest::Digest;

/// Hash of a leaf. Leaves and nodes are hashed apart, so that none passes for the other.
pub fn leaf(data: impl AsRef<[u8]>) -> Digest {
    Digest::from_bytes(Sha256::new().chain_update([0]).chain_update(data).finalize().into())
}

fn node(left: Digest, right: Digest) -> Digest {
    let hash = Sha256::new().chain_update([1]).chain_update(left.as_bytes()).chain_update(right.as_bytes());
    Digest::from_bytes(hash.finalize().into())
}

/// Root of the tree with these leaves.
pub fn root(leaves: &[Digest]) -> Digest {
    match leaves {
        [] => Digest::of(b""),
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(split(leaves.len()));
            node(root(left), root(right))
        }
    }
}

/// Proof that the leaf with this index is in the tree (an audit path, leaf to root); nothing where there is none.
pub fn inclusion_proof(leaves: &[Digest], index: usize) -> Option<Vec<Digest>> {
    if index >= leaves.len() {
        return None;
    }
    let mut proof = vec![];
    include(leaves, index, &mut proof);
    Some(proof)
}

fn include(leaves: &[Digest], index: usize, proof: &mut Vec<Digest>) {
    if leaves.len() < 2 {
        return;
    }
    let (left, right) = leaves.split_at(split(leaves.len()));
    if index < left.len() {
        include(left, index, proof);
        proof.push(root(right));
    } else {
        include(right, index - left.len(), proof);
        proof.push(root(left));
    }
}

/// Proof that the tree continues the one of its first `old` leaves; nothing where it has fewer, or `old` is zero: every
/// tree continues the empty one.
pub fn consistency_proof(leaves: &[Digest], old: usize) -> Option<Vec<Digest>> {
    if old == 0 || old > leaves.len() {
        return None;
    }
    let mut proof = vec![];
    continued(leaves, old, true, &mut proof);
    Some(proof)
}

/// `known`: the verifier has the root of these very leaves, since they are the old tree.
fn continued(leaves: &[Digest], old: usize, known: bool, proof: &mut Vec<Digest>) {
    if old == leaves.len() {
        if !known {
            proof.push(root(leaves));
        }
        return;
    }
    let (left, right) = leaves.split_at(split(leaves.len()));
    if old <= left.len() {
        continued(left, old, known, proof);
        proof.push(root(right));
    } else {
        continued(right, old - left.len(), false, proof);
        proof.push(root(left));
    }
}

/// Whether the proof shows the leaf at this index of the tree (RFC 9162, section 2.1.3.2).
pub fn includes(leaf: Digest, index: u64, size: u64, proof: &[Digest], root: Digest) -> bool {
    if index >= size {
        return false;
    }
    let (mut at, mut last, mut hash) = (index, size - 1, leaf);
    for sibling in proof {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            hash = node(*sibling, hash);
            rise(&mut at, &mut last);
        } else {
            hash = node(hash, *sibling);
        }
        at >>= 1;
        last >>= 1;
    }
    last == 0 && hash == root
}

/// Whether the proof shows that the new tree continues the old one (RFC 9162, section 2.1.4.2).
pub fn continues(old: (u64, Digest), new: (u64, Digest), proof: &[Digest]) -> bool {
    let ((old_size, old_root), (new_size, new_root)) = (old, new);
    if old_size == new_size {
        return proof.is_empty() && old_root == new_root;
    }
    if old_size == 0 || old_size > new_size {
        return false;
    }
    // A whole tree of its own is the first node of the path, and the verifier has it.
    let (first, rest) = match proof {
        _ if old_size.is_power_of_two() => (old_root, proof),
        [first, rest @ ..] => (*first, rest),
        [] => return false,
    };
    let (mut at, mut last) = (old_size - 1, new_size - 1);
    while at & 1 == 1 {
        at >>= 1;
        last >>= 1;
    }
    let (mut old_hash, mut new_hash) = (first, first);
    for sibling in rest {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            old_hash = node(*sibling, old_hash);
            new_hash = node(*sibling, new_hash);
            rise(&mut at, &mut last);
        } else {
            new_hash = node(new_hash, *sibling);
        }
        at >>= 1;
        last >>= 1;
    }
    last == 0 && old_hash == old_root && new_hash == new_root
}

/// A node without a right neighbour moves up unchanged.
fn rise(at: &mut u64, last: &mut u64) {
    while *at & 1 == 0 && *at != 0 {
        *at >>= 1;
        *last >>= 1;
    }
}

/// The largest power of two below `size`, which is at least 2.
fn split(size: usize) -> usize {
    size.next_power_of_two() / 2
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The leaves that implementations of Certificate Transparency are tested with, and the roots of the first 1 to 8.
    const LEAVES: [&str; 8] =
        ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
    const ROOTS: [&str; 8] = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];

    fn known() -> Vec<Digest> {
        LEAVES.map(|data| leaf(hex::decode(data).expect("hexadecimal"))).to_vec()
    }

    fn digests(texts: &[&str]) -> Vec<Digest> {
        texts.iter().map(|text| text.parse().expect("a digest")).collect()
    }

    #[test]
    fn roots_are_those_of_certificate_transparency() {
        assert_eq!(root(&[]).to_string(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        for (size, expected) in (1..).zip(ROOTS) {
            assert_eq!(root(&known()[..size]).to_string(), expected, "{size}");
        }
    }

    #[test]
    fn inclusion_proofs_are_those_of_certificate_transparency() {
        let proof = inclusion_proof(&known(), 5).expect("a leaf");
        let expected = [
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ];
        assert_eq!(proof, digests(&expected));
        let proof = inclusion_proof(&known()[..3], 2).expect("a leaf");
        assert_eq!(proof, digests(&["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]));
        assert_eq!(inclusion_proof(&known()[..1], 0), Some(vec![]));
        assert_eq!(inclusion_proof(&known(), 8), None);
    }

    #[test]
    fn consistency_proofs_are_those_of_certificate_transparency() {
        let proof = consistency_proof(&known(), 6).expect("a smaller tree");
        let expected = [
            "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ];
        assert_eq!(proof, digests(&expected));
        assert_eq!(consistency_proof(&known(), 8), Some(vec![]));
        assert_eq!(consistency_proof(&known(), 9), None);
        assert_eq!(consistency_proof(&known(), 0), None);
    }

    #[test]
    fn every_leaf_of_every_small_tree_is_proved_and_nothing_else() {
        let leaves: Vec<_> = (0..20u8).map(|number| leaf([number])).collect();
        for size in 1..=leaves.len() {
            let (tree, whole) = (&leaves[..size], size as u64);
            let root = root(tree);
            for index in 0..size {
                let proof = inclusion_proof(tree, index).expect("a leaf");
                for place in 0..=whole {
                    assert_eq!(
                        includes(tree[index], place, whole, &proof, root),
                        place == index as u64,
                        "{index} {size}"
                    );
                }
                let mut longer = proof.clone();
                longer.push(root);
                assert!(!includes(tree[index], index as u64, whole, &longer, root));
                if let Some((_, shorter)) = proof.split_last() {
                    assert!(!includes(tree[index], index as u64, whole, shorter, root));
                }
                assert!(!includes(leaf(b"other"), index as u64, whole, &proof, root));
            }
        }
    }

    #[test]
    fn every_small_tree_continues_each_smaller_one_and_no_other() {
        let leaves: Vec<_> = (0..20u8).map(|number| leaf([number])).collect();
        let other = leaf(b"other");
        for size in 1..=leaves.len() {
            let new = (size as u64, root(&leaves[..size]));
            for smaller in 1..=size {
                let old = (smaller as u64, root(&leaves[..smaller]));
                let proof = consistency_proof(&leaves[..size], smaller).expect("a smaller tree");
                assert!(continues(old, new, &proof), "{smaller} {size}");
                assert!(!continues((old.0, other), new, &proof), "{smaller} {size}");
                assert!(!continues(old, (new.0, other), &proof), "{smaller} {size}");
                let longer = [proof.as_slice(), &[other]].concat();
                assert!(!continues(old, new, &longer), "{smaller} {size}");
                for at in 0..proof.len() {
                    let mut edited = proof.clone();
                    edited[at] = other;
                    assert!(!continues(old, new, &edited), "{smaller} {size} {at}");
                }
            }
            assert!(!continues((0, root(&[])), new, &[]));
            assert!(!continues((size as u64 + 1, other), new, &[]));
        }
    }

    proptest! {
        #[test]
        fn arbitrary_proofs_are_judged_without_a_panic(index: u64, size: u64, old: u64, length in 0..70usize) {
            let proof = vec![leaf(b"x"); length];
            prop_assert!(!includes(leaf(b"x"), index, size, &proof, leaf(b"y")));
            prop_assert!(!continues((old, leaf(b"x")), (size, leaf(b"y")), &proof));
        }
    }
}
