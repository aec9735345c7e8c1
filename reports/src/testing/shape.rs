//! Every shape that the model can have, and walks over its JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{green, judged};
use crate::{
    mutants::{Fate, Mutant},
    results::{AttemptOutcome, CheckResult, ControlKind, Level, Results, Seen, Status, Subject, Target, Verdict},
};

/// Documents with every value of every enum, empty and full.
pub(crate) fn every_shape() -> Vec<Results> {
    let base = green();
    let mut all = vec![judged(Results {
        checks: vec![],
        untestable: vec![],
        environment: BTreeMap::new(),
        target: Target { argv: vec![], version: String::new(), ..base.target.clone() },
        wall_ms: 0,
        ..base.clone()
    })];
    for verdict in VERDICTS {
        for level in LEVELS {
            for subject in SUBJECTS {
                for seen in SEEN {
                    for control in CONTROLS {
                        let result = CheckResult { verdict, level, subject, seen, control, ..base.checks[0].clone() };
                        let bare = CheckResult {
                            id: "ROUTE-2".into(),
                            observations: vec![],
                            mutants: vec![],
                            duration_us: u64::MAX,
                            ..result.clone()
                        };
                        all.push(judged(Results { checks: vec![result, bare], ..base.clone() }));
                    }
                }
            }
        }
    }
    let fates = FATES.map(|status| Mutant { status, ..Mutant::new("x", "", vec![]) });
    all.push(Results { sensitivity: fates.to_vec(), ..base });
    all
}

pub(crate) const VERDICTS: [Verdict; 5] =
    [Verdict::Pass, Verdict::Fail, Verdict::Inconclusive, Verdict::NotApplicable, Verdict::HarnessError];
const STATUSES: [Status; 3] = [Status::Conformant, Status::Nonconformant, Status::Incomplete];
const LEVELS: [Level; 2] = [Level::Must, Level::Should];
const SUBJECTS: [Subject; 3] = [Subject::Isolation, Subject::Relay, Subject::Launcher];
const OUTCOMES: [AttemptOutcome; 10] = [
    AttemptOutcome::Denied,
    AttemptOutcome::AnsweredLocally,
    AttemptOutcome::TimedOut,
    AttemptOutcome::GotThrough,
    AttemptOutcome::Undecided,
    AttemptOutcome::UntestableHere,
    AttemptOutcome::AsRequired,
    AttemptOutcome::NotAsRequired,
    AttemptOutcome::Recorded,
    AttemptOutcome::NoReport,
];
const FATES: [Fate; 6] = [Fate::Failed, Fate::Void, Fate::Survived, Fate::Collateral, Fate::Unclear, Fate::Killed];
const SEEN: [Seen; 2] = [Seen::TwoSided, Seen::InsideOnly];
const CONTROLS: [ControlKind; 4] =
    [ControlKind::Unconfined, ControlKind::UnconfinedRoot, ControlKind::Twin, ControlKind::KnownPositive];

/// The closed sets of the model by their name in the schema, as they are written.
pub(crate) fn enums() -> [(&'static str, Vec<Value>); 8] {
    // A new variant stops these matches from compiling: it goes into its array as well.
    let verdict = |value: &Verdict| match value {
        Verdict::Pass | Verdict::Fail | Verdict::Inconclusive | Verdict::NotApplicable | Verdict::HarnessError => {
            json!(value)
        }
    };
    let status = |value: &Status| match value {
        Status::Conformant | Status::Nonconformant | Status::Incomplete => json!(value),
    };
    let level = |value: &Level| match value {
        Level::Must | Level::Should => json!(value),
    };
    let subject = |value: &Subject| match value {
        Subject::Isolation | Subject::Relay | Subject::Launcher => json!(value),
    };
    let seen = |value: &Seen| match value {
        Seen::TwoSided | Seen::InsideOnly => json!(value),
    };
    let control = |value: &ControlKind| match value {
        ControlKind::Unconfined | ControlKind::UnconfinedRoot | ControlKind::Twin | ControlKind::KnownPositive => {
            json!(value)
        }
    };
    let outcome = |value: &AttemptOutcome| match value {
        AttemptOutcome::Denied
        | AttemptOutcome::AnsweredLocally
        | AttemptOutcome::TimedOut
        | AttemptOutcome::GotThrough
        | AttemptOutcome::Undecided
        | AttemptOutcome::UntestableHere
        | AttemptOutcome::AsRequired
        | AttemptOutcome::NotAsRequired
        | AttemptOutcome::Recorded
        | AttemptOutcome::NoReport => json!(value),
    };
    let fate = |value: &Fate| match value {
        Fate::Failed | Fate::Void | Fate::Survived | Fate::Collateral | Fate::Unclear | Fate::Killed => json!(value),
    };
    [
        ("fate", FATES.iter().map(fate).collect()),
        ("outcome", OUTCOMES.iter().map(outcome).collect()),
        ("verdict", VERDICTS.iter().map(verdict).collect()),
        ("status", STATUSES.iter().map(status).collect()),
        ("level", LEVELS.iter().map(level).collect()),
        ("subject", SUBJECTS.iter().map(subject).collect()),
        ("seen", SEEN.iter().map(seen).collect()),
        ("control", CONTROLS.iter().map(control).collect()),
    ]
}

/// Whether a string is a value of one of those sets.
pub(crate) fn is_word(string: &str) -> bool {
    enums().iter().any(|(_, values)| values.iter().any(|value| value == string))
}

/// Calls `visit` with every string value.
pub(crate) fn each_string(value: &Value, visit: &mut impl FnMut(&String)) {
    match value {
        Value::String(string) => visit(string),
        Value::Array(items) => items.iter().for_each(|item| each_string(item, visit)),
        Value::Object(fields) => fields.values().for_each(|field| each_string(field, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Calls `visit` with the JSON pointer of every object; of arrays, only the first element is entered.
pub(crate) fn each_object(value: &Value, visit: &mut impl FnMut(&str)) {
    fn walk(value: &Value, pointer: &str, visit: &mut impl FnMut(&str)) {
        match value {
            Value::Object(fields) => {
                visit(pointer);
                fields.iter().for_each(|(key, field)| walk(field, &format!("{pointer}/{key}"), visit));
            }
            Value::Array(items) => {
                items.iter().take(1).for_each(|item| walk(item, &format!("{pointer}/0"), visit));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    walk(value, "", visit);
}

/// Calls `visit` with name and schema of every property, and of every definition.
pub(crate) fn each_property(schema: &Value, visit: &mut impl FnMut(&str, &Value)) {
    match schema {
        Value::Object(fields) => {
            for (key, field) in fields {
                if let ("properties" | "$defs", Some(properties)) = (key.as_str(), field.as_object()) {
                    properties.iter().for_each(|(name, property)| visit(name, property));
                }
                each_property(field, visit);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| each_property(item, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The text without the colours that pages write.
pub(crate) fn without_colours(text: &str) -> String {
    let mut plain = String::new();
    for (index, part) in text.split("\x1b[").enumerate() {
        plain.push_str(if index == 0 { part } else { part.split_once('m').map_or(part, |(_, rest)| rest) });
    }
    plain
}
