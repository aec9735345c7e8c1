//! The Common Test Report Format: <https://ctrf.io>. It has no word for what was not judged: that is `other`, with the
//! verdict as its raw status, and so is a SHOULD that failed, which has no weight on the status.

use serde_json::{Value, json};

use super::{
    run::{Run, Weight, message, word},
    time,
};
use crate::{
    json,
    mutants::Fate,
    results::{CheckResult, Fact, Verdict},
    text, words,
};

pub(super) fn render(run: Run<'_>) -> String {
    let results = run.results;
    let mut tests: Vec<Value> = results.checks.iter().map(|check| test(run, check)).collect();
    tests.extend(results.sensitivity.iter().map(|mutant| {
        json!({
            "name": format!("mutant {}", mutant.slug),
            "status": if mutant.status == Fate::Killed { "passed" } else { "failed" },
            "rawStatus": mutant.status.name(),
            "duration": mutant.micros / 1_000,
            "suite": ["watertight", results.target.name, "mutants"],
            "message": mutant.sentence,
        })
    }));
    // A reader that looks for failures alone must not take what was not judged for a success.
    if results.exit_code() != 0 && !tests.iter().any(|test| test["status"] == "failed") {
        tests.push(json!({
            "name": "RUN every requirement is checked and judged",
            "status": "failed",
            "rawStatus": results.status,
            "duration": 0,
            "suite": ["watertight", results.target.name, "RUN"],
            "message": run.unfinished().unwrap_or_else(|| text::plainly(results)),
        }));
    }
    let count = |status: &str| tests.iter().filter(|test| test["status"] == status).count();
    // Where the time is not known, 0 says so.
    let start = time::milliseconds(&results.started_at).unwrap_or(0);
    let fact = |name: &str| match results.environment.get(name) {
        Some(Fact::Known(value)) => value.as_str(),
        Some(Fact::Unavailable(_)) | None => "unknown",
    };
    json::render(&json!({
        "reportFormat": "CTRF",
        "specVersion": "0.0.0",
        "generatedBy": "watertight",
        "results": {
            "tool": { "name": "watertight", "version": run.context.suite.program },
            "summary": {
                "tests": tests.len(),
                "passed": count("passed"),
                "failed": count("failed"),
                "skipped": count("skipped"),
                "pending": 0,
                "other": count("other"),
                "start": start,
                "stop": start.saturating_add(results.wall_ms),
                "extra": {
                    "status": results.status,
                    "statusLine": results.status_line(),
                    "counts": results.counts,
                    "exitStatus": results.exit_code(),
                },
            },
            "environment": {
                "reportName": results.status_line(),
                "appName": results.target.name,
                "appVersion": results.target.version,
                "osPlatform": "linux",
                "osRelease": fact("kernel"),
                "testEnvironment": fact("identity"),
            },
            "tests": tests,
        },
    }))
}

fn test(run: Run<'_>, check: &CheckResult) -> Value {
    let status = match (Weight::of(check), check.verdict) {
        (Weight::Passed, _) => "passed",
        (Weight::Waived, _) => "skipped",
        (Weight::Red, Verdict::Fail) => "failed",
        (Weight::Red | Weight::Told, _) => "other",
    };
    let (file, line) = run.place(check);
    let mut test = json!({
        "name": format!("{} {}", check.id, check.slug),
        "status": status,
        "rawStatus": word(check.verdict),
        "duration": check.duration_us / 1_000,
        "suite": ["watertight", run.results.target.name, words::area(&check.id)],
        "tags": [words::level(check.level), words::subject(check.subject)],
        "filePath": file,
        "line": line,
    });
    if status != "passed" {
        test["message"] = json!(message(check));
        test["trace"] = json!(run.details(check));
    }
    test
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        render::tests::shown,
        results::{Results, Status},
        testing,
    };

    #[test]
    fn every_requirement_is_a_test_and_the_summary_counts_them() {
        let results = testing::mixed();
        let document: Value = serde_json::from_str(&shown(&results, render)).expect("JSON");
        let summary = &document["results"]["summary"];
        let counts = &results.counts;
        assert_eq!(summary["passed"], counts.pass + 1, "and one edit that was caught");
        assert_eq!(summary["failed"], counts.fail + 2, "and two edits that were not");
        assert_eq!(summary["skipped"], counts.not_applicable);
        assert_eq!(summary["other"], counts.inconclusive + counts.harness_error + counts.should_fail);
        assert_eq!(summary["tests"], results.checks.len() + 3);
        assert_eq!(summary["extra"]["exitStatus"], 1);
        assert_eq!(
            (&summary["start"], &summary["stop"]),
            (&json!(1_767_323_045_000_u64), &json!(1_767_323_046_420_u64))
        );
    }

    #[test]
    fn a_test_failed_exactly_where_the_exit_status_is_not_0() {
        let cut = Results { status: Status::Incomplete, ..testing::green() };
        for results in [testing::green(), testing::vsock_failed(), testing::dead(), testing::mixed(), cut] {
            let document: Value = serde_json::from_str(&shown(&results, render)).expect("JSON");
            let failed = document["results"]["summary"]["failed"].as_u64().expect("a number");
            assert_eq!(failed > 0, results.exit_code() != 0, "{}", results.status_line());
        }
    }
}
