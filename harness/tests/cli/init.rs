//! `target init`: what it writes, and what it refuses where nobody can be asked.

use std::fs;

use super::support::{As, command, directory, ended};

#[test]
fn both_kinds_are_written_with_what_is_next() {
    let directory = directory();
    let init = |arguments: &[&str]| ended(command(As::Self_, arguments).current_dir(directory.path()));
    let words = init(&["target", "init", "mine", "--", "box", "--in", "{workspace}", "--"]);
    assert_eq!((words.code, words.stderr.as_str()), (Some(0), ""));
    assert_eq!(words.stdout, "wrote mine.toml\nnext: watertight target smoke ./mine.toml\n");
    let adapter = init(&["target", "init", "mine-too", "--adapter", "--no-routes", "--file", "sub.toml"]);
    assert_eq!((adapter.code, adapter.stderr.as_str()), (Some(0), ""));
    assert!(adapter.stdout.starts_with("wrote sub.toml\nwrote sub.py\nthe adapter starts bubblewrap"), "{adapter:?}");
    let text = fs::read_to_string(directory.path().join("sub.toml")).expect("written");
    assert!(text.contains("route = \"none\"") && text.contains("file = \"sub.py\""), "{text}");
    let program = fs::read_to_string(directory.path().join("sub.py")).expect("written");
    assert_eq!(program, include_str!("../../targets/bubblewrap-exec.py"));
    // Written once, they are the user's.
    fs::remove_file(directory.path().join("sub.toml")).expect("there");
    let again = init(&["target", "init", "mine-too", "--adapter", "--file", "sub.toml"]);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("cannot write sub.py: it is there already"), "{again:?}");
    assert!(!directory.path().join("sub.toml").exists(), "nothing is written by halves");
}

#[test]
fn without_a_terminal_nothing_is_asked() {
    let directory = directory();
    for (arguments, said) in [
        (&["target", "init"][..], "questions are asked on a terminal alone"),
        (&["target", "init", "mine"], "questions are asked on a terminal alone"),
        (
            &["target", "init", "mine", "--adapter", "--", "box"],
            "--adapter is for a sandbox that no command line starts",
        ),
        (&["target", "init", "../mine", "--adapter"], "\"../mine\" is no name for a sandbox"),
    ] {
        let mut command = command(As::Self_, arguments);
        command.current_dir(directory.path()).stdin(std::process::Stdio::null());
        let ended = ended(&mut command);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ended.stderr.contains(said), "{arguments:?}: {}", ended.stderr);
    }
    assert_eq!(fs::read_dir(directory.path()).expect("there").count(), 0);
}
