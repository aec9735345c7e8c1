//! docs/EVIDENCE.md says what the code does: its codes, its policy, its commands.

use std::{fs, path::Path};

use watertight_reports::{
    bundle::instructions::verify_md,
    results::Status,
    signing::{dsse::Envelope, key::SigningKey},
    verify::{
        code::Code,
        policy::{Demand, Policy},
    },
};

fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/EVIDENCE.md");
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The blocks of this language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let opening = format!("\n```{language}\n");
    let blocks = text.split(&opening).skip(1).map(|rest| rest.split("\n```").next().unwrap_or_default());
    blocks.map(str::to_owned).collect()
}

/// The fields that a policy is told to have where it has one that nobody knows.
fn fields(policy: &str) -> Vec<String> {
    let error = Policy::parse(policy).expect_err("an unknown field").to_string();
    let (_, expected) = error.split_once("expected one of ").or_else(|| error.split_once("expected ")).expect(&error);
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The first cells of a table whose heading begins so.
fn rows(text: &str, heading: &str) -> Vec<String> {
    let table = text.split(&format!("\n| {heading} |")).nth(1).unwrap_or_else(|| panic!("a table of {heading}"));
    let lines = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    lines.map(|line| line.split('`').nth(1).expect("a name").to_owned()).collect()
}

#[test]
fn every_code_is_in_the_table_with_its_meaning_in_the_order_of_looking() {
    let expected: String = Code::ALL.iter().map(|code| format!("| `{code}` | {} |\n", code.meaning())).collect();
    assert!(
        document().contains(&format!("\n| code | meaning |\n| --- | --- |\n{expected}\n")),
        "the table is:\n{expected}"
    );
}

#[test]
fn the_policy_is_one_and_has_every_field() {
    let document = document();
    let [policy] = &blocks(&document, "toml")[..] else { panic!("one policy") };
    Policy::parse(policy).unwrap_or_else(|error| panic!("{error}: {policy}"));
    for (heading, start) in [("field", ""), ("field of a key", "[[key]]\n"), ("field of a log", "[[log]]\n")] {
        let fields = fields(&format!("{start}unknown = 1\n"));
        assert_eq!(rows(&document, heading), fields, "{heading}");
        for field in fields.iter().filter(|field| !["key", "log"].contains(&field.as_str())) {
            assert!(policy.lines().any(|line| line.starts_with(&format!("{field} = "))), "{field}");
        }
    }
}

#[test]
fn its_commands_are_those_of_a_bundle() {
    let key = SigningKey::generate().expect("a key");
    let (written, documented) = (verify_md(&Envelope::sign(b"{}".to_vec(), &key)), blocks(&document(), "sh"));
    let commands = blocks(&written, "sh");
    assert_eq!(commands.len(), 3, "{written}");
    for command in commands {
        assert!(documented.contains(&command), "{command}");
    }
}

#[test]
fn what_may_be_published_is_told_by_a_policy_that_lacks_a_key_alone() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("published/policy.toml");
    let text = fs::read_to_string(path).expect("a policy");
    let keys = text.contains("\n[[key]]\n");
    let example = blocks(&document(), "toml").remove(0);
    let (_, key) = example.split_once("\n[[key]]\n").expect("a key");
    let policy = if keys { text } else { format!("{text}\n[[key]]\n{key}") };
    let policy = Policy::parse(&policy).unwrap_or_else(|error| panic!("{error}: {policy}"));
    assert!(!policy.accept.contains(&Status::Incomplete), "{:?}", policy.accept);
    for demand in [Demand::Official, Demand::Log, Demand::Matrix, Demand::CleanTree] {
        assert!(policy.demands(demand), "{demand:?}");
    }
}
