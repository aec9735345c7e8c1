//! in-toto statements, version 1 (<https://github.com/in-toto/attestation>): what is said of which artifacts.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use thiserror::Error;

use super::{
    digest::Digest,
    dsse,
    strict::{self, Object, StrictError},
};
use crate::{sanitise, verify::code::Code};

/// The `_type` of every statement.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
/// Type of the predicate that holds all that a run found.
///
/// A predicate's type is a URI that nobody else may come to define (in-toto's TypeURI, RFC 3986). The project has no
/// domain, and a domain that is not registered could become somebody else's; `.invalid` never can (RFC 6761).
pub const CONFORMANCE: &str = "https://watertight.invalid/attestation/sandbox-conformance/v1";
/// Type of [`super::test_result::TestResult`].
pub const TEST_RESULT: &str = "https://in-toto.io/attestation/test-result/v0.1";

/// What a statement says, and the type that names its fields.
pub trait Predicate: Serialize + DeserializeOwned {
    /// The `predicateType`, a URI.
    const TYPE: &'static str;
}

/// A statement: this predicate is true of these artifacts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, bound(deserialize = "P: DeserializeOwned"))]
pub struct Statement<P> {
    #[serde(rename = "_type")]
    kind: String,
    /// The artifacts, at least one. in-toto matches them by digest alone.
    pub subject: Vec<Subject>,
    predicate_type: String,
    pub predicate: P,
}

/// An artifact that a statement is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// For readers; it identifies nothing.
    pub name: String,
    pub digest: DigestSet,
}

/// in-toto's set of digests, of which one is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DigestSet {
    pub sha256: Digest,
}

/// Why a payload is not the statement that was expected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StatementError {
    #[error("the statement is not strict JSON: {0}")]
    Json(#[from] StrictError),
    #[error("the statement's _type is {0:?}, not {STATEMENT_TYPE:?}")]
    Type(String),
    #[error("the statement's predicateType is {found:?}, not {expected:?}")]
    PredicateType { found: String, expected: &'static str },
    #[error("the statement does not have the fields of its type: {0}")]
    Schema(String),
    #[error("the statement says something in another form than that of its type, or more than is read of it")]
    Differs,
    #[error("the statement is about no artifact: the manifest of the target names no program under [programs]")]
    NoSubject,
}

impl StatementError {
    pub const fn code(&self) -> Code {
        match self {
            Self::Json(error) => error.code(),
            Self::Type(_) | Self::PredicateType { .. } => Code::StmtType,
            Self::Schema(_) | Self::Differs | Self::NoSubject => Code::Schema,
        }
    }

    fn schema(error: &serde_json::Error) -> Self {
        Self::Schema(sanitise::text(error.to_string(), sanitise::NAME_LIMIT))
    }
}

impl<P: Predicate> Statement<P> {
    pub fn new(subject: Vec<Subject>, predicate: P) -> Self {
        Self { kind: STATEMENT_TYPE.into(), subject, predicate_type: P::TYPE.into(), predicate }
    }

    /// Reads the payload of an envelope. It must be written as [`to_payload`](Self::to_payload) writes it, white space and
    /// order of fields aside: what is signed and not understood must not be passed over.
    pub fn parse(payload: &[u8]) -> Result<Self, StatementError> {
        let found = predicate_type(payload)?;
        if found != P::TYPE {
            let found = sanitise::text(found, sanitise::NAME_LIMIT);
            return Err(StatementError::PredicateType { found, expected: P::TYPE });
        }
        let statement: Self = serde_json::from_slice(payload).map_err(|error| StatementError::schema(&error))?;
        // Derived code takes an array for an object, a missing field for an empty one, and may be told to pass over others.
        let read = serde_json::to_value(&statement).map_err(|error| StatementError::schema(&error))?;
        let written: Value = serde_json::from_slice(payload).map_err(|error| StatementError::schema(&error))?;
        if read != written {
            return Err(StatementError::Differs);
        }
        if statement.subject.is_empty() {
            return Err(StatementError::NoSubject);
        }
        Ok(statement)
    }

    /// The payload of an envelope. Fails where the predicate cannot be written, or where [`parse`](Self::parse) would
    /// not read it back: nothing is signed that no verifier accepts.
    pub fn to_payload(&self) -> Result<Vec<u8>, StatementError> {
        let bytes = serde_json::to_vec(self).map_err(|error| StatementError::schema(&error))?;
        Self::parse(&bytes)?;
        Ok(bytes)
    }
}

/// Passes a payload through the strict gate, and says what type of predicate it has. It is the signer's own text.
pub fn predicate_type(payload: &[u8]) -> Result<String, StatementError> {
    #[derive(Deserialize)]
    struct Types {
        #[serde(rename = "_type")]
        kind: String,
        #[serde(rename = "predicateType")]
        predicate: String,
    }
    let text = strict::check(payload, dsse::MAX_PAYLOAD)?;
    let Object(types): Object<Types> = serde_json::from_str(text).map_err(|error| StatementError::schema(&error))?;
    if types.kind == STATEMENT_TYPE {
        Ok(types.predicate)
    } else {
        Err(StatementError::Type(sanitise::text(types.kind, sanitise::NAME_LIMIT)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::{
        super::test_result::{Configuration, Outcome, TestResult},
        *,
    };

    fn statement() -> Statement<TestResult> {
        let digest = DigestSet { sha256: Digest::of(b"artifact") };
        let result = TestResult {
            result: Outcome::Warned,
            configuration: vec![Configuration { name: "core 1.0".into(), digest }],
            passed_tests: vec!["EGRESS-1".into()],
            warned_tests: vec!["EGRESS-2".into()],
            failed_tests: vec![],
        };
        Statement::new(vec![Subject { name: "sandbox".into(), digest }], result)
    }

    fn payload() -> Value {
        serde_json::from_slice(&statement().to_payload().expect("a payload")).expect("JSON")
    }

    fn code(value: &Value) -> &'static str {
        let result = Statement::<TestResult>::parse(value.to_string().as_bytes());
        result.expect_err("a refusal").code().name()
    }

    #[test]
    fn a_statement_has_the_form_of_the_specification_and_is_read_back() {
        let digest = Digest::of(b"artifact").to_string();
        assert_eq!(
            payload(),
            json!({
                "_type": "https://in-toto.io/Statement/v1",
                "subject": [{"name": "sandbox", "digest": {"sha256": digest}}],
                "predicateType": "https://in-toto.io/attestation/test-result/v0.1",
                "predicate": {
                    "result": "WARNED",
                    "configuration": [{"name": "core 1.0", "digest": {"sha256": digest}}],
                    "passedTests": ["EGRESS-1"],
                    "warnedTests": ["EGRESS-2"],
                    "failedTests": []
                }
            })
        );
        assert_eq!(Statement::parse(payload().to_string().as_bytes()), Ok(statement()));
        assert_eq!(predicate_type(payload().to_string().as_bytes()).as_deref(), Ok(TEST_RESULT));
    }

    #[test]
    fn another_version_or_predicate_is_refused() {
        let mut older = payload();
        older["_type"] = "https://in-toto.io/Statement/v0.1".into();
        assert_eq!(code(&older), "E_STMT_TYPE");
        let mut other = payload();
        other["predicateType"] = CONFORMANCE.into();
        assert_eq!(code(&other), "E_STMT_TYPE");
    }

    #[test]
    fn every_field_is_known_and_there() {
        let edits: [fn(&mut Value); 10] = [
            |value| value["waived"] = json!([]),
            |value| value["subject"][0]["uri"] = "x".into(),
            |value| value["subject"][0]["digest"]["md5"] = "x".into(),
            |value| value["subject"] = json!([]),
            |value| value["subject"][0]["digest"]["sha256"] = "AB".repeat(32).into(),
            |value| value["subject"][0] = json!(["sandbox", value["subject"][0]["digest"]]),
            |value| value["predicate"]["url"] = "x".into(),
            |value| value["predicate"]["result"] = "GREEN".into(),
            |value| drop(value["predicate"].as_object_mut().expect("an object").remove("failedTests")),
            |value| *value = json!([value]),
        ];
        for (number, edit) in edits.into_iter().enumerate() {
            let mut value = payload();
            edit(&mut value);
            assert_eq!(code(&value), "E_SCHEMA", "{number}");
        }
    }

    #[test]
    fn a_payload_that_readers_would_take_differently_is_refused() {
        let text = payload().to_string();
        let refused =
            |text: String| Statement::<TestResult>::parse(text.as_bytes()).expect_err("a refusal").code().name();
        assert_eq!(
            refused(text.replacen("\"predicate\":{", "\"predicate\":{\"result\":\"PASSED\",", 1)),
            "E_JSON_DUPKEY"
        );
        assert_eq!(refused(text.replacen("\"predicate\":{", "\"predicate\":{\"x\":1.0,", 1)), "E_JSON_NUMBER");
        assert_eq!(refused(text.replacen("\"predicate\":{", "\"predicate\":{\"x\":NaN,", 1)), "E_JSON_NUMBER");
        assert_eq!(refused(text + "{}"), "E_JSON_SYNTAX");
    }

    #[test]
    fn what_a_verifier_would_refuse_is_not_written() {
        let nothing = Statement { subject: vec![], ..statement() };
        assert_eq!(nothing.to_payload(), Err(StatementError::NoSubject));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(Statement::<TestResult>::parse(&bytes).is_err());
        }
    }
}
