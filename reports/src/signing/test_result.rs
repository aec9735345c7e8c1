//! in-toto's test-result predicate, version 0.1
//! (<https://github.com/in-toto/attestation/blob/main/spec/predicates/test-result.md>): for tools that know no other.

use serde::{Deserialize, Serialize};

use super::statement::{DigestSet, Predicate, TEST_RESULT};

/// Which tests passed. It has no place for observations, controls or what was not tested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestResult {
    pub result: Outcome,
    /// What was tested against, by digest.
    pub configuration: Vec<Configuration>,
    pub passed_tests: Vec<String>,
    pub warned_tests: Vec<String>,
    pub failed_tests: Vec<String>,
}

/// What all tests amount to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Outcome {
    Passed,
    /// Nothing failed, and something deserves a look.
    Warned,
    Failed,
}

/// A thing that the tests depend on (in-toto's ResourceDescriptor, as far as it is used here).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    pub name: String,
    pub digest: DigestSet,
}

impl Predicate for TestResult {
    const TYPE: &'static str = TEST_RESULT;
}
