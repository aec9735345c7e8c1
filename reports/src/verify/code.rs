//! The stable codes of rejections: what is wrong with a piece of evidence, in one word that scripts can rely on.

use std::fmt;

use serde::{Serialize, Serializer};

/// Declares [`Code`]: variant, name, meaning, each once.
macro_rules! codes {
    ($($variant:ident $name:literal $meaning:literal)*) => {
        /// Why evidence is rejected. A code keeps its name and its meaning for ever; new ones may come.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $meaning] $variant,)*
        }

        impl Code {
            /// All of them, in the order in which a verifier looks.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// `E_…`, as printed, in JSON and in the documentation.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// What it says about the evidence, in one sentence.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)*
                }
            }
        }
    };
}

codes! {
    // Limits, envelope, signatures.
    EnvTooBig "E_ENV_TOO_BIG" "The attestations, an envelope or its list of signatures are larger than a verifier reads."
    EnvFields "E_ENV_FIELDS" "An envelope has other fields than payloadType, payload and signatures, or a signature others than keyid and sig."
    EnvB64 "E_ENV_B64" "A payload or signature is not canonical base64 (standard alphabet, padded)."
    EnvType "E_ENV_TYPE" "The envelope's payloadType is not that of in-toto statements."
    EnvNosig "E_ENV_NOSIG" "The envelope has no signature."
    Unsigned "E_UNSIGNED" "The bundle has no attestations: it is a record that nobody vouches for."
    SigInvalid "E_SIG_INVALID" "No trusted key made a signature of these bytes, or a signature that names a trusted key is not by it."
    SigThreshold "E_SIG_THRESHOLD" "Fewer distinct keys, or organisations, signed than the policy asks for."
    SshsigInvalid "E_SSHSIG_INVALID" "The SSH signature is not by a trusted key over this envelope in the namespace of this evidence."

    // Strict parsing.
    JsonSyntax "E_JSON_SYNTAX" "A document is not one value of JSON in UTF-8."
    JsonDupkey "E_JSON_DUPKEY" "An object has the same key twice, and readers would differ on which one counts."
    JsonNumber "E_JSON_NUMBER" "A number is not an integer between -(2^53 - 1) and 2^53 - 1, and readers would differ on its value."
    JsonDepth "E_JSON_DEPTH" "A document is nested deeper than any evidence is."
    JsonTooBig "E_JSON_TOO_BIG" "A document is longer than any evidence of its kind is."
    StmtType "E_STMT_TYPE" "The statement is not of in-toto's version 1, or its predicate is not of the type that is expected."
    StmtMissing "E_STMT_MISSING" "The bundle has no statement of the type that says what the run found."
    StmtDup "E_STMT_DUP" "The bundle has two statements of one type, and readers would differ on which one counts."
    Schema "E_SCHEMA" "A field is missing, unknown or has a value that its schema does not allow."
    SpecVersion "E_SPEC_VERSION" "The run tested another version of CONFORMANCE.md than this program holds; it takes that version's release to verify it."

    // Keys.
    KeyRevoked "E_KEY_REVOKED" "The signing key is revoked, or compromised and no trusted time precedes that."
    KeyExpired "E_KEY_EXPIRED" "The run lies outside the time for which the policy trusts the signing key."
    KeyRole "E_KEY_ROLE" "The signing key is the key of a log, and each key has one purpose."
    KeyScopeTarget "E_KEY_SCOPE_TARGET" "The signing key is not trusted for evidence about this target."
    KeyScopeProfile "E_KEY_SCOPE_PROFILE" "The signing key is not trusted for evidence about this profile."

    // What was tested, and with what.
    SubjectMismatch "E_SUBJECT_MISMATCH" "The artifact at hand is not the one that the evidence is about, or the evidence does not agree with itself on that."
    CommitMismatch "E_COMMIT_MISMATCH" "The evidence is about another commit than the one asked for."
    Kind "E_KIND" "The evidence is about a mutant or a double of the suite, not about a sandbox."
    Dirty "E_DIRTY" "The target's or the harness's sources had changes that no commit holds."
    HarnessUnknown "E_HARNESS_UNKNOWN" "The harness is none of those that the policy accepts."
    Environment "E_ENVIRONMENT" "The run was made on another kernel or machine than the policy demands."

    // Freshness.
    Nonce "E_NONCE" "The run does not answer the verifier's challenge."
    Replay "E_REPLAY" "This run was submitted before."
    Stale "E_STALE" "The run is older than the policy accepts."
    TimeFuture "E_TIME_FUTURE" "The run lies in the future."
    TimeOrder "E_TIME_ORDER" "The run ended before it started."
    TimeCheck "E_TIME_CHECK" "Something of the run lies outside its time."

    // Files.
    ManifestSyntax "E_MANIFEST_SYNTAX" "SHA256SUMS has a line that is not a digest, two spaces and a plain path, or lines out of order."
    ManifestPath "E_MANIFEST_PATH" "A path of SHA256SUMS leads out of the payload or is not in its plain form."
    ManifestDigest "E_MANIFEST_DIGEST" "SHA256SUMS is not the file whose digest was signed."
    ManifestCount "E_MANIFEST_COUNT" "SHA256SUMS has another number of lines than was signed."
    Merkle "E_MERKLE" "The lines of SHA256SUMS do not have the Merkle root that was signed."
    FileType "E_FILE_TYPE" "Something in the payload is neither a directory nor a regular file with one name."
    FileTooBig "E_FILE_TOO_BIG" "A file is larger, or there are more files, than a verifier reads."
    FileExtra "E_FILE_EXTRA" "A file of the payload is not listed in SHA256SUMS, or the bundle has one that no bundle has."
    FileMissing "E_FILE_MISSING" "A file that SHA256SUMS lists, or that every bundle has, is not there."
    FileDigest "E_FILE_DIGEST" "A file is not the one whose digest SHA256SUMS lists."

    // Profile and checks.
    ProfileUnknown "E_PROFILE_UNKNOWN" "There is no such profile, or no such version of it."
    ProfileDowngrade "E_PROFILE_DOWNGRADE" "The profile is older than the policy accepts."
    ProfileDigest "E_PROFILE_DIGEST" "The profile has this name and version, and other requirements."
    CheckMissing "E_CHECK_MISSING" "A requirement of the profile has no result."
    CheckUnknown "E_CHECK_UNKNOWN" "A result is about a requirement that the profile does not have."
    CheckDup "E_CHECK_DUP" "A requirement has two results."
    LogBinding "E_LOG_BINDING" "A result rests on a launch or an attempt that the payload does not record whole, once, and as its check plans it."
    LogNonce "E_LOG_NONCE" "A recorded line carries the nonce of another run or attempt, or lies in the record of another launch."
    ObsEmpty "E_OBS_EMPTY" "A requirement passed without any observation."
    ObsMismatch "E_OBS_MISMATCH" "An observation differs from what the payload records."
    Posctl "E_POSCTL" "A requirement passed although its control did not succeed, or none was made."
    NaNotAllowed "E_NA_NOT_ALLOWED" "A requirement is called not applicable, and no declaration that the profile allows makes it so."
    Verdict "E_VERDICT" "A verdict does not follow from its own observations, controls and witness."
    Retries "E_RETRIES" "The run was repeated more often than the policy accepts."
    Mutctl "E_MUTCTL" "A requirement passed although a mutant that it must catch survived, or was not run."
    MatrixMissing "E_MATRIX_MISSING" "The evidence names no kill matrix, or the one that it names is not at hand."
    MatrixDigest "E_MATRIX_DIGEST" "The kill matrix is not the one whose digest was signed."
    MatrixHarness "E_MATRIX_HARNESS" "The kill matrix is of another harness."
    MatrixSpec "E_MATRIX_SPEC" "The kill matrix is of another version of CONFORMANCE.md."

    // What the documents say of each other.
    Summary "E_SUMMARY" "The status or the counts do not follow from the results."
    TestresultMismatch "E_TESTRESULT_MISMATCH" "The test-result statement does not say what the results say."
    BundleMismatch "E_BUNDLE_MISMATCH" "The Sigstore bundle holds another envelope than the attestations do."
    PredicateMismatch "E_PREDICATE_MISMATCH" "The unsigned predicate.json is not the predicate that was signed."
    ReportMismatch "E_REPORT_MISMATCH" "A report of the bundle is not one that its results give."

    // The log of starts and finishes.
    LogEntry "E_LOG_ENTRY" "The log has an entry that cannot be, such as the second start of one run."
    LogSig "E_LOG_SIG" "The log's checkpoint is not signed by the log's key."
    LogRoot "E_LOG_ROOT" "The log's entries are not those that its checkpoint speaks of."
    LogRollback "E_LOG_ROLLBACK" "The log does not continue the one that this verifier saw before."
    LogNoStart "E_LOG_NO_START" "The log does not say that the run started, or says it of another subject, profile or nonce."
    LogNotIncluded "E_LOG_NOT_INCLUDED" "The log does not say that the run ended with this statement."
    LogAbandonedRuns "E_LOG_ABANDONED_RUNS" "More runs of this subject and profile started and never ended than the policy accepts."

    // The policy's last word.
    Result "E_RESULT" "The evidence is in order, and the policy does not accept what it says."
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_has_a_name_of_its_own_that_is_its_variants() {
        let names: BTreeSet<_> = Code::ALL.iter().map(|code| code.name()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        for code in Code::ALL {
            let words: String = code.name()[1..].split('_').map(capitalised).collect();
            assert_eq!(words, format!("{code:?}"), "{}", code.name());
        }
    }

    #[test]
    fn every_meaning_is_one_sentence_of_its_own() {
        let meanings: BTreeSet<_> = Code::ALL.iter().map(|code| code.meaning()).collect();
        assert_eq!(meanings.len(), Code::ALL.len());
        for meaning in meanings {
            assert!(meaning.ends_with('.') && !meaning.contains(". "), "{meaning}");
        }
    }

    #[test]
    fn a_code_is_shown_and_serialised_by_its_name() {
        assert_eq!(Code::EnvB64.to_string(), "E_ENV_B64");
        assert_eq!(serde_json::to_string(&Code::SigInvalid).expect("JSON"), "\"E_SIG_INVALID\"");
    }

    fn capitalised(word: &str) -> String {
        let mut letters = word.chars();
        letters.next().into_iter().chain(letters.flat_map(char::to_lowercase)).collect()
    }
}
