//! What a bundle and a verifier's policy are read from: manifests, records and policies never panic, and a manifest has one
//! spelling.
#![no_main]

use libfuzzer_sys::fuzz_target;
use watertight_reports::{
    bundle::{Manifest, PLAN, RESULTS, RUN, payload::Payload, read::Files, records},
    matrix::Matrix,
    verify::policy::Policy,
};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(manifest) = Manifest::parse(bytes) {
        assert_eq!(manifest.text().as_bytes(), bytes);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = Policy::parse(text);
    }
    let _ = Matrix::read(bytes);
    // The same bytes as every file of a launch: each must be told that it is another, or be a launch that is written alike.
    if let Ok(launch) = records::launch(|_| bytes) {
        let written = records::ended(&launch);
        let again = records::launch(|name| {
            written.iter().find(|(known, _)| *known == name).map_or(&[], |(_, bytes)| bytes.as_slice())
        });
        assert_eq!(again.expect("a launch"), launch);
    }
    let mut files = Files::from([PLAN, RUN, RESULTS].map(|name| (name.to_owned(), bytes.to_vec())));
    let _ = Payload::take(&mut files);
});
