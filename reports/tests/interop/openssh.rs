//! OpenSSH verifies the second signature of an envelope, and ours is read where it made it.

use std::process::Output;

use watertight_reports::signing::{
    public::PublicKey,
    sshsig::{self, SshsigError},
};

use crate::tools::{Signed, words};

/// A directory with a key, an envelope, its SSH signature and a list of signers that are allowed.
fn signed() -> Signed {
    let signed = Signed::new();
    let signature = sshsig::sign(signed.envelope.to_json().as_bytes(), &signed.key).expect("a signature");
    signed.write("envelope.json.sig", signature);
    let line = sshsig::public_line(signed.key.public(), "tests").expect("a line");
    signed.write("allowed", format!("ci@example.test namespaces=\"{}\" {line}", sshsig::NAMESPACE));
    signed
}

fn verify(signed: &Signed, namespace: &str, allowed: &str) -> Output {
    signed.bash(&format!(
        "ssh-keygen -Y verify -f {allowed} -I ci@example.test -n {namespace} -s envelope.json.sig < envelope.json"
    ))
}

#[test]
fn openssh_accepts_a_genuine_signature() {
    let output = verify(&signed(), sshsig::NAMESPACE, "allowed");
    assert!(output.status.success(), "{}", words(&output));
    assert!(
        words(&output).starts_with("Good \"watertight-evidence@v1\" signature for ci@example.test"),
        "{}",
        words(&output)
    );
}

#[test]
fn openssh_refuses_another_document_namespace_or_key() {
    let genuine = signed();
    for namespace in ["git", "watertight-evidence@v2"] {
        assert!(!verify(&genuine, namespace, "allowed").status.success(), "{namespace}");
    }
    let line = sshsig::public_line(signed().key.public(), "other").expect("a line");
    genuine.write("others", format!("ci@example.test {line}"));
    assert!(!verify(&genuine, sshsig::NAMESPACE, "others").status.success());
    genuine.write("envelope.json", genuine.envelope.to_json() + "\n");
    let output = verify(&genuine, sshsig::NAMESPACE, "allowed");
    assert!(!output.status.success() && words(&output).contains("incorrect signature"), "{}", words(&output));
}

#[test]
fn openssh_reads_the_line_of_a_key() {
    let signed = signed();
    let output = signed.bash("ssh-keygen -l -f key.ssh.pub");
    assert!(output.status.success(), "{}", words(&output));
    assert!(
        words(&output).starts_with("256 SHA256:") && words(&output).ends_with(" tests (ED25519)\n"),
        "{}",
        words(&output)
    );
}

#[test]
fn a_signature_that_openssh_made_for_evidence_is_accepted_and_no_other() {
    let signed = signed();
    let output = signed.bash(&format!(
        "ssh-keygen -q -t ed25519 -N '' -C tests -f ssh
         ssh-keygen -q -Y sign -f ssh -n {} < envelope.json > ours.sig
         ssh-keygen -q -Y sign -f ssh -n git < envelope.json > git.sig
         cut -d' ' -f2 ssh.pub | base64 -d | tail -c 32 > raw",
        sshsig::NAMESPACE
    ));
    assert!(output.status.success(), "{}", words(&output));
    let raw = std::fs::read(signed.path("raw")).expect("a key");
    let bytes: &[u8; 32] = raw.as_slice().try_into().expect("32 bytes");
    let key = PublicKey::from_ed25519(bytes).expect("a key");
    let read = |name| std::fs::read_to_string(signed.path(name)).expect("a file");
    let document = read("envelope.json");
    assert_eq!(sshsig::verify(&read("ours.sig"), document.as_bytes(), [signed.key.public(), &key]), Ok(&key));
    assert_eq!(sshsig::verify(&read("git.sig"), document.as_bytes(), [&key]), Err(SshsigError::Namespace));
}
