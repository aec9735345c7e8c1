//! Signed notes, checkpoints, verifier keys and whole logs: a note opens only where its key signed that very text.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use watertight_reports::transparency::{audit::Audited, checkpoint::Checkpoint, note::NoteKey};

/// A checkpoint of an empty log by the key of RFC 8410, section 10.
const NOTE: &str = include_str!("../seeds/note/genuine.txt");
static KEY: LazyLock<NoteKey> = LazyLock::new(|| NoteKey::parse(include_str!("../seeds/note/key.txt").trim()).expect("a key"));

fuzz_target!(|bytes: &[u8]| {
    let genuine = Checkpoint::open(NOTE, &KEY).expect("a checkpoint");
    assert!(Audited::new(bytes, NOTE, &KEY, None).is_ok_and(|log| log.checkpoint() == &genuine) == bytes.is_empty());
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Ok(opened) = KEY.open(text) {
        assert_eq!(opened, genuine.to_string());
        assert_eq!(Checkpoint::open(text, &KEY).as_ref(), Ok(&genuine));
    }
    if let Ok(key) = NoteKey::parse(text) {
        assert_eq!(key.to_string(), text);
    }
});
