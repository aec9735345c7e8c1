//! The strict gate, statements and entries of the log: what passes the gate is JSON, and what is read is written alike.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use watertight_reports::{
    signing::{
        statement::{Statement, predicate_type},
        strict,
        test_result::TestResult,
    },
    transparency::entry::Entry,
};

fuzz_target!(|bytes: &[u8]| {
    let passed = strict::check(bytes, 1 << 20).is_ok();
    if passed {
        let value: Value = serde_json::from_slice(bytes).expect("JSON");
        // Nothing was dropped or rounded: written anew, it passes again and means the same.
        let again = serde_json::to_vec(&value).expect("JSON");
        strict::check(&again, usize::MAX).expect("strict JSON");
        assert_eq!(serde_json::from_slice::<Value>(&again).expect("JSON"), value);
    }
    if let Ok(statement) = Statement::<TestResult>::parse(bytes) {
        assert!(passed && predicate_type(bytes).is_ok());
        let payload = statement.to_payload().expect("a payload");
        assert_eq!(Statement::parse(&payload), Ok(statement));
    }
    if let Ok(entry) = Entry::parse(bytes) {
        assert_eq!(Entry::parse(entry.to_line().expect("a line").as_bytes()), Ok(entry));
    }
});
