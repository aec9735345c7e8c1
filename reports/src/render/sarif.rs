//! SARIF 2.1.0 as its schema, GitHub's code scanning and Microsoft's validator want it: one rule a requirement.
//!
//! GitHub shows every result of a file as an alert, whatever its kind: it gets what failed and nothing else. What was
//! not judged is a notification there; the full document has it as `open`.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{
    run::{Run, Weight, message, word},
    time,
};
use crate::{
    json,
    mutants::Fate,
    results::{CheckResult, Level, Results, Verdict},
    words,
};

/// Which results a document holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    Failures,
    Everything,
}

pub(super) fn render(runs: &[Run<'_>], extent: Extent) -> String {
    json::render(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": runs.iter().map(|run| one(run, extent)).collect::<Vec<_>>(),
    }))
}

fn one(run: &Run<'_>, extent: Extent) -> Value {
    let results = run.results;
    let rules = rules(results);
    let found = results.checks.iter();
    let found = found.filter(|check| extent == Extent::Everything || check.verdict == Verdict::Fail);
    let id = format!("watertight/{}/{}/", results.profile.replace(' ', "-"), results.target.name);
    json!({
        "tool": { "driver": {
            "name": "Watertight",
            "version": run.context.suite.program,
            "semanticVersion": run.context.suite.program,
            "rules": rules.iter().map(|check| rule(run, check)).collect::<Vec<_>>(),
        } },
        "automationDetails": { "id": id, "description": { "text": plain(&results.status_line()) } },
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation(run, &rules)],
        "results": found.map(|check| result(run, &rules, check)).collect::<Vec<_>>(),
        "properties": {
            "status": results.status,
            "statusLine": results.status_line(),
            "counts": results.counts,
            "spec": results.spec,
            "target": results.target,
            "untestable": results.untestable,
        },
    })
}

/// One result of each requirement: rules are unique, whatever a document from elsewhere repeats.
fn rules(results: &Results) -> Vec<&CheckResult> {
    let mut seen = BTreeSet::new();
    results.checks.iter().filter(|check| seen.insert(&check.id)).collect()
}

fn index(rules: &[&CheckResult], check: &CheckResult) -> Option<usize> {
    rules.iter().position(|rule| rule.id == check.id)
}

fn rule(run: &Run<'_>, check: &CheckResult) -> Value {
    let requirement = run.requirement(&check.id);
    let about = requirement.map_or("", |requirement| requirement.about.as_str());
    let sentence = run.sentence(check);
    // GitHub's scale: from 7 on it says high, from 4 on medium.
    let (level, severity) = match check.level {
        Level::Must => ("error", "8.0"),
        Level::Should => ("warning", "5.0"),
    };
    json!({
        "id": check.id,
        "name": name(&check.slug),
        "shortDescription": { "text": plain(&check.slug) },
        "fullDescription": { "text": plain(sentence) },
        "help": {
            "text": plain(&format!("{sentence} {about}")),
            "markdown": format!(
                "**{}** ({}, {}): {}\n\n{}",
                super::markdown::escaped(&check.id),
                words::level(check.level),
                words::subject(check.subject),
                requirement.map_or_else(|| super::markdown::escaped(sentence), |known| known.sentence.clone()),
                about,
            ),
        },
        "defaultConfiguration": { "level": level },
        "properties": {
            "tags": ["security", "sandbox", words::subject(check.subject)],
            "security-severity": severity,
            "precision": "very-high",
            "problem.severity": level,
        },
    })
}

fn result(run: &Run<'_>, rules: &[&CheckResult], check: &CheckResult) -> Value {
    let (kind, level) = match (check.verdict, check.level) {
        (Verdict::Fail, Level::Must) => ("fail", "error"),
        (Verdict::Fail, Level::Should) => ("fail", "warning"),
        // Only what failed has a level.
        (Verdict::Pass, _) => ("pass", "none"),
        (Verdict::NotApplicable, _) => ("notApplicable", "none"),
        (Verdict::Inconclusive | Verdict::HarnessError, _) => ("open", "none"),
    };
    let (file, line) = run.place(check);
    let fingerprint = Sha256::digest(format!("{}\n{}", check.id, run.results.target.name));
    json!({
        "ruleId": check.id,
        "ruleIndex": index(rules, check),
        "kind": kind,
        "level": level,
        "message": { "text": plain(&format!("{} {}: {}", check.id, message(check), run.sentence(check))) },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri(file) },
            "region": { "startLine": line },
        } }],
        // By this GitHub knows a result again, whatever moves in the file.
        "partialFingerprints": { "primaryLocationLineHash": hex::encode(fingerprint) },
        "properties": {
            "verdict": word(check.verdict),
            "slug": check.slug,
            "reason": check.reason,
            "seen": check.seen,
            "control": check.control,
        },
    })
}

fn invocation(run: &Run<'_>, rules: &[&CheckResult]) -> Value {
    let results = run.results;
    let code = results.exit_code();
    let unjudged = results.checks.iter().filter_map(|check| {
        let level = match (check.verdict, Weight::of(check)) {
            (Verdict::Pass | Verdict::Fail | Verdict::NotApplicable, _) => return None,
            (Verdict::Inconclusive | Verdict::HarnessError, Weight::Red) => "error",
            (Verdict::Inconclusive | Verdict::HarnessError, _) => "warning",
        };
        let text = plain(&format!("{} {}", check.id, message(check)));
        let rule = json!({ "id": check.id, "index": index(rules, check) });
        Some(json!({ "level": level, "message": { "text": text }, "associatedRule": rule }))
    });
    let others = run.unfinished().into_iter().map(|why| format!("incomplete: {why}"));
    let edits = results.sensitivity.iter().filter(|mutant| mutant.status != Fate::Killed);
    let edits = edits.map(|mutant| format!("mutant {} {}: {}", mutant.slug, mutant.status.name(), mutant.sentence));
    let others = others.chain(edits).map(|text| json!({ "level": "error", "message": { "text": plain(&text) } }));
    let mut invocation = json!({
        // It did what it was asked for where it came to a verdict, whichever.
        "executionSuccessful": code < 2,
        "exitCode": code,
        "exitCodeDescription": plain(&results.status_line()),
        "toolExecutionNotifications": unjudged.chain(others).collect::<Vec<_>>(),
    });
    if time::milliseconds(&results.started_at).is_some() {
        invocation["startTimeUtc"] = json!(results.started_at);
    }
    invocation
}

/// Text in which no `[words](target)` is a link (3.11.6), and which is never missing.
fn plain(text: &str) -> String {
    if text.trim().is_empty() { "(empty)".into() } else { text.replace("](", "] (") }
}

/// `EgressHostLoopback` of `egress::host_loopback`.
fn name(slug: &str) -> String {
    let words = slug.split(|character: char| !character.is_ascii_alphanumeric());
    let name: String =
        words.filter_map(|word| Some(format!("{}{}", word.get(..1)?.to_ascii_uppercase(), word.get(1..)?))).collect();
    if name.is_empty() { "Unnamed".into() } else { name }
}

/// A relative path as a URI reference (RFC 3986).
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{
        render::tests::{self, shown},
        testing,
    };

    fn document(results: &Results, extent: Extent) -> Value {
        serde_json::from_str(&shown(results, |run| render(&[run], extent))).expect("JSON")
    }

    #[test]
    fn the_full_document_has_every_requirement_and_github_gets_what_failed() {
        let results = testing::mixed();
        let kinds = |extent| {
            let mut kinds = BTreeMap::new();
            let document = document(&results, extent);
            for result in document["runs"][0]["results"].as_array().expect("an array") {
                *kinds.entry(result["kind"].as_str().expect("text").to_owned()).or_insert(0) += 1;
            }
            kinds
        };
        let count = &results.counts;
        assert_eq!(kinds(Extent::Failures), [("fail".to_owned(), count.fail + count.should_fail)].into());
        let full = kinds(Extent::Everything);
        assert_eq!(full["pass"], count.pass);
        assert_eq!(full["open"], count.inconclusive + count.harness_error);
        assert_eq!(full["notApplicable"], count.not_applicable);
    }

    #[test]
    fn what_was_not_judged_is_a_notification() {
        let document = document(&testing::mixed(), Extent::Failures);
        let invocation = &document["runs"][0]["invocations"][0];
        let told = invocation["toolExecutionNotifications"].as_array().expect("an array");
        let errors = told.iter().filter(|one| one["level"] == "error").count();
        assert_eq!(errors, 6 + 2, "six requirements and two edits: {told:#?}");
        assert_eq!((&invocation["exitCode"], &invocation["executionSuccessful"]), (&json!(1), &json!(true)));
        assert_eq!(invocation["startTimeUtc"], "2026-01-02T03:04:05Z");
    }

    #[test]
    fn a_result_points_to_its_line_or_to_the_manifest_and_keeps_its_fingerprint() {
        let results = testing::small();
        let place = |document: &Value| document["runs"][0]["results"][0]["locations"][0]["physicalLocation"].clone();
        let own = document(&results, Extent::Failures);
        assert_eq!(place(&own)["artifactLocation"]["uri"], "CONFORMANCE.md");
        assert_eq!(place(&own)["region"]["startLine"], tests::line("EGRESS-14"));
        let other = tests::shown_at("harness/targets/a b.toml", &results, |run| render(&[run], Extent::Failures));
        let other: Value = serde_json::from_str(&other).expect("JSON");
        assert_eq!(place(&other)["artifactLocation"]["uri"], "harness/targets/a%20b.toml");
        let hash = |document: &Value| document["runs"][0]["results"][0]["partialFingerprints"].clone();
        assert_eq!(hash(&own), hash(&other), "of requirement and target alone");
    }

    #[test]
    fn links_cannot_be_formed() {
        assert_eq!(plain("see [here](http://x.example)"), "see [here] (http://x.example)");
    }

    #[test]
    fn names_are_those_of_the_slugs() {
        assert_eq!(name("egress::host_loopback"), "EgressHostLoopback");
        assert_eq!(name("::"), "Unnamed");
    }
}
