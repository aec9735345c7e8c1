//! Honest evidence is accepted: a verifier that refuses everything would pass all else.

use std::{fs, process::Command};

use libtest_mimic::Trial;
use watertight_reports::{
    bundle::{ATTESTATIONS, PREDICATE},
    results::Status,
    verify::{Accepted, Strict, code::Code},
};

use crate::{
    draft::Draft,
    honest::{Honest, program},
    scene::Scene,
    trial,
};

pub fn trials() -> Vec<Trial> {
    type Body = fn() -> Result<(), String>;
    let all: [(&str, Body); 4] = [
        ("the_reference", the_reference),
        ("a_sandbox_that_does_not_conform_where_the_policy_takes_it", a_sandbox_that_does_not_conform),
        ("every_other_control", every_other_control),
        ("a_filtered_run_is_in_order_and_not_conformant", a_filtered_run),
    ];
    let named = trial("refused::a_wording_of_another_release_names_it", another_release);
    all.map(|(name, body)| trial(format!("accepted::{name}"), body)).into_iter().chain([named]).collect()
}

fn the_reference() -> Result<(), String> {
    let scene = Scene::honest();
    let accepted = accepted(&scene)?;
    let signers: Vec<_> = accepted.signers.iter().map(|(id, by)| (*id, by.as_str())).collect();
    assert_eq!(signers, [(scene.honest.keys.runner.public().id(), "acme")]);
    assert_eq!(accepted.predicate.summary.status, Status::Conformant);
    Ok(())
}

fn a_sandbox_that_does_not_conform() -> Result<(), String> {
    let Some(mut scene) = nonconformant() else {
        eprintln!("bubblewrap is not installed");
        return Ok(());
    };
    let accepted = accepted(&scene)?;
    assert_eq!(accepted.predicate.summary.status, Status::Nonconformant);
    let mut refused = |field: &str, value: toml::Value| {
        let before = scene.policy.clone();
        scene.demand(field, value);
        let code = scene.verify(&Strict).err().map(|rejection| rejection.code);
        scene.policy = before;
        code
    };
    assert_eq!(refused("accept", vec!["conformant"].into()), Some(Code::Result));
    assert_eq!(refused("require", vec!["official"].into()), Some(Code::Result), "it does not call itself official");
    let (waived, untestable) = (accepted.predicate.summary.counts.not_applicable, accepted.predicate.untestable.len());
    assert_eq!(refused("max_not_applicable", 0.into()).is_some(), waived > 0, "{waived} are not applicable");
    assert_eq!(refused("max_untestable", 0.into()).is_some(), untestable > 0, "{untestable} are untestable");
    Ok(())
}

fn another_release() -> Result<(), String> {
    let refusal = |version: &'static str| {
        let scene = Scene::honest();
        scene.dishonest(move |draft: &mut Draft| {
            draft.predicate["harness"]["version"] = version.into();
            draft.files.insert("reports/report.txt".into(), b"Other words.".to_vec());
        });
        scene.verify(&Strict).err().map(|refusal| (refusal.code, refusal.message))
    };
    let said = "reports/report.txt is not a report that results.json gives";
    let this = env!("CARGO_PKG_VERSION");
    assert_eq!(refusal(this), Some((Code::ReportMismatch, said.to_owned())));
    let other = format!("{said} (watertight 0.0.9 made it, and verifies it; this is {this})");
    assert_eq!(refusal("0.0.9"), Some((Code::ReportMismatch, other)));
    Ok(())
}

fn every_other_control() -> Result<(), String> {
    for (name, _, scene) in presented() {
        accepted(&scene).map_err(|error| format!("{name}: {error}"))?;
    }
    let strangers = presented().into_iter().find(|(name, ..)| *name == "signature-of-a-stranger");
    assert_eq!(accepted(&strangers.expect("a control").2)?.signers.len(), 1, "a stranger is no signer");
    Ok(())
}

/// Honest evidence of every kind, with its name and what it is.
pub fn presented() -> Vec<(&'static str, &'static str, Scene)> {
    let mut all = vec![
        ("reference", "The reference, conformant: nothing was changed.", Scene::honest()),
        ("two-signers", "Two keys of two organisations signed, as the policy asks.", two_signers()),
        ("without-optional-parts", "One statement in one envelope, and nothing else that need not be there.", bare()),
        ("signature-of-a-stranger", "Somebody whom the policy does not know signed as well.", stranger()),
        ("two-lines-swapped", "The test-result stands before the statement that it was derived from.", swapped()),
    ];
    all.extend(nonconformant().map(|scene| ("nonconformant", "It fails, and the policy accepts failures.", scene)));
    all
}

/// Evidence of a sandbox that fails, where there is one on this machine.
fn nonconformant() -> Option<Scene> {
    let mut scene = Scene::of(&Honest::get().bubblewrap()?);
    scene.asked.artifact = false;
    scene.unlogged();
    scene.demand("accept", vec!["conformant", "nonconformant"]);
    Some(scene)
}

fn two_signers() -> Scene {
    let mut scene = Scene::honest();
    let keys = &scene.honest.keys;
    scene.dishonest_with(&[&keys.runner, &keys.lab], |_| {});
    // The same statement in another spelling, which the log does not know.
    scene.unlogged();
    scene.demand("threshold", 2);
    scene.demand("distinct", "organisations");
    scene
}

fn bare() -> Scene {
    let scene = Scene::honest();
    scene.without_other_forms();
    scene.remove(PREDICATE);
    let text = scene.text(ATTESTATIONS);
    scene.write(ATTESTATIONS, text.lines().next().expect("a statement"));
    scene
}

fn stranger() -> Scene {
    let scene = Scene::honest();
    scene.without_other_forms();
    scene.envelope(0, |envelope| {
        let mut stranger = envelope["signatures"][0].clone();
        stranger["keyid"] = "somebody".into();
        stranger["sig"] = crate::scene::base64([7; 64]).into();
        envelope["signatures"].as_array_mut().expect("a list").push(stranger);
    });
    scene
}

fn swapped() -> Scene {
    let scene = Scene::honest();
    scene.without_other_forms();
    let text = scene.text(ATTESTATIONS);
    scene.write(ATTESTATIONS, text.lines().rev().map(|line| format!("{line}\n")).collect::<String>());
    scene
}

fn a_filtered_run() -> Result<(), String> {
    let mut scene = Scene::of(&Honest::get().filtered());
    scene.unlogged();
    let refused = scene.verify(&Strict).map(|_| ()).map_err(|rejection| rejection.code);
    assert_eq!(refused, Err(Code::Result));
    let policy = scene.bundle().with_file_name("policy.toml");
    fs::write(&policy, scene.policy.to_string()).expect("written");
    let mut verify = Command::new(program());
    verify.arg("verify").arg(scene.bundle()).arg("--policy").arg(policy);
    verify.args(["--nonce", crate::honest::CHALLENGE]);
    let output = verify.output().expect("the program starts");
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("not accepted: E_RESULT"), "{words}");
    Ok(())
}

fn accepted(scene: &Scene) -> Result<Accepted, String> {
    scene.verify(&Strict).map_err(|rejection| rejection.to_string())
}
