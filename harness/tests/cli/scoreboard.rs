//! `scoreboard`: what verifies, and fails nothing that nobody has reported, is shown; of anything else nothing is.

use std::{fs, path::Path, thread, time::Duration};

use super::{
    desk::Desk,
    support::{As, Ended, json},
};

const DOCUMENTS: [&str; 3] = ["index.json", "index.md", "index.html"];

/// A signed run of one requirement against no sandbox at all, which fails it.
fn failing(desk: &Desk, name: &str, known: &str) {
    let manifest = desk.at(&format!("{name}.toml"));
    let text = format!(
        "name = \"{name}\"\nsummary = \"Nothing.\"\nroute = \"none\"\nversion = [\"echo\", \"1.0\"]\none_at_a_time = true\n\
         {known}\n[programs]\nsh = \"dash\"\n[launch]\nargv = [\"{{probe}}\"]\n"
    );
    fs::write(&manifest, text).expect("written");
    let out = desk.at(&format!("published/{name}"));
    let ran = desk.run(&["check", &manifest, "--quiet", "--filter", "EGRESS-14", "--out", &out]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let signed = desk.sign(&format!("published/{name}"));
    assert_eq!(signed.code, Some(0), "{signed:?}");
}

fn scoreboard(desk: &Desk, names: &[&str]) -> Ended {
    let bundles: Vec<String> = names.iter().map(|name| desk.at(&format!("published/{name}"))).collect();
    let (policy, out) = (desk.at("policy.toml"), desk.at("published"));
    let mut arguments = vec!["scoreboard", "--policy", &policy, "--out", &out];
    arguments.extend(bundles.iter().map(String::as_str));
    desk.run(&arguments)
}

fn written(desk: &Desk) -> usize {
    DOCUMENTS.iter().filter(|name| Path::new(&desk.at(&format!("published/{name}"))).exists()).count()
}

#[test]
fn only_what_verifies_and_is_known_to_the_public_is_shown() {
    let desk = Desk::new(As::Self_);
    let policy = fs::read_to_string(desk.at("policy.toml")).expect("a policy");
    let policy = policy.replace("[\"conformant\"]", "[\"incomplete\", \"nonconformant\"]");
    let policy = policy.replace("[\"reference\"]", "[\"reference\", \"reported\", \"unreported\"]");
    fs::write(desk.at("policy.toml"), policy).expect("written");
    fs::create_dir(desk.at("published")).expect("a directory");
    assert_eq!(desk.check("published/reference", &["--filter", "EGRESS-14"]).code, Some(3));
    assert_eq!(desk.sign("published/reference").code, Some(0));
    let report = "report = \"https://example.org/issues/7\"\nexpires = \"2099-01-01\"";
    failing(&desk, "reported", &format!("[known_failures.EGRESS-14]\n{report}"));
    failing(&desk, "unreported", "");

    let refused = scoreboard(&desk, &["reference", "reported", "unreported"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.stderr.contains("unreported fails EGRESS-14, and its manifest names no public report"),
        "{refused:?}"
    );
    assert_eq!(written(&desk), 0);

    let shown = scoreboard(&desk, &["reported", "reference"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), "2 of 2 bundles are shown\n"), "{shown:?}");
    let read = |name: &str| fs::read_to_string(desk.at(&format!("published/{name}"))).expect("written");
    let board = json(&read("index.json"));
    let rows: Vec<_> =
        board["rows"].as_array().expect("rows").iter().map(|row| (&row["target"], &row["areas"])).collect();
    let area = |passed: u32| serde_json::json!([{ "name": "EGRESS", "passed": passed, "applicable": 1 }]);
    assert_eq!(rows, [(&"reference".into(), &area(1)), (&"reported".into(), &area(0))]);
    let link = "[EGRESS-14](https://example.org/issues/7)";
    assert!(
        read("index.md").contains(link) && read("index.md").contains("[reference](reference)"),
        "{}",
        read("index.md")
    );
    assert!(read("index.html").contains("<a href=\"https://example.org/issues/7\">EGRESS-14</a>"));

    // Of two runs of one configuration, the newer counts; times have whole seconds.
    thread::sleep(Duration::from_millis(1_100));
    assert_eq!(desk.check("published/again", &["--filter", "EGRESS-14"]).code, Some(3));
    assert_eq!(desk.sign("published/again").code, Some(0));
    assert_eq!(scoreboard(&desk, &["reference", "again"]).stdout, "1 of 2 bundles are shown\n");
    assert!(read("index.md").contains("[reference](again)"), "{}", read("index.md"));

    let before = read("index.json");
    fs::write(desk.at("published/again/payload/harness.log"), "x").expect("written");
    let tampered = scoreboard(&desk, &["reference", "again"]);
    assert!(tampered.code == Some(5) && tampered.stderr.contains("rejected: E_FILE_DIGEST"), "{tampered:?}");
    assert_eq!(read("index.json"), before);
}
