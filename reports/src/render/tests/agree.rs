//! One model: every format tells the same of the same results.

use serde_json::Value;

use super::shown;
use crate::{
    render::Format,
    results::{Level, Results, Status, Verdict},
    testing,
};

/// What a format says, read back from its document.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    /// Every requirement, in the order of the results.
    ids: Vec<String>,
    /// MUSTs that failed, and all that passed.
    fail: u32,
    pass: u32,
}

fn runs() -> Vec<Results> {
    let cut = Results { status: Status::Incomplete, ..testing::green() };
    let mut all = vec![testing::green(), testing::vsock_failed(), testing::dead(), testing::mixed(), cut];
    all.iter_mut().for_each(|results| results.untestable = vec!["egress::vsock/stream".into()]);
    all
}

fn model(results: &Results) -> Told {
    let ids = results.checks.iter().map(|check| check.id.clone()).collect();
    Told { ids, fail: results.counts.fail, pass: results.counts.pass }
}

/// The ids of the model that this text holds as whole words, in the model's order, each of them once.
fn ids_in<'a>(results: &Results, words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found: Vec<_> =
        words.map(str::to_owned).filter(|word| results.checks.iter().any(|c| c.id == *word)).collect();
    found.sort_by_key(|id| results.checks.iter().position(|check| check.id == *id));
    found
}

fn count(text: &str, needle: &str) -> u32 {
    u32::try_from(text.matches(needle).count()).expect("few")
}

/// Of documents that list every requirement: what they tell.
fn told(format: Format, results: &Results) -> Option<Told> {
    let text = shown(results, |run| format.render(run));
    let json = || -> Value { serde_json::from_str(&text).expect("JSON") };
    let edits = u32::try_from(results.sensitivity.len() - results.uncaught().count()).expect("few");
    let after =
        |marker: &'static str| text.split(marker).skip(1).map(|rest| rest.split(['"', ' ', '\\']).next().unwrap_or(""));
    Some(match format {
        Format::Json => {
            let document = json();
            let checks = document["checks"].as_array().expect("an array");
            let ids: Vec<_> = checks.iter().map(|check| check["id"].as_str().expect("text")).collect();
            let of = |key: &str| u32::try_from(document["counts"][key].as_u64().expect("a number")).expect("few");
            Told { ids: ids_in(results, ids.into_iter()), fail: of("fail"), pass: of("pass") }
        }
        Format::Junit => {
            let cases = count(&text, "<testcase ");
            let bad = count(&text, "<failure ") + count(&text, "<error ") + count(&text, "<skipped ");
            Told { ids: ids_in(results, after(" name=\"")), fail: count(&text, "<failure "), pass: cases - bad - edits }
        }
        Format::SarifFull => {
            let document = json();
            let all = document["runs"][0]["results"].as_array().expect("an array").clone();
            let of = |key: &str, value: &str| all.iter().filter(|result| result[key] == value).count() as u32;
            let ids: Vec<_> = all.iter().map(|result| result["ruleId"].as_str().expect("text")).collect();
            Told { ids: ids_in(results, ids.into_iter()), fail: of("level", "error"), pass: of("kind", "pass") }
        }
        Format::Html => Told {
            ids: ids_in(results, after("<details id=\"")),
            fail: count(&text, "<span class=\"pill bad\">fail</span></summary>"),
            pass: count(&text, "<span class=\"pill good\">pass</span></summary>"),
        },
        Format::Markdown | Format::GithubSummary => {
            let heads = text.lines().filter_map(|line| line.strip_prefix("### ")).flat_map(|line| line.split(' '));
            let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next());
            let shoulds = results.counts.should_fail;
            Told {
                ids: ids_in(results, heads.chain(rows)),
                fail: count(&text, "\n### FAIL ") - shoulds,
                pass: count(&text, " | PASS | "),
            }
        }
        Format::Ctrf => {
            let document = json();
            let tests = document["results"]["tests"].as_array().expect("an array").clone();
            let of = |status: &str, raw: &str| {
                tests.iter().filter(|test| test["status"] == status && test["rawStatus"] == raw).count() as u32
            };
            let names: Vec<_> = tests.iter().filter_map(|test| test["name"].as_str()?.split(' ').next()).collect();
            Told { ids: ids_in(results, names.into_iter()), fail: of("failed", "fail"), pass: of("passed", "pass") }
        }
        Format::Tap | Format::Tap13 => {
            let points = || text.lines().filter(|line| line.starts_with("ok ") || line.starts_with("not ok "));
            let names = points().filter_map(|line| line.split_once(" - ")?.1.split(' ').next());
            let passed = points().filter(|line| line.starts_with("ok ") && !line.contains(" # SKIP ")).count() as u32;
            Told {
                ids: ids_in(results, names),
                fail: count(&text, "\n  severity: \"fail\"\n  level: \"MUST\""),
                pass: passed - edits,
            }
        }
        // They tell a part, or the status alone.
        Format::Text | Format::Sarif | Format::GithubAnnotations | Format::BadgeSvg | Format::BadgeJson => return None,
    })
}

#[test]
fn every_document_tells_each_requirement_once_and_the_same_counts() {
    for results in runs() {
        let mut compared = 0;
        for format in Format::ALL {
            if let Some(told) = told(format, &results) {
                compared += 1;
                assert_eq!(told, model(&results), "{} of {}", format.name(), results.status_line());
            }
        }
        assert_eq!(compared, 9);
    }
}

#[test]
fn every_document_says_the_status_of_the_whole_run() {
    for results in runs() {
        for format in Format::ALL {
            let text = shown(&results, |run| format.render(run));
            let status = match format {
                // Its own field; the line is made of others.
                Format::Json => format!("\"status\": {}", serde_json::to_string(&results.status).expect("JSON")),
                _ => results.status_line(),
            };
            assert!(text.contains(&status), "{}: {status}", format.name());
        }
    }
}

#[test]
fn what_github_gets_is_what_failed() {
    for results in runs() {
        let text = shown(&results, |run| Format::Sarif.render(run));
        let document: Value = serde_json::from_str(&text).expect("JSON");
        let run = &document["runs"][0];
        let ids: Vec<_> = run["results"].as_array().expect("an array").iter().map(|result| &result["ruleId"]).collect();
        let failed: Vec<_> =
            results.checks.iter().filter(|check| check.verdict == Verdict::Fail).map(|check| &check.id).collect();
        assert_eq!(ids, failed);
        assert_eq!(run["invocations"][0]["exitCode"], results.exit_code());
    }
}

#[test]
fn annotations_of_kind_error_stand_exactly_where_the_exit_status_is_not_0() {
    for results in runs() {
        let text = shown(&results, |run| Format::GithubAnnotations.render(run));
        assert_eq!(text.contains("::error "), results.exit_code() != 0, "{text}");
        let musts = results.checks.iter().filter(|check| check.level == Level::Must && check.verdict == Verdict::Fail);
        for check in musts.take(9) {
            assert!(text.contains(&format!("title={} on ", check.id)), "{text}");
        }
    }
}

#[test]
fn several_runs_stand_in_one_document_where_the_format_has_room_for_them() {
    let (first, second) = (testing::green(), testing::vsock_failed());
    for format in Format::ALL {
        let both = shown(&first, |first| shown(&second, |second| format.render_several(&[first, second])));
        assert_eq!(both.is_some(), format.holds_several(), "{}", format.name());
        let Some(text) = both else { continue };
        if format != Format::Json {
            for line in [first.status_line(), second.status_line()] {
                assert!(text.contains(&line), "{}: {line}", format.name());
            }
        }
    }
}
