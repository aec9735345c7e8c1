use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;

/// Whether the published schema takes this line, as a whole or as one of its parts.
fn schema_takes(part: Option<&str>, line: &Value) -> bool {
    let mut schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    if let Some(part) = part {
        let whole = schema.as_object_mut().expect("an object");
        whole.remove("oneOf");
        whole.insert("$ref".into(), format!("#/$defs/{part}").into());
    }
    let validator = jsonschema::draft202012::options().build(&schema).expect("a schema");
    validator.is_valid(line)
}

fn up<'a>(sockets: Option<&'a str>, environment: &'a [String]) -> Verb<'a> {
    let ports = if sockets.is_some() { [("provider", 8765), ("instance", 8766)].into() } else { BTreeMap::new() };
    let route = if sockets.is_some() { "sockets" } else { "none" };
    Verb::Up(Up { route, sockets, ports, program: "/w", workspace: "/work", run_dir: "/run/s", environment })
}

#[test]
fn every_request_is_as_the_schema_says() {
    let (argv, environment) = (["/w".to_owned(), "probe".to_owned()], ["A".to_owned()]);
    let verbs = [
        Verb::Hello { protocol: PROTOCOL },
        up(Some("/sockets"), &environment),
        up(None, &[]),
        Verb::Inspect { sandbox: "s" },
        Verb::Exec { sandbox: "s", argv: &argv },
        Verb::Down { sandbox: "s" },
    ];
    for verb in verbs {
        let name = verb.name();
        let line = serde_json::to_value(Request { id: 1, verb }).expect("JSON");
        assert_eq!(line["verb"], name);
        assert!(schema_takes(Some(name), &line) && schema_takes(None, &line), "{line:#}");
    }
}

/// Reads an answer as the launcher does.
fn read<T: DeserializeOwned>(line: &Value) -> Result<T, String> {
    let answer = Answer::read(line.to_string().as_bytes())?;
    serde_json::from_value(answer.reply()?).map_err(|error| error.to_string())
}

fn accepts(verb: &str, line: &Value) -> bool {
    match verb {
        "hello" => read::<Hello>(line).is_ok_and(|hello| hello.protocol == PROTOCOL),
        "up" => read::<Started>(line).is_ok_and(|started| started.check().is_ok()),
        "inspect" => read::<Inspected>(line).is_ok_and(|seen| seen.check().is_ok()),
        "exec" => read::<Ended>(line).is_ok(),
        _ => read::<Gone>(line).is_ok(),
    }
}

#[test]
fn code_and_schema_take_the_same_answers_and_refuse_the_same() {
    let cases = [
        (
            "hello",
            json!({"protocol": 1, "name": "n", "version": "v", "supports": ["sockets", "none", "inspect"]}),
            true,
        ),
        ("hello", json!({"protocol": 1, "name": "n", "version": "v", "supports": []}), true),
        ("hello", json!({"protocol": 2, "name": "n", "version": "v", "supports": []}), false),
        ("hello", json!({"protocol": 1, "name": "n", "version": "v", "supports": ["proxy"]}), false),
        ("hello", json!({"protocol": 1, "name": "n", "version": "v"}), false),
        ("hello", json!({"protocol": 1, "name": 3, "version": "v", "supports": []}), false),
        ("up", json!({"sandbox": "x"}), true),
        ("up", json!({"sandbox": ""}), false),
        ("up", json!({"sandbox": "x".repeat(LONGEST_ID + 1)}), false),
        ("up", json!({"sandbox": 7}), false),
        ("up", json!({"sandbox": "x", "more": 1}), false),
        ("inspect", json!({"pids": [1, 2], "cgroup": "/c", "namespaces": {"net": 3}}), true),
        ("inspect", json!({"unseen": "it is a virtual machine"}), true),
        ("inspect", json!({}), false),
        ("inspect", json!({"pids": [-1]}), false),
        ("inspect", json!({"namespaces": {"time": 3}}), false),
        ("inspect", json!({"pids": vec![1; MOST_PIDS + 1]}), false),
        ("exec", json!({"status": 255}), true),
        ("exec", json!({"signal": 9}), true),
        ("exec", json!({"status": 256}), false),
        ("exec", json!({"status": -1}), false),
        ("exec", json!({"status": 0, "signal": 9}), false),
        ("exec", json!({}), false),
        ("down", json!({}), true),
        ("down", json!({"sandbox": "x"}), false),
        ("down", json!(null), false),
    ];
    for (verb, ok, valid) in cases {
        assert_eq!(schema_takes(Some(&format!("{verb}-ok")), &ok), valid, "the schema: {verb}: {ok}");
        let line = json!({"id": 3, "ok": ok});
        assert_eq!(accepts(verb, &line), valid, "the code: {verb}: {line}");
        assert!(!valid || schema_takes(None, &line), "{line}");
    }
}

#[test]
fn a_line_that_is_no_answer_is_refused_by_both() {
    for line in [
        json!({"id": 1}),
        json!({"id": 1, "ok": {}, "error": "x"}),
        json!({"id": -1, "ok": {}}),
        json!({"id": "1", "ok": {}}),
        json!({"ok": {}}),
        json!({"id": 1, "ok": {}, "more": 1}),
        json!({"id": 1, "error": 5}),
        json!([]),
    ] {
        assert!(Answer::read(line.to_string().as_bytes()).is_err(), "{line}");
        assert!(!schema_takes(Some("answer"), &line), "{line}");
    }
    for line in [&b"Pulling image..."[..], b"", b"{\"id\":1,\"ok\":{}", b"\xff\xfe", b"{\"id\":1,\"ok\":{}} more"] {
        assert!(Answer::read(line).is_err(), "{line:?}");
    }
    let refused = json!({"id": 1, "error": "no such image"});
    assert!(schema_takes(None, &refused));
    assert_eq!(read::<Gone>(&refused), Err("no such image".into()));
}

#[test]
fn what_can_be_seen_and_that_nothing_can_is_not_said_at_once() {
    let both = json!({"id": 1, "ok": {"pids": [1], "unseen": "x"}});
    assert!(!accepts("inspect", &both));
}

#[test]
fn a_signal_is_told_as_shells_tell_it() {
    assert_eq!([Ended::Status(7), Ended::Signal(9), Ended::Signal(255)].map(Ended::status), [7, 137, 255]);
}

/// docs/ADAPTERS.md.
const DOCUMENT: &str = include_str!("../../../../docs/ADAPTERS.md");

#[test]
fn the_conversation_of_the_document_is_as_the_schema_says() {
    let block =
        DOCUMENT.lines().skip_while(|line| !line.starts_with("    {")).take_while(|line| line.starts_with("    "));
    let mut lines: Vec<String> = vec![];
    for line in block {
        match (line.starts_with("    {"), lines.last_mut()) {
            (false, Some(last)) => last.push_str(line.trim()),
            _ => lines.push(line.trim().to_owned()),
        }
    }
    assert_eq!(lines.len(), 10, "{lines:#?}");
    for line in lines {
        let line: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(schema_takes(None, &line), "{line}");
    }
}

#[test]
fn the_deadlines_of_the_document_are_those_that_are_kept() {
    let crate::adapter::Deadlines { hello, up, inspect, exec, down, end } = crate::adapter::Deadlines::default();
    for (verb, within) in [("hello", hello), ("up", up), ("inspect", inspect), ("exec", exec), ("down", down)] {
        let row = DOCUMENT.lines().find(|line| line.starts_with(&format!("| `{verb}` |"))).expect("a row");
        assert!(row.ends_with(&format!("| {} s |", within.as_secs())), "{row}");
    }
    assert!(DOCUMENT.contains(&format!("then yourself, within {} s.", end.as_secs())));
}
