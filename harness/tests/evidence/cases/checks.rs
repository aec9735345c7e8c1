//! Requirements and verdicts: left out, invented, weakened, or not what the record amounts to.

use serde_json::{Value, json};
use watertight::{predicate, profile::Profile};
use watertight_reports::verify::code::Code;

use super::{By::Signer, Case, case, signed};
use crate::{draft::Draft, scene::Scene};

/// A requirement of whose attempts there are controls.
const ID: &str = "EGRESS-5";

pub fn cases() -> Vec<Case> {
    [profile(), set(), verdicts()].into_iter().flatten().collect()
}

fn profile() -> Vec<Case> {
    vec![
        signed("profile-version-downgrade", Code::ProfileDowngrade, "The profile is an older one.", |draft| {
            draft.predicate["profile"]["version"] = "0.9".into();
        })
        .then(Code::ProfileUnknown),
        signed(
            "invented-profile-version",
            Code::ProfileUnknown,
            "The profile is of a version that is none.",
            |draft| {
                draft.predicate["profile"]["version"] = "9.0".into();
            },
        )
        .then(Code::ProfileDigest),
        case(Signer, "invented-profile", Code::ProfileUnknown, "There is no such profile.", |scene| {
            scene.key(0, "profiles", vec!["everything"]);
            scene.dishonest(|draft| draft.predicate["profile"]["id"] = "everything".into());
            scene.unlogged();
        })
        .then(Code::ProfileDigest),
        signed(
            "weakened-profile-same-version",
            Code::ProfileDigest,
            "The profile has this version, and other requirements.",
            |draft| draft.predicate["profile"]["checkSet"] = "66".repeat(32).into(),
        ),
        signed(
            "weakened-text-same-version",
            Code::ProfileDigest,
            "CONFORMANCE.md has this version, and another wording.",
            |draft| draft.predicate["spec"]["sha256"] = "77".repeat(32).into(),
        ),
        signed(
            "demote-must-to-should",
            Code::ProfileDigest,
            "A MUST is a SHOULD in profile, results and statement.",
            |draft| {
                draft.claim(ID, |check| check["level"] = "SHOULD".into());
                draft.predicate["profile"]["checkSet"] = "88".repeat(32).into();
            },
        )
        .then(Code::ObsMismatch),
    ]
}

fn set() -> Vec<Case> {
    vec![
        signed("subset-of-checks", Code::CheckMissing, "A requirement has no result, and nobody filtered.", |draft| {
            let keep = |check: &Value| check["id"] != ID;
            draft.document("plan.json", |plan| {
                plan["checks"].as_array_mut().expect("a list").retain(|id| id != ID);
            });
            draft.document("results.json", |results| results["checks"].as_array_mut().expect("a list").retain(keep));
            draft.predicate["checks"].as_array_mut().expect("a list").retain(keep);
            draft.count();
        }),
        signed("result-that-was-not-planned", Code::CheckMissing, "The plan leaves a requirement out.", |draft| {
            draft.document("plan.json", |plan| plan["checks"].as_array_mut().expect("a list").truncate(1));
        })
        .then(Code::ObsMismatch),
        case(
            Signer,
            "core-called-isolation",
            Code::CheckMissing,
            "A run of core is called one of isolation.",
            |scene| {
                scene.key(0, "profiles", vec!["isolation"]);
                scene.dishonest(|draft| {
                    let profile = predicate::profile(Profile::Isolation);
                    draft.predicate["profile"] = serde_json::to_value(profile).expect("plain data");
                    draft.document("plan.json", |plan| plan["profile"] = "isolation".into());
                    draft.document("results.json", |results| results["profile"] = "isolation 1.0".into());
                    draft.predicate["reproduce"]["commands"][1] =
                        "watertight check reference --profile isolation".into();
                });
                scene.unlogged();
            },
        ),
        case(
            Signer,
            "filtered-run-called-whole",
            Code::CheckMissing,
            "Requirements were filtered out of the run, and the plan says that none were.",
            |scene| {
                *scene = Scene::of(&scene.honest.filtered());
                scene.dishonest(|draft| {
                    draft.document("plan.json", |plan| {
                        plan["filter"] = json!(null);
                        plan["complete"] = true.into();
                    });
                    let unfilter = |environment: &mut Value| {
                        environment.as_object_mut().expect("an object").remove("filter");
                    };
                    unfilter(&mut draft.predicate["environment"]);
                    draft.document("results.json", |results| unfilter(&mut results["environment"]));
                    draft.predicate["reproduce"]["commands"][1] = "watertight check reference --profile core".into();
                    draft.count();
                });
                scene.unlogged();
            },
        ),
        signed("unknown-extra-check", Code::CheckUnknown, "A result is about a requirement that is none.", |draft| {
            extra(draft, "EGRESS-999");
        })
        .then(Code::CheckMissing),
        signed(
            "look-alike-check-id",
            Code::CheckUnknown,
            "A result is about a requirement whose name has a letter of another script.",
            |draft| extra(draft, "\u{415}GRESS-1"),
        )
        .then(Code::CheckMissing),
        signed("duplicate-check-fail-then-pass", Code::CheckDup, "A requirement has two results.", |draft| {
            extra(draft, ID);
        })
        .then(Code::CheckMissing),
    ]
}

fn verdicts() -> Vec<Case> {
    vec![
        signed(
            "failure-called-a-pass",
            Code::Verdict,
            "What the workload reached is recorded, and results and statement say that it passed.",
            |draft| {
                let reached = outcomes(draft, "control-before");
                edit(draft, "target", move |line| ends_as(line, &reached));
            },
        ),
        signed(
            "statement-better-than-its-results",
            Code::Verdict,
            "The results say that a requirement failed, and the statement that it passed.",
            |draft| {
                draft.document("results.json", |results| {
                    of(&mut results["checks"], ID)["verdict"] = "fail".into();
                });
                let summary = draft.predicate["summary"].clone();
                draft.count();
                draft.predicate["summary"] = summary;
            },
        )
        .then(Code::Summary),
        signed(
            "failure-relabelled-as-not-applicable",
            Code::NaNotAllowed,
            "A requirement is called not applicable, and the target declares nothing absent.",
            |draft| {
                draft.claim(ID, |check| {
                    check["verdict"] = "not-applicable".into();
                    check["reason"] = json!(["The target has no network."]);
                });
            },
        ),
        signed(
            "statement-relabels-as-not-applicable",
            Code::NaNotAllowed,
            "The same in the statement alone.",
            |draft| of(&mut draft.predicate["checks"], ID)["verdict"] = "not-applicable".into(),
        ),
        signed(
            "waiver-that-the-target-does-not-declare",
            Code::NaNotAllowed,
            "The evidence calls a route absent that the target's manifest does not.",
            |draft| {
                draft.document("run.json", |run| {
                    run["absent"] = json!({ "instance": "It has none." });
                    run["layout"]["absent"] = json!(["instance"]);
                });
            },
        )
        .then(Code::ObsEmpty),
        signed(
            "planner-and-evidence-differ-on-what-is-absent",
            Code::Schema,
            "The plan waives a route that the evidence does not call absent.",
            |draft| draft.document("run.json", |run| run["layout"]["absent"] = json!(["instance"])),
        )
        .structural("what cannot be judged has no verdict"),
        signed(
            "pass-without-positive-control",
            Code::Posctl,
            "All that was recorded of the control was taken out, and the requirement is still called a pass.",
            |draft| {
                for launch in ["control-before", "control-after"] {
                    edit(draft, launch, |line| line["observation"] = json!(null));
                    unseen(draft, launch);
                }
            },
        ),
        signed(
            "pass-with-failed-positive-control",
            Code::Posctl,
            "The control was refused as well, and the requirement is still called a pass.",
            |draft| {
                let refused = json!({ "outcome": "refused", "call": "connect", "errno": libc::ENETUNREACH });
                for launch in ["control-before", "control-after"] {
                    edit(draft, launch, |line| line["observation"]["outcome"] = refused.clone());
                    unseen(draft, launch);
                }
            },
        ),
        signed(
            "pass-without-observations",
            Code::ObsEmpty,
            "Nothing was reported of the attempts, and the requirement is called a pass.",
            |draft| edit(draft, "target", |line| line["observation"] = json!(null)),
        ),
        signed("summary-counts-more-passes", Code::Summary, "The statement counts one pass more.", |draft| {
            let passes = draft.predicate["summary"]["counts"]["pass"].as_u64().expect("a number");
            draft.predicate["summary"]["counts"]["pass"] = (passes + 1).into();
        }),
        case(
            Signer,
            "summary-upgraded",
            Code::Summary,
            "A run that requirements were left out of is called conformant.",
            |scene| {
                *scene = Scene::of(&scene.honest.filtered());
                scene.dishonest(|draft| {
                    draft.predicate["summary"]["status"] = "conformant".into();
                    draft.document("results.json", |results| results["status"] = "conformant".into());
                });
                scene.unlogged();
            },
        ),
    ]
}

/// One more result in the statement: that of the first requirement, under another name.
fn extra(draft: &mut Draft, id: &str) {
    let mut one = of(&mut draft.predicate["checks"], ID).clone();
    one["id"] = id.into();
    draft.predicate["checks"].as_array_mut().expect("a list").push(one);
}

fn of<'a>(checks: &'a mut Value, id: &str) -> &'a mut Value {
    checks.as_array_mut().expect("a list").iter_mut().find(|check| check["id"] == id).expect("a requirement")
}

/// The lines of this requirement's attempts in a launch.
fn edit(draft: &mut Draft, launch: &str, edit: impl Fn(&mut Value)) {
    let path = format!("{}/probe.jsonl", draft.launch(launch));
    let prefix = format!("{}/", of(&mut draft.predicate["checks"], ID)["slug"].as_str().expect("a slug"));
    draft.lines(&path, |lines| {
        let own = |line: &&mut Value| line["attempt"].as_str().is_some_and(|id| id.starts_with(&prefix));
        let lines: Vec<_> = lines.iter_mut().filter(own).collect();
        assert!(!lines.is_empty(), "{launch} has no attempt of {ID}");
        lines.into_iter().for_each(edit);
    });
}

/// Takes out what was seen outside of this requirement's attempts in a launch.
fn unseen(draft: &mut Draft, launch: &str) {
    let directory = draft.launch(launch);
    let prefix = format!("{}/", of(&mut draft.predicate["checks"], ID)["slug"].as_str().expect("a slug"));
    for name in ["ledger.jsonl", "frames.jsonl"] {
        let other = |line: &Value| line["attempt"].as_str().is_some_and(|id| !id.starts_with(&prefix));
        draft.lines(&format!("{directory}/{name}"), |lines| lines.retain(other));
    }
}

/// Makes an attempt end as the same one did elsewhere, where it was made there.
fn ends_as(line: &mut Value, elsewhere: &[(String, Value)]) {
    if let Some((_, outcome)) = elsewhere.iter().find(|(id, _)| line["attempt"] == **id) {
        line["observation"]["outcome"] = outcome.clone();
    }
}

/// How they ended.
fn outcomes(draft: &mut Draft, launch: &str) -> Vec<(String, Value)> {
    let found = std::cell::RefCell::new(vec![]);
    edit(draft, launch, |line| {
        let id = line["attempt"].as_str().expect("an id").to_owned();
        found.borrow_mut().push((id, line["observation"]["outcome"].clone()));
    });
    found.into_inner()
}
