use std::path::Path;

use crate::{
    adapter::Order,
    target::{Adapter, Target, TargetError},
};

fn manifest(route: &str, adapter: &str) -> Result<Target, TargetError> {
    let text = format!("name = 'x'\nsummary = 's'\nroute = '{route}'\nbearer_variable = 'KEY'\n[adapter]\n{adapter}\n");
    Target::parse("x", &text)
}

#[test]
fn an_adapter_becomes_an_ordinary_launch_behind_the_relays() {
    let target = manifest("sockets", "argv = ['box-adapter', '--tight']\nenvironment = ['LANG']").expect("valid");
    let argv = &target.launch.argv;
    assert_eq!(argv[..2], ["{watertight}", "relay"]);
    let at = argv.iter().position(|word| word == "adapted").expect("there");
    let order = Order::read(argv[at + 1..].iter().cloned()).expect("an order");
    assert_eq!(order.adapter, ["box-adapter", "--tight"]);
    assert_eq!(order.environment, ["KEY", "OPENAI_BASE_URL", "WATERTIGHT_INSTANCE_URL", "WATERTIGHT_MARKER", "LANG"]);
    assert_eq!(order.workload, ["{watertight}", "bridge", "--sockets", "{sockets}", "--", "{probe}"]);
    assert_eq!((order.route.as_str(), order.sockets.as_deref()), ("sockets", Some("{sockets}")));
    let hello = Order::read(target.version[2..].iter().cloned()).expect("an order");
    assert!(hello.only_hello && hello.adapter == order.adapter, "its version is what its adapter says");
}

#[test]
fn without_routes_there_is_neither_relay_nor_bridge() {
    let target = manifest("none", "argv = ['box-adapter']").expect("valid");
    assert_eq!(target.launch.argv[..2], ["{watertight}", "adapted"]);
    assert_eq!(target.launch.argv[target.launch.argv.len() - 2..], ["--exec", "{probe}"]);
    assert!(!target.launch.argv.iter().any(|word| word.contains("{sockets}")));
}

#[test]
fn an_adapter_that_could_not_be_started_is_refused_by_name() {
    for (adapter, words) in [
        ("argv = []", "its argv is empty"),
        ("argv = ['a', '--exec']", "the word --exec, which ends it"),
        ("argv = ['a', '{adapter}']", "one is there without the other"),
        ("argv = ['a']\nfile = 'a.py'", "one is there without the other"),
        ("argv = ['{adapter}']\nfile = '../a.py'", "a name without a directory"),
        ("argv = ['a']\nenvironment = ['A,B']", "`A,B` is no name of a variable"),
        ("argv = ['a']\n[launch]\nargv = ['{probe}']", "only one of them"),
    ] {
        let error = manifest("sockets", adapter).expect_err("refused").to_string();
        assert!(error.starts_with("manifest x: ") && error.contains(words), "{adapter}: {error}");
    }
    assert!(matches!(
        Target::parse("x", "name = 'x'\nsummary = 's'\nroute = 'none'\n"),
        Err(TargetError::NoProbe { .. })
    ));
}

#[test]
fn the_file_of_an_adapter_lies_beside_its_manifest() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x.toml");
    let text = "name = 'x'\nsummary = 's'\nroute = 'none'\n[adapter]\nfile = 'a.py'\nargv = ['python3', '{adapter}']\n";
    std::fs::write(&path, text).expect("written");
    let path = path.display().to_string();
    let error = Target::load(&path).expect_err("no file").to_string();
    assert!(error.starts_with("manifest x: cannot read the adapter's file a.py: No such file"), "{error}");
    std::fs::write(directory.path().join("a.py"), "print()").expect("written");
    let target = Target::load(&path).expect("a manifest");
    assert_eq!(target.adapter.expect("an adapter").program.as_deref(), Some("print()"));
}

#[test]
fn a_manifest_of_ours_with_another_adapter_beside_it_is_not_ours() {
    let ours = Target::load("bubblewrap-exec").expect("a manifest");
    assert!(ours.is_ours("bubblewrap-exec"));
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("bubblewrap-exec.toml");
    let program = directory.path().join("bubblewrap-exec.py");
    std::fs::write(&path, &ours.manifest).expect("written");
    let text = ours.adapter.expect("an adapter").program.expect("a program");
    let load = || Target::load(&path.display().to_string());
    std::fs::write(&program, &text).expect("written");
    assert!(load().is_ok_and(|target| target.is_ours("bubblewrap-exec")));
    std::fs::write(&program, text + "\n").expect("written");
    assert!(matches!(load(), Err(TargetError::Taken { .. })));
}

#[test]
fn an_adapter_that_comes_with_the_program_names_a_command_for_its_version() {
    for name in Target::names() {
        let target = Target::load(name).expect(name);
        let asked = target.version.iter().any(|word| word == crate::adapter::ADAPTED);
        assert!(!asked, "{name}: `doctor` has no world in which it could ask the adapter");
    }
}

#[test]
fn a_file_that_is_there_comes_before_one_of_ours_and_no_other_name_is_known() {
    let ours = Adapter::of_file(Path::new("docker.py")).expect("one of ours").program;
    assert_eq!(ours, Target::load("docker").expect("a manifest").adapter.expect("an adapter").program);
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("docker.py");
    let missing = Adapter::of_file(&path).expect_err("no file");
    assert_eq!(missing.kind(), std::io::ErrorKind::NotFound);
    std::fs::write(&path, "print()").expect("written");
    assert_eq!(Adapter::of_file(&path).expect("a file").program.as_deref(), Some("print()"));
}
