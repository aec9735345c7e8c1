//! `list` and `explain`, terminals, and output that nobody reads or nobody can take.

use std::{
    fs::File,
    io::Read,
    process::{Command, Stdio},
};

use nix::pty::{OpenptyResult, Winsize, openpty};

use super::support::{As, command, ended, json, run};

#[test]
fn list_shows_each_requirement_in_a_line_that_fits() {
    let ended = run(&["list"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(ended.stdout.lines().count() > 60, "{}", ended.stdout);
    assert!(ended.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ended.stdout);
    let line = ended.stdout.lines().find(|line| line.starts_with("EGRESS-14 ")).expect("listed");
    assert!(line.contains("MUST") && line.contains("isolation") && line.contains("egress::vsock"), "{line}");
}

#[test]
fn list_has_the_same_for_programs() {
    let all = json(&run(&["list", "--json"]).stdout);
    let all = all.as_array().expect("an array").clone();
    assert_eq!(all.len(), run(&["list"]).stdout.lines().count());
    assert!(all.iter().all(|one| one["sentence"].as_str().is_some_and(|sentence| sentence.ends_with('.'))));
    assert!(all.iter().all(|one| one["slug"].as_str().is_some_and(|slug| !slug.is_empty())));
}

#[test]
fn list_shows_targets() {
    let ended = run(&["list", "--targets"]);
    assert_eq!(ended.code, Some(0));
    for name in ["reference", "bubblewrap", "dead", "polite-liar"] {
        assert!(ended.stdout.contains(&format!("\n  {name} ")), "{}", ended.stdout);
    }
    let rows = json(&run(&["list", "--targets", "--json"]).stdout);
    assert!(rows.as_array().expect("an array").iter().any(|row| row["name"] == "bubblewrap" && row["double"] == false));
}

#[test]
fn explain_tells_everything_about_one_requirement() {
    for name in ["EGRESS-14", "egress-14", "egress::vsock"] {
        let ended = run(&["explain", name, "--target", "bubblewrap"]);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{name}");
        assert!(ended.stdout.starts_with("EGRESS-14  egress::vsock\nMUST, about"), "{}", ended.stdout);
        for part in ["Attempts", "Control", "Mutants", "Waiver", "Target bubblewrap", "Last run"] {
            assert!(ended.stdout.contains(&format!("\n{part}\n")), "{part}: {}", ended.stdout);
        }
    }
}

#[test]
fn explain_works_for_every_requirement_there_is() {
    for one in json(&run(&["list", "--json"]).stdout).as_array().expect("an array") {
        let id = one["id"].as_str().expect("an id");
        let ended = run(&["explain", id]);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{id}");
        assert!(ended.stdout.starts_with(id));
    }
}

#[test]
fn explain_suggests_what_was_meant() {
    let ended = run(&["explain", "EGRES-14"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.contains("no requirement \"EGRES-14\"; did you mean EGRESS-14"), "{}", ended.stderr);
    let ended = run(&["explain", "EGRESS-14", "--target", "bubblewarp"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("did you mean bubblewrap?"), "{}", ended.stderr);
}

#[test]
fn a_reader_that_goes_away_is_no_error_and_a_full_disk_is_one() {
    for arguments in [&["list"][..], &["list", "--json"], &["explain", "EGRESS-14"], &["list", "--targets"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let gone = ended(command(As::Self_, arguments).stdout(writer).stderr(Stdio::piped()));
        assert_eq!((gone.code, gone.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        let full = File::options().write(true).open("/dev/full").expect("a full device");
        let full = ended(command(As::Self_, arguments).stdout(full).stderr(Stdio::piped()));
        assert_eq!(full.code, Some(4), "{arguments:?}");
        assert!(full.stderr.contains("cannot write to standard output"), "{}", full.stderr);
    }
}

#[test]
fn words_that_nobody_hears_are_no_error() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    assert_eq!(ended(command(As::Self_, &["check", "nonsense"]).stderr(writer)).code, Some(2));
}

#[test]
fn nothing_but_a_terminal_gets_colours() {
    for arguments in [&["list"][..], &["explain", "EGRESS-14"], &["list", "--targets"]] {
        let ended = ended(command(As::Self_, arguments).env("TERM", "xterm-256color"));
        assert!(!ended.stdout.contains('\x1b'), "{arguments:?}");
    }
}

/// What a terminal of this width gets on the stream that `attach` chooses.
fn on_terminal(width: u16, command: &mut Command, attach: impl FnOnce(&mut Command, Stdio)) -> String {
    let size = Winsize { ws_row: 24, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 };
    let OpenptyResult { master, slave } = openpty(&size, None).expect("a terminal");
    command.env("TERM", "xterm-256color").env_remove("COLUMNS").stdout(Stdio::null()).stderr(Stdio::null());
    attach(command, slave.into());
    let mut child = command.spawn().expect("started");
    // The command keeps the terminal's other end open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (mut master, mut seen, mut buffer) = (File::from(master), vec![], [0; 4096]);
    // A terminal whose other end is closed answers EIO.
    while let Ok(len) = master.read(&mut buffer)
        && len > 0
    {
        seen.extend_from_slice(&buffer[..len]);
    }
    child.wait().expect("ended");
    String::from_utf8(seen).expect("text")
}

#[test]
fn a_terminal_gets_colours_and_its_own_width() {
    let stdout = |command: &mut Command, terminal| {
        command.stdout(terminal);
    };
    for width in [60, 100] {
        let text = on_terminal(width, &mut command(As::Self_, &["list", "--targets"]), stdout);
        assert!(text.contains("\x1b[1mSandboxes\x1b[0m"), "{text}");
        let widest = text.lines().map(|line| line.replace("\x1b[1m", "").replace("\x1b[0m", "").chars().count()).max();
        assert!(widest <= Some(width.into()) && widest > Some(usize::from(width) - 15), "{widest:?}: {text}");
    }
}

#[test]
fn no_color_and_dumb_terminals_are_honoured() {
    let stdout = |command: &mut Command, terminal| {
        command.stdout(terminal);
    };
    let plain = on_terminal(80, command(As::Self_, &["list", "--targets"]).env("NO_COLOR", "1"), stdout);
    assert!(plain.contains("Sandboxes") && !plain.contains('\x1b'), "{plain}");
}

#[test]
fn progress_on_a_terminal_is_one_line_that_is_gone_at_the_end() {
    let stderr = |command: &mut Command, terminal| {
        command.stderr(terminal);
    };
    let arguments = ["check", "reference", "--filter", "EGRESS-14"];
    let text = on_terminal(60, &mut command(As::Self_, &arguments), stderr);
    assert!(text.contains("\rreference: target"), "{text:?}");
    assert!(text.ends_with("\r\x1b[K") && !text.contains('\n'), "{text:?}");
    assert!(text.split(['\r']).all(|line| line.replace("\x1b[K", "").chars().count() < 60), "{text:?}");
}
