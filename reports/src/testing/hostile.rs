//! Texts that attack whoever reads them, and a document made of one.

use std::collections::BTreeMap;

use super::{VERDICTS, mixed};
use crate::{
    mutants::{Fate, Mutant},
    results::{AttemptOutcome, CheckResult, Fact, Results, Seeing, Target},
};

/// What a sandbox writes when it attacks the reader, the terminal, the CI service or a document format.
pub(crate) fn hostile() -> Vec<String> {
    let mut texts = TEXTS.map(String::from).to_vec();
    texts.push("A".repeat(1 << 20));
    texts
}

const TEXTS: [&str; 15] = [
    "</script><img src=x onerror=alert(1)>",
    "]]><![CDATA[",
    "::error file=x::y",
    "  ::stop-commands::t",
    "words that make the line long enough to be wrapped before its end ::error file=x::y ::stop-commands::t",
    "##[add-mask]e ##vso[task.complete]",
    "| a | b |\n| --- | --- |",
    "<details><summary>x</summary>",
    "\x1b[2J\x1b[31mred\x1b]8;;http://example.test\x07link\x1b]8;;\x07",
    "nul\0byte",
    "ok 1 - x # SKIP",
    "not ok\r\nok 2",
    "\u{202e}desrever\u{2066}\u{200b}\u{feff}",
    "\u{85}\u{2028}\u{2029}\u{a0}::warning::x",
    "",
];

/// A document whose every text is this.
pub(crate) fn every_text(text: &str) -> Results {
    let text = text.to_owned();
    let mut results = mixed();
    results.checks.truncate(VERDICTS.len());
    for (check, verdict) in results.checks.iter_mut().zip(VERDICTS) {
        *check = CheckResult {
            id: text.clone(),
            slug: text.clone(),
            reason: vec![text.clone(), text.clone()],
            witness: vec![text.clone()],
            mutants: vec![text.clone()],
            verdict,
            observations: vec![Seeing {
                attempt: text.clone(),
                inside: text.clone(),
                outside: text.clone(),
                control: text.clone(),
                outcome: AttemptOutcome::Recorded,
            }],
            ..check.clone()
        };
    }
    Results {
        schema: text.clone(),
        spec: text.clone(),
        target: Target {
            name: text.clone(),
            version: text.clone(),
            route: text.clone(),
            launched_as: text.clone(),
            argv: vec![text.clone()],
        },
        profile: text.clone(),
        sensitivity: vec![Mutant {
            slug: text.clone(),
            sentence: text.clone(),
            status: Fate::Failed,
            kills: vec![text.clone()],
            reasons: BTreeMap::from([(text.clone(), text.clone())]),
            expected: vec![text.clone()],
            unclear: vec![text.clone()],
            checked: 1,
            micros: 1,
            error: Some(text.clone()),
        }],
        untestable: vec![text.clone()],
        environment: BTreeMap::from([
            ("kernel".into(), Fact::Known(text.clone())),
            ("identity".into(), Fact::Unavailable(text.clone())),
            (text.clone(), Fact::Known(text.clone())),
        ]),
        started_at: text,
        ..results
    }
}
