//! Records: lines that are another's, lines that are missing, and documents that contradict each other.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use watertight_reports::verify::code::Code;

use super::{By::Signer, Case, UNREADABLE, case, signed};
use crate::draft::Draft;

pub fn cases() -> Vec<Case> {
    [lines(), documents(), contradictions()].into_iter().flatten().collect()
}

/// Whose lines they are.
fn lines() -> Vec<Case> {
    vec![
        case(
            Signer,
            "log-of-an-earlier-run-inserted",
            Code::LogNonce,
            "The records of the target's launch are those of an earlier run.",
            |scene| {
                let earlier = crate::draft::payload(&scene.honest.earlier());
                let of = |files: &BTreeMap<String, Vec<u8>>| crate::draft::launch(files, "target");
                scene.dishonest(|draft| {
                    let (here, there) = (of(&draft.files), of(&earlier));
                    for name in ["frames.jsonl", "launch.json", "ledger.jsonl", "probe.jsonl", "process.jsonl"] {
                        draft.files.insert(format!("{here}/{name}"), earlier[&format!("{there}/{name}")].clone());
                    }
                });
                scene.unlogged();
            },
        )
        .then(Code::ObsMismatch),
        signed(
            "lines-of-one-attempt-used-for-two-checks",
            Code::LogNonce,
            "What was recorded of one attempt stands there again as that of another.",
            |draft| {
                let path = format!("{}/probe.jsonl", draft.launch("target"));
                draft.lines(&path, |lines| {
                    let (one, two) = two_attempts(lines);
                    let mut copy = lines[one].clone();
                    copy["attempt"] = lines[two]["attempt"].clone();
                    copy["observation"]["attempt"] = lines[two]["attempt"].clone();
                    lines[two] = copy;
                });
            },
        )
        .then(Code::ObsMismatch),
        signed(
            "sighting-given-to-another-attempt",
            Code::LogNonce,
            "What was seen outside with the nonce of one attempt is recorded as seen of another.",
            |draft| {
                let launch = draft.launch("control-before");
                let mut nonces: BTreeMap<String, Value> = BTreeMap::new();
                draft.lines(&format!("{launch}/probe.jsonl"), |lines| {
                    let id = |line: &Value| line["attempt"].as_str().expect("text").to_owned();
                    nonces = lines.iter().map(|line| (id(line), line["nonce"].clone())).collect();
                });
                draft.lines(&format!("{launch}/ledger.jsonl"), |lines| {
                    let line = lines.iter_mut().find(|line| carried(line)).expect("a nonce");
                    let other = nonces.iter().find(|(id, _)| line["attempt"] != **id).expect("another");
                    line["attempt"] = other.0.clone().into();
                    line["nonce"] = other.1.clone();
                });
            },
        )
        .then(Code::ObsMismatch),
        signed(
            "sighting-called-nobodys",
            Code::LogNonce,
            "What was seen outside with the nonce of an attempt is recorded as seen of nobody.",
            |draft| {
                let path = format!("{}/ledger.jsonl", draft.launch("control-before"));
                let mut taken = Value::Null;
                draft.lines(&path, |lines| {
                    let at = lines.iter().position(carried).expect("a nonce");
                    taken = lines.remove(at)["sighting"].clone();
                });
                draft.document("run.json", |run| {
                    run["unattributed"]["first"].as_array_mut().expect("a list").push(taken.clone());
                });
            },
        )
        .then(Code::ObsMismatch),
        signed(
            "attempt-recorded-twice",
            Code::LogBinding,
            "An attempt has two reports, of which one is better.",
            |draft| {
                let path = format!("{}/probe.jsonl", draft.launch("target"));
                draft.lines(&path, |lines| lines.push(lines[0].clone()));
            },
        )
        .structural(UNREADABLE),
        signed(
            "sighting-of-an-attempt-that-was-not-made",
            Code::LogBinding,
            "Something was seen outside of an attempt that the probe knows nothing of.",
            |draft| {
                let path = format!("{}/ledger.jsonl", draft.launch("control-before"));
                draft.lines(&path, |lines| lines[0]["attempt"] = "egress::nothing/x".into());
            },
        )
        .structural(UNREADABLE),
        signed(
            "line-of-another-launch",
            Code::LogNonce,
            "A line speaks of another launch than the one whose record it lies in.",
            |draft| {
                let path = format!("{}/probe.jsonl", draft.launch("target"));
                draft.lines(&path, |lines| lines[0]["launch"] = "control-before".into());
            },
        )
        .structural(UNREADABLE),
        signed("launch-named-twice", Code::LogBinding, "A launch is read twice.", |draft| {
            draft.document("run.json", |run| {
                let launches = run["launches"].as_array_mut().expect("a list");
                launches.push(launches[0].clone());
            });
        })
        .structural(UNREADABLE),
        signed(
            "launch-left-out",
            Code::LogBinding,
            "The records of a launch are there, and nothing reads them.",
            |draft| {
                draft.document("run.json", |run| drop(run["launches"].as_array_mut().expect("a list").pop()));
            },
        )
        .structural(UNREADABLE),
        signed(
            "check-points-at-an-attempt-that-is-not-recorded",
            Code::LogBinding,
            "A result names an attempt that the payload does not record.",
            |draft| {
                let attempts = &mut draft.predicate["checks"][0]["attempts"]["target"];
                attempts.as_array_mut().expect("a list").push("one-more".into());
            },
        )
        .then(Code::ObsMismatch),
    ]
}

/// What a document of the payload is.
fn documents() -> Vec<Case> {
    let of = |name, code, about, path: &'static str, from: &'static str, to: &'static str| {
        signed(name, code, about, move |draft| {
            let text = String::from_utf8(draft.files[path].clone()).expect("text");
            assert!(text.contains(from), "{path}: {from}");
            draft.files.insert(path.into(), text.replacen(from, to, 1).into_bytes());
        })
        .structural(UNREADABLE)
    };
    vec![
        of(
            "results-with-two-statuses",
            Code::JsonDupkey,
            "The results have two statuses, of which each reader takes another.",
            "results.json",
            "\"status\":",
            "\"status\": \"incomplete\", \"status\":",
        ),
        of(
            "run-with-a-fraction",
            Code::JsonNumber,
            "A number of the payload has a fraction.",
            "run.json",
            "\"launches\": [",
            "\"launches\": [0.5, ",
        ),
        of("plan-that-is-no-json", Code::JsonSyntax, "The plan is no JSON.", "plan.json", "{", "The plan: {"),
        of(
            "results-with-a-field-that-nobody-reads",
            Code::Schema,
            "The results have a field of their own.",
            "results.json",
            "\"status\":",
            "\"waived\": [\"EGRESS-1\"], \"status\":",
        ),
        of(
            "run-of-another-schema",
            Code::Schema,
            "A document is of a version to come.",
            "run.json",
            "watertight/run/v1",
            "watertight/run/v2",
        ),
        signed("plan-of-another-run", Code::ObsMismatch, "The plan is that of another run.", |draft| {
            draft.document("plan.json", |plan| plan["run"] = "0".repeat(32).into());
        })
        .structural(UNREADABLE),
        signed("run-that-did-not-end", Code::FileMissing, "The document that a run ends with is not there.", |draft| {
            draft.files.remove("run.json");
        })
        .structural(UNREADABLE),
        signed("target-without-a-manifest", Code::Schema, "The target's manifest is no manifest.", |draft| {
            draft.files.insert("target.toml".into(), b"name = 'reference'\n".to_vec());
        })
        .structural(UNREADABLE),
        signed("layout-that-cannot-be-read", Code::Schema, "What the planner knew is not there.", |draft| {
            draft.document("run.json", |run| run["layout"] = json!({}));
        })
        .structural(UNREADABLE),
    ]
}

/// What one document says and another does not.
fn contradictions() -> Vec<Case> {
    let of = |name, about, edit: fn(&mut Draft)| signed(name, Code::ObsMismatch, about, edit);
    vec![
        of("statement-of-another-version-of-the-target", "The statement names a later version of it.", |draft| {
            draft.predicate["target"]["version"] = "99.0".into();
        }),
        of("statement-of-another-launch", "The statement names another command than was launched.", |draft| {
            draft.predicate["target"]["argv"] = json!(["acme-sandbox", "--strict"]);
        }),
        of("statement-of-another-machine", "The statement names another machine.", |draft| {
            draft.predicate["environment"]["kernel"] = json!({ "known": "6.99.0" });
        }),
        of("statement-of-another-identity", "The statement says that somebody else ran it.", |draft| {
            draft.predicate["run"]["identity"] = "nobody".into();
        }),
        of("plan-of-another-challenge", "The plan answers another challenge than the statement.", |draft| {
            draft.document("plan.json", |plan| plan["challenge"] = "ab".repeat(32).into());
        }),
        of("target-manifest-of-another-name", "The target's manifest has another name.", |draft| {
            let text = String::from_utf8(draft.files["target.toml"].clone()).expect("text");
            let text = text.replacen("name = \"reference\"", "name = \"acme\"", 1);
            draft.files.insert("target.toml".into(), text.into());
            draft.predicate["target"]["kind"] = "third-party".into();
        }),
        of("target-manifest-that-was-not-signed", "The statement names another manifest of the target.", |draft| {
            draft.last = Some(|predicate| predicate["target"]["manifestSha256"] = "55".repeat(32).into());
        }),
        of("observation-contradicts-log", "The results say of an attempt what its record does not.", |draft| {
            draft.document("results.json", |results| {
                results["checks"][0]["observations"][0]["inside"] = "everything was refused".into();
            });
        }),
        of("reason-that-was-not-given", "The statement gives a reason that the results do not.", |draft| {
            draft.predicate["checks"][0]["reason"] = json!(["It was tested by hand as well."]);
        }),
        of("untestable-attempts-kept-quiet-about", "The statement leaves out what could not be tested.", |draft| {
            draft.predicate["untestable"].as_array_mut().expect("a list").push("egress::nothing/x".into());
        }),
        of("results-of-another-profile", "The results call their profile by another name.", |draft| {
            draft.document("results.json", |results| results["profile"] = "everything 1.0".into());
        }),
        signed(
            "results-whose-mutants-contradict-themselves",
            Code::Mutctl,
            "The results say of a mutant of the target that it was caught, and by nothing.",
            |draft| {
                draft.document("results.json", |results| {
                    results["sensitivity"] = json!([{
                        "slug": "share-net",
                        "sentence": "",
                        "status": "killed",
                        "kills": [],
                        "reasons": {},
                        "expected": ["EGRESS-1"],
                        "unclear": [],
                        "checked": 1,
                        "micros": 1,
                        "error": null,
                    }]);
                });
                draft.document("plan.json", |plan| plan["with_mutants"] = true.into());
                draft.predicate["reproduce"]["commands"][1] =
                    "watertight check reference --profile core --with-mutants".into();
            },
        ),
        signed(
            "report-that-no-results-give",
            Code::ReportMismatch,
            "A report was signed with the rest, and the results do not give it.",
            |draft| drop(draft.files.insert("reports/report.html".into(), b"<h1>conformant</h1>".to_vec())),
        ),
    ]
}

/// Two attempts of two checks that were both reported.
fn two_attempts(lines: &[Value]) -> (usize, usize) {
    let check = |line: &Value| line["attempt"].as_str().and_then(|id| id.split('/').next()).map(str::to_owned);
    let reported = |at: &usize| lines[*at]["observation"].is_object();
    let one = (0..lines.len()).find(reported).expect("a report");
    let two = (one..lines.len()).filter(reported).find(|at| check(&lines[*at]) != check(&lines[one]));
    (one, two.expect("another check"))
}

/// Whether a line was given to its attempt by a nonce.
fn carried(line: &Value) -> bool {
    line["sighting"]["nonces"].as_array().is_some_and(|nonces| !nonces.is_empty())
}
