//! The step about `VERIFY.md`: nobody signs it, and who has just been told that a bundle is accepted may believe it.

use super::{
    code::Code,
    gate::{Rejection, Strictness, require},
    payload::unread,
};
use crate::{
    bundle::{
        instructions::{VERIFY, is_verify_md},
        read::{Bundle, ReadError},
    },
    signing::dsse::Envelope,
};

/// Far more than any such file has.
const MAX_INSTRUCTIONS: u64 = 64 << 10;

/// Where there is one, it is what `sign` writes: its commands and digests are no one else's.
pub(super) fn instructions(bundle: &Bundle, first: &Envelope, strictness: &impl Strictness) -> Result<(), Rejection> {
    let text = match bundle.beside(VERIFY, MAX_INSTRUCTIONS) {
        Ok(text) => text,
        Err(ReadError::Missing(_)) => return Ok(()),
        Err(error) => return Err(unread(error)),
    };
    require(strictness, is_verify_md(&text, first), Code::FileExtra, || {
        format!("{VERIFY} is not what signing writes: it is of another bundle, or somebody else wrote it")
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{bundle::instructions::verify_md, signing::key::SigningKey, verify::Strict};

    #[test]
    fn only_what_signing_writes_of_this_envelope_is_let_through() {
        let directory = tempfile::tempdir().expect("a directory");
        let bundle = Bundle::open(directory.path()).expect("opens");
        let key = SigningKey::generate().expect("a key");
        let [this, other] = [b"1", b"2"].map(|payload| Envelope::sign(payload.to_vec(), &key));
        let looked = || instructions(&bundle, &this, &Strict).map_err(|rejection| rejection.code);
        assert_eq!(looked(), Ok(()), "it need not be there");
        let write = |text: &str| fs::write(directory.path().join(VERIFY), text).expect("written");
        write(&verify_md(&this));
        assert_eq!(looked(), Ok(()));
        for text in [
            verify_md(&other),
            verify_md(&this).replacen("openssl pkeyutl", "true", 1),
            verify_md(&this) + "\n",
            String::new(),
        ] {
            write(&text);
            assert_eq!(looked(), Err(Code::FileExtra), "{text}");
        }
        fs::write(directory.path().join(VERIFY), vec![b'x'; MAX_INSTRUCTIONS as usize + 1]).expect("written");
        assert_eq!(looked(), Err(Code::FileTooBig));
    }
}
