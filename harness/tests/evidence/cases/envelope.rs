//! Envelopes and signatures.

use serde_json::json;
use watertight_reports::{
    bundle::ATTESTATIONS,
    signing::{dsse::Envelope, sshsig},
    verify::{SIGSTORE, SSHSIG, code::Code},
};

use super::{
    By::{Attacker, Context, Signer},
    Case, UNREADABLE, case,
};
use crate::scene::{Scene, base64, from_base64};

pub fn cases() -> Vec<Case> {
    vec![
        case(Attacker, "payload-byte-flip", Code::SigInvalid, "One byte of the signed payload differs.", |scene| {
            edit_payload(scene, |bytes| bytes[100] ^= 1);
        })
        .then(Code::SigThreshold),
        case(
            Attacker,
            "status-fail-to-pass-unsigned",
            Code::SigInvalid,
            "A verdict of the signed payload was edited.",
            |scene| {
                edit_payload(scene, |bytes| {
                    let text = String::from_utf8_lossy(bytes).replacen("\"conformant\"", "\"incomplete\"", 1);
                    *bytes = text.into_bytes();
                });
            },
        )
        .then(Code::SigThreshold),
        case(Attacker, "signature-bit-flip", Code::SigInvalid, "One bit of the signature differs.", |scene| {
            scene.envelope(0, |envelope| {
                let sig = &mut envelope["signatures"][0]["sig"];
                let mut bytes = from_base64(sig.as_str().expect("text"));
                bytes[10] ^= 1;
                *sig = base64(bytes).into();
            });
        })
        .then(Code::SigThreshold),
        case(
            Attacker,
            "attacker-key-with-forged-keyid",
            Code::SigInvalid,
            "Another key signed, under the id of the trusted one.",
            |scene| {
                resign(scene, true);
            },
        )
        .then(Code::SigThreshold),
        case(Attacker, "untrusted-key", Code::SigInvalid, "A key signed that the policy does not name.", |scene| {
            resign(scene, false);
        })
        .then(Code::SigThreshold),
        case(
            Attacker,
            "signature-of-the-other-statement",
            Code::SigInvalid,
            "The envelope has the genuine signature of the bundle's other statement.",
            |scene| {
                let text = scene.text(ATTESTATIONS);
                let other = text.lines().nth(1).and_then(|line| serde_json::from_str::<serde_json::Value>(line).ok());
                let signatures = other.expect("two statements")["signatures"].clone();
                scene.envelope(0, |envelope| envelope["signatures"] = signatures);
            },
        )
        .then(Code::SigThreshold),
        case(Attacker, "no-signatures", Code::EnvNosig, "The list of signatures is empty.", |scene| {
            scene.envelope(0, |envelope| envelope["signatures"] = json!([]));
        })
        .structural(UNREADABLE),
        case(Attacker, "payload-type-swap", Code::EnvType, "The payload calls itself plain JSON.", |scene| {
            scene.envelope(0, |envelope| envelope["payloadType"] = "application/json".into())
        })
        .structural(UNREADABLE),
        case(
            Attacker,
            "payload-noncanonical-base64",
            Code::EnvB64,
            "The payload is in the alphabet for URLs, without padding.",
            |scene| {
                scene.envelope(0, |envelope| {
                    let text = envelope["payload"].as_str().expect("text").replace('+', "-").replace('/', "_");
                    envelope["payload"] = format!("{}-", text.trim_end_matches('=')).into();
                });
            },
        )
        .structural(UNREADABLE),
        case(
            Attacker,
            "unsigned-field-in-envelope",
            Code::EnvFields,
            "Beside the payload stands a list of waived checks, which is not signed.",
            |scene| scene.envelope(0, |envelope| envelope["skips"] = json!(["EGRESS-1"])),
        )
        .structural(UNREADABLE),
        case(
            Attacker,
            "envelope-duplicate-key",
            Code::JsonDupkey,
            "The envelope has two payloads, of which each reader takes another.",
            |scene| {
                let text = scene.text(ATTESTATIONS).replacen("{\"", "{\"payload\":\"e30=\",\"", 1);
                scene.write(ATTESTATIONS, text);
            },
        )
        .structural(UNREADABLE),
        case(Attacker, "envelope-not-json", Code::JsonSyntax, "The envelope ends in the middle.", |scene| {
            let text = scene.text(ATTESTATIONS);
            scene.write(ATTESTATIONS, &text[..text.len() / 3]);
        })
        .structural(UNREADABLE),
        case(Attacker, "envelope-nested-deep", Code::JsonDepth, "An envelope of 10,000 brackets.", |scene| {
            scene.write(ATTESTATIONS, "[".repeat(10_000) + "\n");
        })
        .structural(UNREADABLE),
        case(Attacker, "envelope-oversized", Code::EnvTooBig, "An envelope of 17 MiB of blanks.", |scene| {
            scene.write(ATTESTATIONS, " ".repeat(17 << 20));
        })
        .structural("more is never read"),
        case(
            Attacker,
            "ten-thousand-signatures",
            Code::EnvTooBig,
            "The genuine signature stands there 10,000 times, each to be tried with every key.",
            |scene| {
                scene.envelope(0, |envelope| {
                    let one = envelope["signatures"][0].clone();
                    envelope["signatures"] = vec![one; 10_000].into();
                });
            },
        )
        .structural("more are never tried"),
        case(Attacker, "ten-thousand-statements", Code::EnvTooBig, "10,000 lines of attestations.", |scene| {
            scene.write(ATTESTATIONS, "{}\n".repeat(10_000));
        })
        .structural("more are never read"),
        case(Attacker, "unsigned", Code::Unsigned, "There are no attestations at all.", |scene| {
            scene.remove(ATTESTATIONS);
        })
        .structural(UNREADABLE),
        case(
            Attacker,
            "same-key-twice-for-threshold",
            Code::SigThreshold,
            "The policy asks for two keys, and one signature stands there twice.",
            |scene| {
                scene.demand("threshold", 2);
                scene.without_other_forms();
                for line in [0, 1] {
                    scene.envelope(line, |envelope| {
                        let one = envelope["signatures"][0].clone();
                        envelope["signatures"] = json!([one, one]);
                    });
                }
            },
        ),
        case(
            Signer,
            "two-keys-of-one-organisation",
            Code::SigThreshold,
            "The policy asks for two organisations, and two keys of one signed.",
            |scene| {
                scene.demand("threshold", 2);
                scene.demand("distinct", "organisations");
                let keys = &scene.honest.keys;
                scene.dishonest_with(&[&keys.runner, &keys.colleague], |_| {});
                scene.unlogged();
            },
        ),
        case(
            Context,
            "threshold-of-three",
            Code::SigThreshold,
            "The policy asks for three keys, and one signed.",
            |scene| scene.demand("threshold", 3),
        ),
        case(
            Attacker,
            "sigstore-bundle-of-other-run",
            Code::BundleMismatch,
            "The Sigstore bundle is the genuine one of an earlier run.",
            |scene| splice(scene, SIGSTORE),
        ),
        case(Attacker, "sigstore-bundle-not-json", Code::BundleMismatch, "It is no JSON.", |scene| {
            scene.write(SIGSTORE, "Everything passed.");
        }),
        case(
            Attacker,
            "sshsig-of-other-run",
            Code::SshsigInvalid,
            "The SSH signature is the genuine one of an earlier run.",
            |scene| splice(scene, SSHSIG),
        ),
        case(
            Signer,
            "sshsig-of-another-namespace",
            Code::SshsigInvalid,
            "The trusted key made the SSH signature for another purpose, over these bytes.",
            |scene| {
                let first = scene.text(ATTESTATIONS).lines().next().expect("an envelope").to_owned();
                scene.write(SSHSIG, ssh::signature(&scene.honest.keys.runner, "git", first.as_bytes()));
            },
        ),
        case(
            Signer,
            "sshsig-by-another-trusted-key",
            Code::SshsigInvalid,
            "The SSH signature is by a key that is trusted, and did not sign the statement.",
            |scene| {
                let first = scene.text(ATTESTATIONS).lines().next().expect("an envelope").to_owned();
                let signed = sshsig::sign(first.as_bytes(), &scene.honest.keys.lab).expect("a signature");
                scene.write(SSHSIG, signed);
            },
        ),
    ]
}

fn edit_payload(scene: &Scene, edit: impl FnOnce(&mut Vec<u8>)) {
    scene.envelope(0, |envelope| {
        let mut bytes = from_base64(envelope["payload"].as_str().expect("text"));
        edit(&mut bytes);
        envelope["payload"] = base64(bytes).into();
    });
}

/// Signs both statements with the attacker's key.
fn resign(scene: &Scene, forged: bool) {
    let keyid = scene.honest.keys.runner.public().id().to_string();
    for line in [0, 1] {
        scene.envelope(line, |envelope| {
            let payload = from_base64(envelope["payload"].as_str().expect("text"));
            let signed = Envelope::sign(payload, &scene.honest.keys.attacker);
            *envelope = serde_json::from_str(&signed.to_json()).expect("JSON");
            if forged {
                envelope["signatures"][0]["keyid"] = keyid.clone().into();
            }
        });
    }
}

/// Takes a file of the earlier run's bundle.
fn splice(scene: &Scene, name: &str) {
    let other = std::fs::read(scene.honest.earlier().join(name)).expect("written");
    scene.write(name, other);
}

/// SSH signatures for any purpose, as `ssh-keygen -Y sign -n` makes them.
mod ssh {
    use sha2::{Digest, Sha512};
    use watertight_reports::signing::key::SigningKey;

    pub fn signature(key: &SigningKey, namespace: &str, document: &[u8]) -> String {
        let hash = Sha512::digest(document);
        let tail: [&[u8]; 3] = [namespace.as_bytes(), b"", b"sha512"];
        let signed = [b"SSHSIG".as_slice(), &strings(&tail), &strings(&[&hash])].concat();
        let algorithm: &[u8] = b"ssh-ed25519";
        let public = strings(&[algorithm, &key.public().ed25519().expect("Ed25519")]);
        let signature = strings(&[algorithm, &key.sign(&signed)]);
        let blob = [b"SSHSIG\0\0\0\x01".as_slice(), &strings(&[&public]), &strings(&tail), &strings(&[&signature])];
        let text = crate::scene::base64(blob.concat());
        let lines: Vec<_> = text.as_bytes().chunks(70).map(String::from_utf8_lossy).collect();
        format!("-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n", lines.join("\n"))
    }

    fn strings(fields: &[&[u8]]) -> Vec<u8> {
        fields.iter().flat_map(|field| [&(field.len() as u32).to_be_bytes(), *field].concat()).collect()
    }
}
