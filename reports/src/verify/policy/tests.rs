use super::*;
use crate::{
    signing::{base64, key::SigningKey},
    transparency::note::NoteKey,
};

/// A policy as people write it, with one key and one log.
fn written() -> toml::Table {
    let key = SigningKey::generate().expect("a key");
    let log = SigningKey::generate().expect("a key");
    let vkey = NoteKey::new("log.invalid/runs", log.public()).expect("a name");
    let text = format!(
        r#"
        accept = ["conformant"]
        max_age_days = 30
        min_profile = "1.0"
        require = ["verifier-nonce", "log", "clean-tree", "matrix", "official"]
        accepted_harness = ["{digest}"]
        kernels = ["6.1"]
        [[key]]
        keyid = "{id}"
        spki = "{spki}"
        organisation = "acme"
        role = "runner"
        not_before = "2026-01-01T00:00:00Z"
        not_after = "2027-01-01T00:00:00Z"
        targets = ["reference"]
        profiles = ["core"]
        [[log]]
        origin = "log.invalid/runs"
        vkey = "{vkey}"
        "#,
        digest = "ab".repeat(32),
        id = key.public().id(),
        spki = base64(key.public().spki()),
    );
    toml::from_str(&text).expect("a table")
}

fn parse(table: &toml::Table) -> Result<Policy, String> {
    Policy::parse(&table.to_string()).map_err(|error| error.to_string())
}

/// Why the policy is refused after this field of it is changed; `key.` and `log.` stand for the first of each.
fn without(field: &str, value: impl Into<toml::Value>) -> String {
    let mut table = written();
    match field.split_once('.') {
        None => drop(table.insert(field.into(), value.into())),
        Some((list, field)) => {
            let one = table.get_mut(list).and_then(|list| list.get_mut(0)).and_then(toml::Value::as_table_mut);
            one.expect("there is one").insert(field.into(), value.into());
        }
    }
    parse(&table).expect_err(field)
}

#[test]
fn a_policy_says_what_it_demands_and_what_it_leaves_open() {
    let policy = parse(&written()).expect("a policy");
    assert_eq!(
        (policy.threshold, policy.distinct, policy.max_retries, policy.max_abandoned_runs),
        (1, Distinct::Keys, 0, 0)
    );
    assert_eq!((policy.max_not_applicable, policy.max_untestable), (None, None));
    assert_eq!(policy.keys[0].role, Role::Runner);
    assert_eq!(policy.logs[0].key.name(), "log.invalid/runs");
    let all = [Demand::VerifierNonce, Demand::Log, Demand::CleanTree, Demand::Matrix, Demand::Official];
    assert!(all.into_iter().all(|one| policy.demands(one)));
    assert!(policy.key(policy.keys[0].public.id()).is_some());
}

#[test]
fn what_could_accept_nothing_or_anything_is_no_policy() {
    assert!(without("threshold", 0).starts_with("threshold: at least one signature"));
    assert!(without("threshold", 2).starts_with("threshold: it is more than there are keys"));
    assert!(without("accept", Vec::<String>::new()).starts_with("accept: it names no status"));
    assert!(without("key", Vec::<toml::Table>::new()).starts_with("key: there is none"));
    for version in ["", "latest", "v1.0", "1.x", "-1", "1..0"] {
        assert!(without("min_profile", version).starts_with("min_profile: a version is numbers"), "{version}");
    }
}

#[test]
fn a_field_that_nobody_reads_is_refused_wherever_it_stands() {
    for field in ["max_age", "key.revoked", "log.key"] {
        assert!(without(field, 1).contains("unknown field"), "{field}");
    }
    assert!(without("require", vec!["everything"]).contains("unknown variant"));
    assert!(without("accept", vec!["PASSED"]).contains("unknown variant"));
    assert!(without("key.role", "log").contains("unknown variant"));
    for field in ["accept", "max_age_days", "min_profile"] {
        let mut table = written();
        table.remove(field);
        assert!(parse(&table).expect_err(field).contains("missing field"), "{field}");
    }
}

#[test]
fn a_key_is_written_in_full_and_once() {
    assert!(without("key.spki", "?").starts_with("key 1: spki: it is not base64"));
    assert!(without("key.spki", "AAAA").starts_with("key 1: spki: "));
    assert!(without("key.keyid", "00").starts_with("key 1: keyid: it is not the SHA-256 of spki, which is "));
    for (field, value) in [("key.not_before", "yesterday"), ("key.not_after", "2027-01-01"), ("key.revoked_at", "")] {
        let error = without(field, value);
        assert!(error.contains("a time is written like"), "{error}");
    }
    assert!(without("key.not_after", "2026-01-01T00:00:00Z").starts_with("key 1: not_after: it is not after"));
    let mut table = written();
    let keys = table["key"].as_array_mut().expect("a list");
    keys.push(keys[0].clone());
    assert_eq!(parse(&table).expect_err("twice"), "key: one key is there twice");
}

#[test]
fn a_log_has_one_key_of_its_own_name() {
    assert!(without("log.vkey", "log.invalid/runs+00000000+AAAA").starts_with("log 1: vkey: "));
    assert_eq!(without("log.origin", "other.invalid"), "log 1: vkey: it is the key of \"log.invalid/runs\"");
    let mut table = written();
    let logs = table["log"].as_array_mut().expect("a list");
    logs.push(logs[0].clone());
    assert_eq!(parse(&table).expect_err("twice"), "log: one origin is there twice");
}

#[test]
fn a_harness_is_named_by_a_digest() {
    for wrong in ["", "sha256:ab", &"AB".repeat(32)] {
        assert!(without("accepted_harness", vec![wrong]).starts_with("accepted_harness: "), "{wrong}");
    }
}

#[test]
fn versions_are_compared_by_their_numbers() {
    let of = |text| version(text).expect("a version");
    assert!(of("1.9") < of("1.10") && of("1.0") < of("1.0.1") && of("0.9.9") < of("1"));
    assert_eq!(of("1.0"), of("1.0.0"));
}
