//! `render`, `badge` and `check --report`: one run in every format, and what is refused.

use std::fs;

use watertight_reports::{
    matrix::{Harness, Matrix, SCHEMA, Summary},
    render::Format,
};

use super::support::{directory, run};

#[test]
fn one_run_writes_every_format_and_render_writes_the_same_from_its_results() {
    let directory = directory();
    let path = |name: &str| directory.path().join(name).to_str().expect("text").to_owned();
    let asked: Vec<_> = Format::ALL.map(|format| format!("{}={}", format.name(), path(format.name()))).into();
    let mut arguments = vec!["check", "dead", "--filter", "EGRESS-14", "--quiet", "--format", "json"];
    asked.iter().for_each(|report| arguments.extend(["--report", report]));
    let checked = run(&arguments);
    assert_eq!((checked.code, checked.stderr.as_str()), (Some(4), ""));
    let read = |name: &str| fs::read_to_string(path(name)).expect("written");
    assert_eq!(read("json"), checked.stdout);
    for format in Format::ALL {
        let name = format.name();
        let shown = run(&["render", &path("json"), "--format", name]);
        assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""), "{name}");
        // A text is as wide as its window.
        if format != Format::Text {
            assert_eq!(shown.stdout, read(name), "{name}");
        }
        assert!(shown.stdout.contains("incomplete"), "{name}: {}", shown.stdout);
    }
    let out = path("out.html");
    let written = run(&["render", &path("json"), "--format", "html", "--out", &out]);
    assert_eq!((written.code, written.stdout.as_str()), (Some(0), ""));
    assert_eq!(read("out.html"), read("html"));
    assert_eq!(run(&["badge", &path("json")]).stdout, read("badge"));
    assert_eq!(run(&["badge", &path("json"), "--json"]).stdout, read("badge-json"));
}

#[test]
fn several_targets_have_a_document_together_or_each_its_own() {
    let directory = directory();
    let path = |name: &str| directory.path().join(name).to_str().expect("text").to_owned();
    let (all, each) = (format!("json={}", path("all.json")), format!("html={}", path("{target}.html")));
    let arguments = ["check", "dead", "reference", "--filter", "EGRESS-14", "-q", "--format", "junit"];
    let checked = run(&[&arguments[..], &["--report", &all, "--report", &each]].concat());
    assert_eq!(checked.code, Some(4), "{}", checked.stderr);
    assert_eq!(checked.stdout.matches("<testsuite ").count(), 2, "{}", checked.stdout);
    for name in ["dead", "reference"] {
        let page = fs::read_to_string(path(&format!("{name}.html"))).expect("written");
        assert!(page.contains(&format!("<h1>{name}</h1>")));
        let one = run(&["render", &path("all.json"), "--format", "html", "--target", name]);
        assert_eq!(one.stdout, page);
    }
    let refused = run(&["render", &path("all.json"), "--format", "html"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    assert!(refused.stderr.contains("html shows one target, and there are 2 (dead, reference)"), "{}", refused.stderr);
    let refused = run(&["check", "dead", "reference", "--format", "tap"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    assert!(refused.stderr.contains("tap shows one target, and 2 are named"), "{}", refused.stderr);
}

#[test]
fn a_summary_is_added_to_what_the_step_wrote_before() {
    let directory = directory();
    let path = directory.path().join("summary.md");
    fs::write(&path, "before\n").expect("written");
    let report = format!("github-summary={}", path.to_str().expect("text"));
    run(&["check", "dead", "--filter", "EGRESS-14", "--quiet", "--report", &report]);
    let summary = fs::read_to_string(&path).expect("there");
    assert!(summary.starts_with("before\n# Watertight: dead\n"), "{summary}");
}

#[test]
fn results_that_contradict_themselves_are_not_shown() {
    let directory = directory();
    let path = directory.path().join("results.json");
    let checked = run(&["check", "dead", "--filter", "EGRESS-14", "--quiet", "--format", "json"]);
    for (from, to) in
        [("\"incomplete\"", "\"conformant\""), ("results/v1", "results/v9"), ("\"pass\": 0", "\"pass\": 1")]
    {
        let forged = checked.stdout.replacen(from, to, 1);
        assert_ne!(forged, checked.stdout, "{from}");
        fs::write(&path, forged).expect("written");
        let shown = run(&["badge", path.to_str().expect("text")]);
        assert_eq!((shown.code, shown.stdout.as_str()), (Some(2), ""), "{from}");
        assert!(shown.stderr.contains("read the results document: "), "{}", shown.stderr);
    }
}

#[test]
fn a_bundle_is_shown_as_its_results_are() {
    let directory = directory();
    let path = |name: &str| directory.path().join(name).to_str().expect("text").to_owned();
    let results = format!("json={}", path("results.json"));
    let (bundle, key) = (path("bundle"), path("key"));
    let arguments = ["check", "dead", "--filter", "EGRESS-14", "--quiet", "--report", &results, "--out", &bundle];
    let checked = run(&arguments);
    assert_eq!((checked.code, checked.stderr.as_str()), (Some(4), ""));
    let page = |of: &str| run(&["render", of, "--format", "html"]).stdout;
    assert_eq!(page(&bundle), page(&path("results.json")));
    assert_eq!(run(&["keygen", "--out", &key]).code, Some(0));
    let signed = run(&["sign", &bundle, "--key-file", &key]);
    assert_eq!(signed.code, Some(0), "{}", signed.stderr);
    let page = page(&bundle);
    assert!(page.contains("as its bundle says; watertight verify tells whether it holds"), "{page}");
    assert!(page.contains("<dt>Statement</dt><dd>sha256:"), "{page}");
}

#[test]
fn a_selftest_tells_what_became_of_the_mutants() {
    let directory = directory();
    let path = |name: &str| directory.path().join(name).to_str().expect("text").to_owned();
    let results = format!("json={}", path("results.json"));
    run(&["check", "dead", "--filter", "EGRESS-14", "--quiet", "--report", &results]);
    let mutant = watertight_reports::mutants::Mutant::new("allow-all-families", "x", vec!["EGRESS-14".into()]);
    let mutants = vec![mutant];
    let matrix = Matrix {
        schema: SCHEMA.into(),
        spec: "1.0".into(),
        harness: Harness { version: String::new(), sha256: String::new(), mutants_sha256: String::new() },
        kernel: String::new(),
        identity: String::new(),
        full: false,
        started_at: String::new(),
        wall_ms: 0,
        doubles: vec![],
        ablation: None,
        summary: Summary::of(&mutants, &[]),
        mutants,
    };
    let selftest = serde_json::to_string(&matrix).expect("JSON");
    fs::write(path("selftest.json"), selftest).expect("written");
    let shown = run(&["render", &path("results.json"), "--format", "html", "--selftest", &path("selftest.json")]);
    assert!(shown.stdout.contains("<code>allow-all-families</code> <span class=\"pill bad\">failed</span>"));
    assert!(shown.stdout.contains("0 of 1 broken reference caught"));
    let refused = run(&["render", &path("results.json"), "--selftest", &path("results.json")]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("it must be what `watertight selftest --json` printed"), "{}", refused.stderr);
}
