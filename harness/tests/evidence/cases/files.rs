//! The closed world: what lies in the bundle is what was signed, and nothing else does.

use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
};

use watertight_reports::{
    bundle::{MANIFEST, MAX_ENTRIES, PREDICATE, instructions::VERIFY},
    verify::code::Code,
};

use super::{
    By::{Attacker, Signer},
    Case, UNREAD, UNREADABLE, case, signed,
};
use crate::scene::Scene;

const PLAN: &str = "payload/plan.json";

pub fn cases() -> Vec<Case> {
    [edited(), kinds(), manifest(), beside()].into_iter().flatten().collect()
}

fn edited() -> Vec<Case> {
    vec![
        case(Attacker, "log-edited", Code::FileDigest, "A recorded line was edited.", |scene| {
            let path = format!("payload/{}/probe.jsonl", launch(scene));
            scene.write(&path, scene.text(&path).replacen("\"began\":true", "\"began\":false", 1));
        })
        .structural(UNREAD),
        case(
            Attacker,
            "log-and-manifest-edited",
            Code::ManifestDigest,
            "A recorded line was edited, and its digest in SHA256SUMS with it.",
            |scene| {
                let path = format!("{}/probe.jsonl", launch(scene));
                let text = scene.text(&format!("payload/{path}")).replacen("\"began\":true", "\"began\":false", 1);
                scene.write(&format!("payload/{path}"), &text);
                relist(scene, &path, &text);
            },
        )
        .then(Code::Merkle),
        case(Attacker, "log-deleted", Code::FileMissing, "A recorded file is gone.", |scene| {
            scene.remove(&format!("payload/{}/ledger.jsonl", launch(scene)));
        })
        .structural(UNREAD),
        case(Attacker, "payload-deleted", Code::FileMissing, "All of the payload is gone.", |scene| {
            fs::remove_dir_all(scene.path("payload")).expect("removed");
        })
        .structural(UNREAD),
        case(Attacker, "manifest-deleted", Code::FileMissing, "SHA256SUMS is gone.", |scene| scene.remove(MANIFEST))
            .structural(UNREAD),
        case(
            Attacker,
            "unsigned-skip-list-file-added",
            Code::FileExtra,
            "A file lies in the payload that is not listed; `sha256sum --check` passes over it.",
            |scene| scene.write("payload/skips.json", "[\"EGRESS-1\"]"),
        )
        .structural(UNREAD),
        case(Attacker, "empty-directory-added", Code::FileExtra, "An empty directory with a telling name.", |scene| {
            fs::create_dir(scene.path("payload/certified-by-everyone")).expect("made");
        })
        .structural(UNREAD),
        case(
            Attacker,
            "twenty-thousand-files-added",
            Code::FileTooBig,
            "20,001 empty files lie in the payload.",
            |scene| {
                for number in 0..=MAX_ENTRIES {
                    scene.write(&format!("payload/{number}"), "");
                }
            },
        )
        .structural(UNREAD),
    ]
}

/// What is no regular file with one name.
fn kinds() -> Vec<Case> {
    let instead = |name, about, make: fn(&Scene)| {
        case(Attacker, name, Code::FileType, about, move |scene: &mut Scene| {
            fs::rename(scene.path(PLAN), scene.bundle().with_file_name("moved")).expect("moved");
            make(scene);
        })
        .structural(UNREAD)
    };
    vec![
        instead("log-replaced-by-symlink", "A file is a link to what it was.", |scene| {
            symlink("../../moved", scene.path(PLAN)).expect("a link");
        }),
        instead("log-replaced-by-hard-link", "A file has a second name outside of the bundle.", |scene| {
            fs::hard_link(scene.bundle().with_file_name("moved"), scene.path(PLAN)).expect("a link");
        }),
        instead("log-replaced-by-fifo", "A file is a FIFO, at which a reader would wait for ever.", |scene| {
            nix::unistd::mkfifo(&scene.path(PLAN), nix::sys::stat::Mode::S_IRWXU).expect("a FIFO");
        }),
        instead("log-replaced-by-socket", "A file is a socket.", |scene| {
            // The name outlives the listener.
            drop(UnixListener::bind(scene.path(PLAN)).expect("bound"));
        }),
        instead("log-replaced-by-directory", "A file is a directory.", |scene| {
            fs::create_dir(scene.path(PLAN)).expect("made");
        })
        .code(Code::FileExtra),
        case(Attacker, "payload-replaced-by-symlink", Code::FileType, "The payload is a link to itself.", |scene| {
            fs::rename(scene.path("payload"), scene.bundle().with_file_name("moved")).expect("moved");
            symlink("../moved", scene.path("payload")).expect("a link");
        })
        .structural(UNREAD),
        case(Attacker, "manifest-replaced-by-fifo", Code::FileType, "SHA256SUMS is a FIFO.", |scene| {
            scene.remove(MANIFEST);
            nix::unistd::mkfifo(&scene.path(MANIFEST), nix::sys::stat::Mode::S_IRWXU).expect("a FIFO");
        })
        .structural(UNREAD),
        case(Attacker, "file-of-a-gibibyte", Code::FileTooBig, "A file has a hole of 1 GiB.", |scene| {
            let file = fs::File::create(scene.path(PLAN)).expect("made");
            file.set_len(1 << 30).expect("a hole");
        })
        .structural(UNREAD),
    ]
}

/// A manifest by whoever has the key.
fn manifest() -> Vec<Case> {
    let of = |name, code, about, edit: fn(String) -> String| {
        case(Signer, name, code, about, move |scene: &mut Scene| {
            let text = scene.text(MANIFEST);
            scene.dishonest(move |draft| draft.manifest = Some(edit(text)));
            scene.unlogged();
        })
    };
    vec![
        of("manifest-path-traversal", Code::ManifestPath, "A path leads out of the payload.", |text| {
            text.replacen("  harness.log", "  ../../../etc/passwd", 1)
        })
        .structural(UNREADABLE),
        of(
            "manifest-escaped-filename",
            Code::ManifestSyntax,
            "A line has the form in which coreutils escapes a name.",
            |text| format!("\\{text}"),
        )
        .structural(UNREADABLE),
        of("manifest-with-carriage-returns", Code::ManifestSyntax, "Its lines end as those of Windows.", |text| {
            text.replace('\n', "\r\n")
        })
        .structural(UNREADABLE),
        of("manifest-out-of-order", Code::ManifestSyntax, "Two of its lines have changed places.", |text| {
            let mut lines: Vec<&str> = text.lines().collect();
            lines.swap(0, 1);
            lines.join("\n") + "\n"
        })
        .structural(UNREADABLE),
        of(
            "manifest-paths-that-differ-in-case",
            Code::ManifestSyntax,
            "Two paths are one file where case says nothing.",
            |text| format!("{}  HARNESS.LOG\n{text}", "0".repeat(64)),
        )
        .structural(UNREADABLE),
        of("manifest-with-a-look-alike-path", Code::ManifestSyntax, "A path has a letter of another script.", |text| {
            text.replacen("  plan.json", "  pl\u{430}n.json", 1)
        })
        .structural(UNREADABLE),
        of("manifest-of-twenty-thousand-and-one-lines", Code::FileTooBig, "It lists more than is read.", |_| {
            (0..=MAX_ENTRIES).map(|number| format!("{}  {number:08}\n", "0".repeat(64))).collect()
        })
        .structural("more is never read"),
        of("manifest-row-dropped", Code::FileExtra, "A file is there that is no longer listed.", |text| {
            text.lines().filter(|line| !line.ends_with("harness.log")).map(|line| format!("{line}\n")).collect()
        })
        .structural(UNREAD),
        of("manifest-of-a-file-that-never-was", Code::FileMissing, "It lists a file that is not there.", |text| {
            let line = format!("{}  reports/0.html\n", "0".repeat(64));
            let place = text.find("  plan.json\n").expect("a plan") + "  plan.json\n".len();
            format!("{}{line}{}", &text[..place], &text[place..])
        })
        .structural(UNREAD),
        signed("manifest-count-lie", Code::ManifestCount, "The statement counts one file less.", |draft| {
            draft.last = Some(|predicate| {
                let entries = predicate["evidence"]["entries"].as_u64().expect("a number");
                predicate["evidence"]["entries"] = (entries - 1).into();
            });
        }),
        signed("merkle-root-of-other-lines", Code::Merkle, "The Merkle root is another's.", |draft| {
            draft.last = Some(|predicate| predicate["evidence"]["merkleRoot"] = "44".repeat(32).into());
        }),
        signed(
            "signed-file-that-nothing-reads",
            Code::FileExtra,
            "A file is listed and signed that no version knows, and says what it likes.",
            |draft| drop(draft.files.insert("CERTIFIED.md".into(), b"All requirements are met.\n".to_vec())),
        ),
        signed("file-deeper-than-any-is", Code::FileTooBig, "A file lies below 100 directories.", |draft| {
            drop(draft.files.insert(format!("launches/{}x", "d/".repeat(90)), vec![]))
        })
        .structural(UNREAD),
    ]
}

/// What is not signed, beside the payload.
fn beside() -> Vec<Case> {
    vec![
        case(
            Attacker,
            "unsigned-copy-of-the-predicate-edited",
            Code::PredicateMismatch,
            "The copy of the predicate, which people read, says something else.",
            |scene| scene.write(PREDICATE, scene.text(PREDICATE).replacen("\"spec\"", " \"spec\"", 1)),
        ),
        case(
            Attacker,
            "instructions-that-verify-nothing",
            Code::FileExtra,
            "VERIFY.md tells its reader to execute a command that accepts anything.",
            |scene| scene.write(VERIFY, scene.text(VERIFY).replacen("openssl", "true", 1)),
        ),
        case(
            Attacker,
            "unsigned-report-beside-the-payload",
            Code::FileExtra,
            "A report lies in the bundle that nobody signed.",
            |scene| scene.write("report.html", "<h1>conformant</h1>"),
        ),
    ]
}

/// The directory of the target's launch.
fn launch(scene: &Scene) -> String {
    let of = |number: &u32| {
        let head = scene.text(&format!("payload/launches/{number}/launch.json"));
        head.contains("\"kind\":\"target\"")
    };
    format!("launches/{}", (0..).find(of).expect("a launch"))
}

/// Lists a file with the digest that it has now.
fn relist(scene: &Scene, path: &str, text: &str) {
    use sha2::{Digest, Sha256};
    let line = |line: &str| {
        let same = line.ends_with(&format!("  {path}"));
        if same { format!("{}  {path}\n", hex::encode(Sha256::digest(text))) } else { format!("{line}\n") }
    };
    let lines: String = scene.text(MANIFEST).lines().map(line).collect();
    scene.write(MANIFEST, lines);
}
