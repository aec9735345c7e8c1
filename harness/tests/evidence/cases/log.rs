//! The log of starts and finishes.

use serde_json::{Value, json};
use watertight_reports::{
    signing::{digest::Digest, key::SigningKey},
    transparency::{checkpoint::Checkpoint, merkle},
    verify::code::Code,
};

use super::{
    By::{Attacker, Context},
    Case, UNREADABLE, case,
};
use crate::{honest::ORIGIN, scene::Scene};

pub fn cases() -> Vec<Case> {
    // Whoever keeps the log may keep it badly: the checkpoint is the log's own.
    let kept = |name, code, about, edit: fn(&mut Vec<Value>, &str)| {
        case(Context, name, code, about, move |scene: &mut Scene| {
            let run = scene.predicate()["run"]["id"].as_str().expect("an id").to_owned();
            relog(scene, |lines| edit(lines, &run));
        })
    };
    vec![
        case(
            Context,
            "no-log-where-one-is-demanded",
            Code::LogNotIncluded,
            "The verifier was given no log.",
            |scene| {
                scene.asked.log = None;
            },
        ),
        kept("run-not-finished-in-log", Code::LogNotIncluded, "The log does not know that it ended.", |lines, run| {
            lines.retain(|line| !(line["run"] == run && line["type"] == "finish"));
        })
        .then(Code::LogAbandonedRuns),
        kept("run-finished-otherwise", Code::LogNotIncluded, "It ended with another statement.", |lines, run| {
            let finish = lines.iter_mut().find(|line| line["run"] == run && line["type"] == "finish");
            finish.expect("a finish")["statement_sha256"] = json!(Digest::of("another"));
        }),
        kept("run-not-in-log", Code::LogNoStart, "The log knows nothing of the run.", |lines, run| {
            lines.retain(|line| line["run"] != run);
        }),
        kept("run-start-not-logged", Code::LogNoStart, "The log knows its end and no start.", |lines, run| {
            lines.retain(|line| !(line["run"] == run && line["type"] == "start"));
        })
        .structural(UNREADABLE),
        kept("run-started-with-another-nonce", Code::LogNoStart, "It started with another nonce.", |lines, run| {
            let start = lines.iter_mut().find(|line| line["run"] == run && line["type"] == "start");
            start.expect("a start")["nonce_sha256"] = json!(Digest::of("another"));
        }),
        kept(
            "cherry-picked-rerun",
            Code::LogAbandonedRuns,
            "A run of the same subject and profile started before and never ended.",
            |lines, run| {
                let start = lines.iter().find(|line| line["run"] == run && line["type"] == "start");
                let mut abandoned = start.expect("a start").clone();
                abandoned["run"] = "abandoned".into();
                lines.insert(0, abandoned);
            },
        ),
        kept("run-started-twice", Code::LogEntry, "The log has two starts of one run.", |lines, run| {
            let start = lines.iter().find(|line| line["run"] == run).expect("a start").clone();
            lines.push(start);
        })
        .structural(UNREADABLE),
        case(Attacker, "log-entry-altered", Code::LogRoot, "A line of the log was edited.", |scene| {
            let (entries, _) = scene.asked.log.as_mut().expect("a log");
            *entries = entries.replacen("\"at\":\"2", "\"at\":\"1", 1);
        })
        .structural(UNREADABLE),
        case(Attacker, "log-cut-short", Code::LogRoot, "The last line of the log is gone.", |scene| {
            let (entries, _) = scene.asked.log.as_mut().expect("a log");
            let end = entries.trim_end().rfind('\n').expect("lines") + 1;
            entries.truncate(end);
        })
        .structural(UNREADABLE),
        case(
            Attacker,
            "log-checkpoint-wrong-key",
            Code::LogSig,
            "The attacker's key signed the checkpoint.",
            |scene| {
                let key = &scene.honest.keys.attacker;
                let (entries, checkpoint) = scene.asked.log.as_mut().expect("a log");
                *checkpoint = signed(entries, key, ORIGIN);
            },
        )
        .structural(UNREADABLE),
        case(Context, "log-of-another-origin", Code::LogSig, "The policy does not name this log.", |scene| {
            let key = &scene.honest.keys.log;
            let (entries, checkpoint) = scene.asked.log.as_mut().expect("a log");
            *checkpoint = signed(entries, key, "another.invalid/runs");
        })
        .structural(UNREADABLE),
        case(Attacker, "log-rollback", Code::LogRollback, "The verifier saw a longer log before.", |scene| {
            let (entries, _) = scene.asked.log.as_ref().expect("a log");
            let first = entries.lines().next().expect("a line").to_owned();
            scene.asked.remembered = Some(signed(&format!("{entries}{first}\n"), &scene.honest.keys.log, ORIGIN));
        })
        .structural(UNREADABLE),
        case(
            Attacker,
            "log-split-view",
            Code::LogRollback,
            "The verifier saw another log of the same length before, under the same key.",
            |scene| {
                let (entries, _) = scene.asked.log.as_ref().expect("a log");
                let other = entries.replacen("\"at\":\"2", "\"at\":\"1", 1);
                scene.asked.remembered = Some(signed(&other, &scene.honest.keys.log, ORIGIN));
            },
        )
        .structural(UNREADABLE),
    ]
}

/// Changes the log and has its own key sign what it then is.
fn relog(scene: &mut Scene, edit: impl FnOnce(&mut Vec<Value>)) {
    let key = &scene.honest.keys.log;
    let (entries, checkpoint) = scene.asked.log.as_mut().expect("a log");
    let mut lines = entries.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    edit(&mut lines);
    *entries = lines.iter().map(|line| format!("{line}\n")).collect();
    *checkpoint = signed(entries, key, ORIGIN);
}

/// A checkpoint of this log.
fn signed(entries: &str, key: &SigningKey, origin: &str) -> String {
    let leaves: Vec<_> = entries.lines().map(merkle::leaf).collect();
    let checkpoint = Checkpoint { origin: origin.into(), size: leaves.len() as u64, root: merkle::root(&leaves) };
    checkpoint.sign(key).expect("a name")
}
