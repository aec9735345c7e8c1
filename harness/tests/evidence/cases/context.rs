//! What the evidence is about, who made it with what, and when.

use serde_json::json;
use watertight_reports::verify::code::Code;

use super::{
    By::{Context, Signer},
    Case, case, signed,
};

pub fn cases() -> Vec<Case> {
    [subject(), program(), freshness()].into_iter().flatten().collect()
}

fn subject() -> Vec<Case> {
    vec![
        case(Context, "other-sandbox-binary", Code::SubjectMismatch, "The artifact at hand is another.", |scene| {
            scene.asked.other_artifact = Some(b"another sandbox".to_vec());
        }),
        signed(
            "subject-named-after-another-product",
            Code::SubjectMismatch,
            "The statement's subject has the name of another product over the digest of this one.",
            |draft| draft.statement = Some(|value| value["subject"][0]["name"] = "acme-sandbox".into()),
        )
        .then(Code::TestresultMismatch),
        signed(
            "subject-with-an-artifact-that-was-not-run",
            Code::SubjectMismatch,
            "A second artifact is among the subjects, and the run knows nothing of it.",
            |draft| {
                draft.statement = Some(|value| {
                    let other = json!({ "name": "acme-sandbox", "digest": { "sha256": "11".repeat(32) } });
                    value["subject"].as_array_mut().expect("a list").push(other);
                });
            },
        )
        .then(Code::TestresultMismatch),
        signed(
            "artifact-that-the-target-does-not-have",
            Code::ObsMismatch,
            "The run names a second artifact, which the target's manifest does not.",
            |draft| {
                let other = json!({ "name": "acme-sandbox", "sha256": "11".repeat(32) });
                draft.predicate["target"]["artifacts"].as_array_mut().expect("a list").push(other);
            },
        ),
        signed("evidence-for-another-commit", Code::CommitMismatch, "It names another commit.", |draft| {
            draft.predicate["target"]["source"]["commit"] = "f".repeat(40).into();
        }),
        signed("evidence-for-no-commit", Code::CommitMismatch, "It names no commit.", |draft| {
            draft.predicate["target"]["source"] = json!(null);
        }),
        signed("mutant-offered-as-a-sandbox", Code::Kind, "A sandbox that is broken on purpose.", |draft| {
            draft.predicate["target"]["kind"] = "mutant".into();
        }),
        signed(
            "double-relabelled-as-a-sandbox",
            Code::Kind,
            "The target's manifest says that it is a fake of the suite, and the statement that it is a sandbox.",
            |draft| {
                let manifest = draft.files.get_mut("target.toml").expect("a manifest");
                manifest.splice(0..0, *b"double = true\n");
            },
        ),
        signed(
            "third-party-relabelled-as-the-reference",
            Code::Kind,
            "The statement calls the reference a sandbox of somebody else.",
            |draft| draft.predicate["target"]["kind"] = "third-party".into(),
        ),
    ]
}

fn program() -> Vec<Case> {
    vec![
        case(
            Signer,
            "dirty-source-tree",
            Code::Dirty,
            "The target's sources had changes that no commit holds.",
            |scene| {
                scene.dishonest(|draft| {
                    draft.predicate["harness"]["dirty"] = false.into();
                    draft.predicate["target"]["source"]["dirty"] = true.into();
                });
                scene.unlogged();
                scene.demand("require", vec!["clean-tree"]);
            },
        ),
        case(Signer, "dirty-harness", Code::Dirty, "The harness was built from changed files.", |scene| {
            scene.dishonest(|draft| draft.predicate["harness"]["dirty"] = true.into());
            scene.unlogged();
            scene.demand("require", vec!["clean-tree"]);
        }),
        case(
            Signer,
            "harness-of-unknown-sources",
            Code::Dirty,
            "Nobody knows what the harness was built from.",
            |scene| {
                scene.dishonest(|draft| draft.predicate["harness"]["dirty"] = json!(null));
                scene.unlogged();
                scene.demand("require", vec!["clean-tree"]);
            },
        ),
        signed(
            "patched-harness-binary",
            Code::HarnessUnknown,
            "The program that ran and judged is none that the policy names.",
            |draft| {
                let other = "22".repeat(32);
                draft.document("plan.json", |plan| plan["harness_sha256"] = other.clone().into());
                draft.document("matrix.json", |matrix| matrix["harness"]["sha256"] = other.clone().into());
                draft.predicate["harness"]["sha256"] = other.clone().into();
                draft.predicate["mutationMatrix"]["harnessSha256"] = other.clone().into();
            },
        ),
        case(Context, "another-kernel", Code::Environment, "The policy asks for another kernel.", |scene| {
            scene.demand("kernels", vec!["2.4."]);
        }),
        case(
            Signer,
            "kernel-whose-number-begins-alike",
            Code::Environment,
            "The policy asks for 6.1, and the run was made on 6.12.",
            |scene| {
                scene.demand("kernels", vec!["6.1"]);
                scene.dishonest(|draft| {
                    let kernel = json!({ "known": "6.12.3" });
                    draft.predicate["environment"]["kernel"] = kernel.clone();
                    draft.document("results.json", |results| results["environment"]["kernel"] = kernel.clone());
                });
                scene.unlogged();
            },
        ),
        case(
            Signer,
            "kernel-that-could-not-be-read",
            Code::Environment,
            "The policy asks for a kernel, and the run does not know its own.",
            |scene| {
                scene.demand("kernels", vec!["6."]);
                scene.dishonest(|draft| {
                    let kernel = json!({ "unavailable": "no uname" });
                    draft.predicate["environment"]["kernel"] = kernel.clone();
                    draft.document("results.json", |results| results["environment"]["kernel"] = kernel.clone());
                });
                scene.unlogged();
            },
        ),
    ]
}

fn freshness() -> Vec<Case> {
    vec![
        case(
            Context,
            "old-run-answers-new-challenge",
            Code::Nonce,
            "The verifier asked for another challenge.",
            |scene| scene.asked.nonce = Some("ab".repeat(32)),
        ),
        case(
            Context,
            "no-challenge-where-one-is-demanded",
            Code::Nonce,
            "The policy demands a challenge, and the verifier gave none.",
            |scene| scene.asked.nonce = None,
        ),
        signed(
            "challenge-written-over-the-old-one",
            Code::Nonce,
            "Plan and statement name the challenge, and the nonce was made without it.",
            |draft| {
                draft.document("run.json", |run| run["salt"] = "33".repeat(32).into());
                draft.predicate["run"]["salt"] = "33".repeat(32).into();
            },
        ),
        case(Context, "same-run-submitted-twice", Code::Replay, "The verifier accepted this run before.", |scene| {
            let id = scene.predicate()["run"]["id"].as_str().expect("an id").to_owned();
            scene.asked.seen.push(id);
        }),
        signed("stale-evidence", Code::Stale, "The run is years old.", |draft| {
            draft.date("2022-01-01T00:00:00Z", "2022-01-01T00:01:00Z");
        }),
        signed(
            "stale-run-with-a-new-end",
            Code::Stale,
            "The run is years old, and the statement says that it ended just now.",
            |draft| {
                let finished = draft.predicate["run"]["finishedAt"].as_str().expect("a time").to_owned();
                draft.date("2022-01-01T00:00:00Z", &finished);
            },
        ),
        case(Signer, "future-dated", Code::TimeFuture, "The run ended in a year to come.", |scene| {
            scene.key(0, "not_after", "2999-01-01T00:00:00Z");
            scene.dishonest(|draft| draft.date("2998-01-01T00:00:00Z", "2998-01-01T00:01:00Z"));
            scene.unlogged();
        }),
        signed("finished-before-started", Code::TimeOrder, "The run ended long before it began.", |draft| {
            draft.predicate["run"]["finishedAt"] = "2025-01-01T00:00:00Z".into();
        })
        .then(Code::TimeCheck),
        signed("launch-that-outlasts-its-run", Code::TimeCheck, "A launch ended after the whole run did.", |draft| {
            draft.predicate["run"]["monotonicMs"] = 1.into()
        }),
        signed(
            "results-of-another-day",
            Code::TimeCheck,
            "The results say that they are of an earlier day than the run.",
            |draft| draft.document("results.json", |results| results["started_at"] = "2024-01-01T00:00:00Z".into()),
        ),
        signed("retry-until-green", Code::Retries, "The job was started five times.", |draft| {
            draft.predicate["run"]["ci"] = json!({
                "provider": "a service",
                "runUrl": "https://corpus.invalid/1",
                "reference": "main",
                "sha": "0".repeat(40),
                "attempt": 5,
            });
        }),
    ]
}
