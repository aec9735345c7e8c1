//! The results document for programs: complete, in a stable order, with a published schema.

use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use crate::{
    results::{Results, SCHEMA},
    sanitise,
};

/// The JSON Schema (draft 2020-12) of what [`render`] writes.
pub const RESULTS_SCHEMA: &str = include_str!("../schemas/results.schema.json");

/// Why a results document could not be read.
#[derive(Debug, Error)]
pub enum Error {
    #[error("read the results document: {0}; it must be what `watertight check --format json` printed")]
    Malformed(#[from] serde_json::Error),
    #[error(
        "read the results document: its schema is `{found}` and this program knows `{SCHEMA}`; use the version that wrote it"
    )]
    Version { found: String },
    #[error("read the results document: {0}; it is not what `watertight check --format json` printed")]
    Contradiction(String),
}

/// The document, indented, keys in the model's order, with a newline at its end.
///
/// Those of several runs are an array.
#[expect(clippy::expect_used, reason = "strings, numbers and closed enums always serialise")]
pub fn render(document: &(impl Serialize + ?Sized)) -> String {
    let mut text = serde_json::to_string_pretty(document).expect("plain data");
    text.push('\n');
    text
}

/// Reads a document of this version. It may come from anyone, so its texts are sanitised, and what it says in sum must
/// follow from its single results.
pub fn read(text: &str) -> Result<Results, Error> {
    one(serde_json::from_str(text)?)
}

/// The same of one document or an array of them.
pub fn read_all(text: &str) -> Result<Vec<Results>, Error> {
    match serde_json::from_str(text)? {
        Value::Array(documents) => documents.into_iter().map(one).collect(),
        document => Ok(vec![one(document)?]),
    }
}

fn one(document: Value) -> Result<Results, Error> {
    // Looked at first, so that another version is named rather than its first unknown field.
    if let Some(schema) = document.get("schema").and_then(Value::as_str).filter(|schema| *schema != SCHEMA) {
        return Err(Error::Version { found: sanitise::text(schema, sanitise::NAME_LIMIT) });
    }
    let mut results: Results = serde_json::from_value(document)?;
    sanitise::results(&mut results);
    match results.contradiction() {
        Some(what) => Err(Error::Contradiction(what)),
        None => Ok(results),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{results::Status, testing};

    fn schema() -> Value {
        serde_json::from_str(RESULTS_SCHEMA).expect("JSON")
    }

    fn validator() -> jsonschema::Validator {
        jsonschema::draft202012::options().should_validate_formats(true).build(&schema()).expect("a schema")
    }

    fn value(results: &Results) -> Value {
        serde_json::from_str(&render(results)).expect("JSON")
    }

    #[test]
    fn the_schema_is_one() {
        assert!(jsonschema::meta::is_valid(&schema()));
        assert_eq!(schema()["$schema"], "https://json-schema.org/draft/2020-12/schema");
    }

    #[test]
    fn documents_of_every_shape_are_valid_and_come_back_equal() {
        let validator = validator();
        let mut documents = vec![testing::green(), testing::vsock_failed(), testing::dead(), testing::mixed()];
        documents.extend(testing::every_shape());
        for results in documents {
            let errors: Vec<_> = validator.iter_errors(&value(&results)).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{errors:#?}");
            assert_eq!(read(&render(&results)).expect("the same version"), results);
        }
    }

    #[test]
    fn several_runs_are_an_array_of_documents() {
        let both: Vec<Value> = serde_json::from_str(&render(&[testing::green(), testing::dead()])).expect("an array");
        assert_eq!(both, [value(&testing::green()), value(&testing::dead())]);
    }

    #[test]
    fn what_a_document_says_in_sum_follows_from_its_results() {
        let refused = |change: fn(&mut Results)| {
            let mut results = testing::vsock_failed();
            change(&mut results);
            read(&render(&results)).expect_err("refused").to_string()
        };
        assert!(refused(|results| results.status = Status::Conformant).contains("its status does not follow"));
        assert!(refused(|results| results.status = Status::Incomplete).contains("its status does not follow"));
        assert!(refused(|results| results.counts.fail = 0).contains("its counts are not those"));
        let twice = refused(|results| results.checks[1].id = results.checks[0].id.clone());
        assert!(twice.contains("two results of ROUTE-1"), "{twice}");
        let cut = Results { status: Status::Incomplete, ..testing::green() };
        assert_eq!(read(&render(&cut)).ok(), Some(cut), "a run may have been cut short");
    }

    #[test]
    fn one_document_and_an_array_are_read() {
        let all = [testing::green(), testing::dead()];
        assert_eq!(read_all(&render(&all)).expect("both"), all);
        assert_eq!(read_all(&render(&all[0])).expect("one"), all[..1]);
        assert!(read_all("[1]").is_err() && read(&render(&all)).is_err());
    }

    #[test]
    fn every_field_is_required_and_none_may_be_added() {
        let validator = validator();
        let whole = value(&testing::mixed());
        let mut objects = 0;
        testing::each_object(&whole, &mut |pointer| {
            // Maps: their keys are free.
            let is_map = matches!(pointer, "/environment" | "/sensitivity/0/reasons");
            objects += 1;
            let mut added = whole.clone();
            added.pointer_mut(pointer).and_then(Value::as_object_mut).expect("object").insert("extra".into(), json!(1));
            assert!(!validator.is_valid(&added), "{pointer} takes a number named extra");
            let keys: Vec<String> =
                whole.pointer(pointer).and_then(Value::as_object).expect("object").keys().cloned().collect();
            for key in keys.iter().filter(|_| !is_map) {
                let mut less = whole.clone();
                less.pointer_mut(pointer).and_then(Value::as_object_mut).expect("object").remove(key);
                assert!(!validator.is_valid(&less), "{pointer} does without {key}");
            }
        });
        assert_eq!(
            objects, 11,
            "document, target, counts, a check, a seeing, a mutant, its reasons, environment, three facts"
        );
    }

    #[test]
    fn every_field_is_described() {
        let schema = schema();
        let mut fields = 0;
        testing::each_property(&schema, &mut |name, field| {
            fields += 1;
            let described = field["description"].as_str().is_some_and(|text| text.len() > 10);
            assert!(described, "{name} has no description");
        });
        assert!(fields > 40);
    }

    #[test]
    fn enums_equal_those_of_the_model() {
        let schema = schema();
        for (name, values) in testing::enums() {
            assert_eq!(schema["$defs"][name]["enum"], Value::Array(values), "{name}");
        }
    }

    #[test]
    fn another_version_is_named_and_not_guessed_at() {
        let text = render(&testing::green()).replace(SCHEMA, "watertight/results/v9\\u001b");
        let error = read(&text).expect_err("another version").to_string();
        assert!(error.contains("`watertight/results/v9\\x1b`"), "{error}");
        assert!(read("{}").is_err());
    }

    #[test]
    fn a_document_from_elsewhere_is_sanitised_when_it_is_read() {
        let mut results = testing::vsock_failed();
        results.target.version = "1\u{1b}[2J\n::error::x".into();
        let read = read(&render(&results)).expect("valid");
        assert_eq!(read.target.version, "1\\x1b[2J\\x0a::error::x");
    }

    #[test]
    fn hostile_texts_stay_strings_inside_lines_of_ours() {
        for hostile in &testing::hostile() {
            let mut results = testing::every_text(hostile);
            sanitise::results(&mut results);
            let text = render(&results);
            for line in text.lines() {
                assert!(line.trim_start().starts_with(['{', '}', '[', ']', '"']), "{line}");
                assert!(!line.contains("##") && !line.contains(char::is_control), "{line}");
            }
            let back: Results = serde_json::from_str(&text).expect("JSON");
            assert_eq!(back, results);
        }
    }

    #[test]
    fn keys_keep_their_order() {
        insta::assert_snapshot!(render(&testing::small()));
    }
}
