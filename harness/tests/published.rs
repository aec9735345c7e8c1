//! scripts/published, on scratch repositories with throw-away keys: what is published verifies and stays as it was.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use rstest::rstest;
use tempfile::TempDir;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const PROGRAM: &str = env!("CARGO_BIN_EXE_watertight");

/// A signed bundle, made once, with the policy that accepts it and the id of its run.
struct Signed {
    directory: TempDir,
    run: String,
}

fn signed() -> &'static Signed {
    static SIGNED: OnceLock<Signed> = OnceLock::new();
    SIGNED.get_or_init(|| {
        let directory = TempDir::new().expect("a directory");
        let script = r#"
            "$PROGRAM" keygen --out key
            "$PROGRAM" check reference --filter EGRESS-6 --quiet --out bundle || [ $? -eq 3 ]
            "$PROGRAM" sign bundle --key-file key
            openssl pkey -pubin -in key.pub -outform DER > spki
            cat > policy.toml <<EOF
accept = ["incomplete"]
max_age_days = 36500
min_profile = "1.0"
[[key]]
keyid = "$(sha256sum < spki | cut -c -64)"
spki = "$(base64 -w 0 < spki)"
organisation = "tests"
role = "runner"
not_before = "2020-01-01T00:00:00Z"
not_after = "2120-01-01T00:00:00Z"
targets = ["reference"]
profiles = ["core"]
EOF"#;
        let (code, said) = bash(directory.path(), script);
        assert_eq!(code, Some(0), "{said}");
        let predicate = fs::read_to_string(directory.path().join("bundle/predicate.json")).expect("a predicate");
        let predicate: serde_json::Value = serde_json::from_str(&predicate).expect("JSON");
        Signed { run: predicate["run"]["id"].as_str().expect("an id").to_owned(), directory }
    })
}

/// A repository with the script, with nothing published yet on `main`, on another branch.
struct Scratch(TempDir);

impl Scratch {
    fn new() -> Self {
        let directory = TempDir::new().expect("a directory");
        fs::create_dir_all(directory.path().join("scripts")).expect("a directory");
        fs::copy(Path::new(REPOSITORY).join("scripts/published"), directory.path().join("scripts/published"))
            .expect("a copy");
        let scratch = Self(directory);
        scratch.write(
            "reports/published/policy.toml",
            fs::read_to_string(signed().directory.path().join("policy.toml")).expect("read"),
        );
        scratch.write("reports/published/1.0/reference/README.md", "how".into());
        scratch.does("git init --quiet --initial-branch main && git add . && git -c user.name=t -c user.email=t@example.test commit --quiet -m 1");
        scratch.does("git switch --quiet --create change");
        scratch
    }

    /// The same with a bundle published on `main`.
    fn with_one() -> Self {
        let scratch = Self::new();
        scratch.publish(&signed().run);
        scratch.commit();
        scratch.does("git branch --force main");
        // A branch that is main itself has nothing of its own to compare.
        scratch.write("other", "x".into());
        scratch.commit();
        scratch
    }

    fn bundle(&self, run: &str) -> PathBuf {
        self.0.path().join("reports/published/1.0/reference").join(run)
    }

    fn publish(&self, run: &str) {
        let (from, to) = (signed().directory.path().join("bundle"), self.bundle(run));
        self.does(&format!("cp --recursive '{}' '{}'", from.display(), to.display()));
        self.does("scripts/published --write main");
    }

    fn write(&self, path: &str, text: String) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    fn commit(&self) {
        self.does("git add . && git -c user.name=t -c user.email=t@example.test commit --quiet --allow-empty -m more");
    }

    fn does(&self, script: &str) {
        let (code, said) = bash(self.0.path(), script);
        assert_eq!(code, Some(0), "{script}: {said}");
    }

    /// What the script says, and whether it is content.
    fn looked(&self) -> (bool, String) {
        let (code, said) = bash(self.0.path(), "scripts/published main");
        (code == Some(0), said)
    }
}

fn bash(directory: &Path, script: &str) -> (Option<i32>, String) {
    let output = Command::new("timeout")
        .args(["120", "bash", "-euo", "pipefail", "-c", script])
        .current_dir(directory)
        .env("PROGRAM", PROGRAM)
        .env("WATERTIGHT", PROGRAM)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env_remove("GIT_DIR")
        .output()
        .expect("bash");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

#[test]
fn where_nothing_is_published_it_says_so() {
    assert_eq!(Scratch::new().looked(), (true, "none published yet\n".into()));
}

#[test]
fn a_bundle_that_the_policy_accepts_may_be_added_and_stays() {
    let scratch = Scratch::new();
    scratch.publish(&signed().run);
    let accepted = "accepted, incomplete (core 1.0), signed by tests\n";
    for _ in 0..2 {
        let (content, said) = scratch.looked();
        assert!(content && said.ends_with(accepted), "{said}");
        scratch.commit();
    }
    let (content, said) = Scratch::with_one().looked();
    assert!(content && said.ends_with(accepted), "{said}");
}

#[test]
fn what_stands_beside_bundles_may_change() {
    let scratch = Scratch::with_one();
    scratch.write("reports/published/1.0/reference/README.md", "how, in other words".into());
    scratch.commit();
    assert!(scratch.looked().0);
}

/// `RUN` stands for the id of the published run.
#[rstest]
#[case::edited("printf x >> RUN/payload/results.json", "was published and is changed or gone")]
#[case::unsigned_text_edited("printf x >> RUN/VERIFY.md", "was published and is changed or gone")]
#[case::mode_changed("chmod +x RUN/predicate.json", "was published and is changed or gone")]
#[case::removed("rm -r RUN", "was published and is changed or gone")]
#[case::moved("mv RUN other", "was published and is changed or gone")]
#[case::replaced_by_a_link(
    "mv RUN ../../../../kept && ln -s ../../../../kept RUN",
    "is neither a bundle nor a README.md"
)]
#[case::under_another_name("cp -r RUN other", "does not lie at the name of its target and the id of its run")]
#[case::of_another_target(
    "mkdir ../bubblewrap && cp -r RUN README.md ../bubblewrap",
    "does not lie at the name of its target"
)]
#[case::tampered_copy("cp -r RUN x && printf x >> x/payload/run.json", "E_FILE_DIGEST")]
#[case::unsigned("cp -r RUN x && rm x/attestations.intoto.jsonl", "E_UNSIGNED")]
#[case::key_not_trusted("sed -i 's/\"reference\"/\"bubblewrap\"/' ../../policy.toml", "E_KEY_SCOPE_TARGET")]
#[case::without_a_way_to_repeat_it("git rm -q README.md", "has no README.md")]
#[case::stray_file("touch notes.txt", "is neither a bundle nor a README.md")]
#[case::index_edited("sed -i s/incomplete/conformant/ ../index.md", "index.md is not what its bundles give")]
#[case::index_removed("rm ../index.json", "index.json is not what its bundles give")]
fn a_change_that_takes_something_from_readers_is_refused(#[case] change: &str, #[case] said: &str) {
    let scratch = Scratch::with_one();
    scratch.does(&format!("cd reports/published/1.0/reference && {}", change.replace("RUN", &signed().run)));
    for committed in [false, true] {
        let (content, found) = scratch.looked();
        assert!(!content && found.contains(said), "committed: {committed}: {found}");
        scratch.commit();
    }
}

#[test]
fn a_removal_on_the_branch_itself_is_seen_one_commit_later() {
    let scratch = Scratch::with_one();
    scratch.does(&format!("git switch --quiet main && git rm -rq reports/published/1.0/reference/{}", signed().run));
    scratch.commit();
    let (content, said) = scratch.looked();
    assert!(!content && said.contains("was published and is changed or gone"), "{said}");
}

#[test]
fn a_log_only_grows() {
    let scratch = Scratch::new();
    scratch.write("reports/published/runs.jsonl", "1\n".into());
    scratch.commit();
    scratch.does("git branch --force main");
    for (text, content) in [("1\n2\n", true), ("2\n", false), ("", false)] {
        scratch.write("reports/published/runs.jsonl", text.into());
        scratch.commit();
        assert_eq!(scratch.looked().0, content, "{text:?}");
    }
}

#[test]
fn without_a_base_nothing_is_accepted() {
    let scratch = Scratch::with_one();
    scratch.does("git branch --delete --force main");
    assert!(!scratch.looked().0);
}

#[test]
fn the_index_shows_what_this_release_verifies_and_leaves_out_what_another_made() {
    let scratch = Scratch::new();
    let (from, old) = (signed().directory.path().join("bundle"), scratch.bundle("aaaa"));
    let predicate = old.join("predicate.json");
    scratch.does(&format!(
        "cp --recursive '{}' '{}' && sed --in-place 's/\"version\": \"{}\"/\"version\": \"0.0.1\"/' '{}'",
        from.display(),
        old.display(),
        env!("CARGO_PKG_VERSION"),
        predicate.display()
    ));
    scratch.does(&format!("[ \"$(jq --raw-output .harness.version '{}')\" = 0.0.1 ]", predicate.display()));
    scratch.commit();
    scratch.does("git branch --force main");
    // A branch that is main itself has nothing of its own to compare.
    scratch.write("other", "x".into());
    scratch.commit();
    scratch.publish(&signed().run);
    let index = fs::read_to_string(scratch.0.path().join("reports/published/1.0/index.json")).expect("an index");
    assert!(index.contains(&signed().run) && !index.contains("aaaa"), "{index}");
    let (content, said) = scratch.looked();
    assert!(content && said.contains("takes watertight 0.0.1"), "{said}");
}

#[test]
fn evidence_of_another_release_is_kept_and_takes_that_release_to_verify() {
    let scratch = Scratch::with_one();
    let older = "#!/bin/sh\n[ \"$1\" = --version ] && echo 'watertight 99.0.0 (CONFORMANCE.md 1.0)' || exec \"$PROGRAM\" \"$@\"\n";
    scratch.write("newer", older.into());
    scratch.does("chmod +x newer");
    let looked = || bash(scratch.0.path(), "WATERTIGHT=$PWD/newer scripts/published main");
    let (code, said) = looked();
    let takes =
        format!("not verified again, since that takes watertight {} (CONFORMANCE.md 1.0)", env!("CARGO_PKG_VERSION"));
    assert!(code == Some(0) && said.contains(&takes), "{said}");
    // What is added is verified, whichever release it says made it.
    scratch
        .does(&format!("cp -r {0} {0}x && echo x >> {0}x/payload/run.json", scratch.bundle(&signed().run).display()));
    let (code, said) = looked();
    assert!(code != Some(0) && said.contains("E_FILE_DIGEST"), "{said}");
}
