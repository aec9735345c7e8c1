//! The document holds to its schema, whatever stands in it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::{json, testing};

/// Every value of every enum and every kind of field, each text this one.
fn every_text(text: &str) -> Matrix {
    let text = || text.to_owned();
    let mutant = |status| Mutant {
        slug: text(),
        sentence: text(),
        status,
        kills: vec![text()],
        reasons: BTreeMap::from([(text(), text())]),
        expected: vec![text()],
        unclear: vec![text()],
        checked: 1,
        micros: 1,
        error: Some(text()),
    };
    let fates = [Fate::Failed, Fate::Void, Fate::Survived, Fate::Collateral, Fate::Unclear, Fate::Killed];
    let (mutants, list) = (fates.map(mutant).to_vec(), vec![text()]);
    let double = Double {
        name: text(),
        expected: text(),
        right: true,
        passed: list.clone(),
        failed: list.clone(),
        unclear: list.clone(),
        error: Some(text()),
    };
    Matrix {
        schema: text(),
        spec: text(),
        harness: Harness { version: text(), sha256: text(), mutants_sha256: text() },
        kernel: text(),
        identity: text(),
        full: true,
        started_at: text(),
        wall_ms: 1,
        ablation: Some(Ablation { parts: 4, needed: 1, spared: 1, unexplained: list.clone(), stale: list }),
        summary: Summary::of(&mutants, std::slice::from_ref(&double)),
        mutants,
        doubles: vec![double],
    }
}

/// One as a selftest writes it.
fn matrix() -> Matrix {
    let digest = "0123456789abcdef".repeat(4);
    Matrix {
        schema: SCHEMA.into(),
        spec: "1.0".into(),
        harness: Harness { version: "0.1.0".into(), sha256: digest.clone(), mutants_sha256: digest },
        started_at: "2026-11-30T16:31:42Z".into(),
        ..every_text("leak-https")
    }
}

fn schema() -> Value {
    serde_json::from_str(MATRIX_SCHEMA).expect("JSON")
}

fn validator() -> jsonschema::Validator {
    jsonschema::draft202012::options().should_validate_formats(true).build(&schema()).expect("a schema")
}

fn value(matrix: &Matrix) -> Value {
    serde_json::from_str(&json::render(matrix)).expect("JSON")
}

#[test]
fn the_schema_is_one_and_describes_every_field() {
    assert!(jsonschema::meta::is_valid(&schema()));
    assert_eq!(schema()["properties"]["schema"]["const"], SCHEMA);
    let mut fields = 0;
    testing::each_property(&schema(), &mut |name, field| {
        fields += 1;
        assert!(field["description"].as_str().is_some_and(|text| text.len() > 10), "{name} has no description");
    });
    assert!(fields > 40, "{fields}");
}

#[test]
fn what_a_mutant_is_stands_in_both_schemas_alike() {
    let results: Value = serde_json::from_str(json::RESULTS_SCHEMA).expect("JSON");
    for name in ["fate", "count"] {
        assert_eq!(schema()["$defs"][name]["enum"], results["$defs"][name]["enum"], "{name}");
    }
    let keys = |schema: &Value| -> Vec<String> {
        schema["$defs"]["mutant"]["properties"].as_object().expect("fields").keys().cloned().collect()
    };
    assert_eq!(keys(&schema()), keys(&results));
}

#[test]
fn a_matrix_is_valid_and_comes_back_equal() {
    let none = Mutant { kills: vec![], reasons: BTreeMap::new(), error: None, ..matrix().mutants[0].clone() };
    let some = Matrix { mutants: vec![none], doubles: vec![], ablation: None, full: false, ..matrix() };
    for matrix in [matrix(), some] {
        let errors: Vec<_> = validator().iter_errors(&value(&matrix)).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        assert_eq!(Matrix::read(json::render(&matrix).as_bytes()).expect("the same version"), matrix);
    }
}

#[test]
fn every_field_is_required_and_none_may_be_added() {
    let (validator, whole) = (validator(), value(&matrix()));
    let mut objects = 0;
    testing::each_object(&whole, &mut |pointer| {
        objects += 1;
        let mut added = whole.clone();
        added.pointer_mut(pointer).and_then(Value::as_object_mut).expect("object").insert("extra".into(), json!(1));
        assert!(!validator.is_valid(&added), "{pointer} takes a number named extra");
        let keys: Vec<String> =
            whole.pointer(pointer).and_then(Value::as_object).expect("object").keys().cloned().collect();
        // Reasons are a map: their keys are free.
        for key in keys.iter().filter(|_| !pointer.ends_with("/reasons")) {
            let mut less = whole.clone();
            less.pointer_mut(pointer).and_then(Value::as_object_mut).expect("object").remove(key);
            assert!(!validator.is_valid(&less), "{pointer} does without {key}");
        }
    });
    assert_eq!(objects, 7, "document, harness, a mutant, its reasons, a double, ablation, summary");
}

#[test]
fn digests_and_times_have_their_form() {
    for (pointer, wrong) in [
        ("/harness/sha256", "0123456789ABCDEF".repeat(4)),
        ("/harness/mutants_sha256", "01".repeat(31)),
        ("/started_at", "yesterday".into()),
        ("/schema", "watertight/results/v1".into()),
    ] {
        let mut document = value(&matrix());
        *document.pointer_mut(pointer).expect("a field") = wrong.into();
        assert!(!validator().is_valid(&document), "{pointer}");
    }
}

#[test]
fn hostile_texts_stay_strings_inside_lines_of_ours() {
    for hostile in &testing::hostile() {
        let mut matrix = every_text(hostile);
        sanitise::matrix(&mut matrix);
        let text = json::render(&matrix);
        for line in text.lines() {
            assert!(line.trim_start().starts_with(['{', '}', '[', ']', '"']), "{line}");
            assert!(!line.contains("##") && !line.contains(char::is_control), "{line}");
        }
        assert_eq!(serde_json::from_str::<Matrix>(&text).expect("JSON"), matrix);
    }
}

#[test]
fn a_matrix_from_elsewhere_is_sanitised_and_another_version_named() {
    let mut hostile = matrix();
    hostile.kernel = "6\u{1b}[2J\n::error::x".into();
    let read = Matrix::read(json::render(&hostile).as_bytes()).expect("valid");
    assert_eq!(read.kernel, "6\\x1b[2J\\x0a::error::x");
    let other = json::render(&matrix()).replace(SCHEMA, "watertight/selftest/v9\\u001b");
    let error = Matrix::read(other.as_bytes()).expect_err("another version").to_string();
    assert!(error.contains("`watertight/selftest/v9\\x1b`"), "{error}");
    assert!(Matrix::read(b"{}").is_err());
}

#[test]
fn a_matrix_is_exact_where_nothing_in_it_is_wrong_whatever_its_summary_says() {
    let exact = |change: fn(&mut Matrix)| {
        let mut matrix = matrix();
        matrix.mutants.retain(|mutant| mutant.status == Fate::Killed);
        matrix.ablation = Some(Ablation { parts: 2, needed: 1, spared: 1, ..Ablation::default() });
        matrix.summary = Summary::of(&matrix.mutants, &matrix.doubles);
        change(&mut matrix);
        matrix.is_exact()
    };
    assert!(exact(|_| {}));
    assert!(!exact(|matrix| matrix.mutants.clear()), "nothing was tried");
    assert!(!exact(|matrix| matrix.mutants[0].status = Fate::Void));
    assert!(!exact(|matrix| matrix.doubles[0].right = false));
    assert!(!exact(|matrix| matrix.ablation = Some(Ablation { stale: vec!["x".into()], ..Ablation::default() })));
    assert!(!exact(|matrix| matrix.ablation = Some(Ablation { unexplained: vec!["x".into()], ..Ablation::default() })));
}
