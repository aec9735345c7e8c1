//! The kill matrix, which shows that the checks can fail.

use serde_json::{Value, json};
use watertight_reports::verify::code::Code;

use super::{Case, UNREADABLE, signed};

pub fn cases() -> Vec<Case> {
    let of = |name, code, about, edit: fn(&mut Value)| {
        signed(name, code, about, move |draft| {
            draft.document("matrix.json", edit);
            let matrix = draft.json("matrix.json");
            draft.predicate["mutationMatrix"] = json!({
                "sha256": "",
                "harnessSha256": matrix["harness"]["sha256"],
                "spec": matrix["spec"],
                "kernel": matrix["kernel"],
                "identity": matrix["identity"],
            });
        })
    };
    vec![
        signed("no-matrix", Code::MatrixMissing, "There is no kill matrix, and the policy demands one.", |draft| {
            draft.files.remove("matrix.json");
            draft.predicate["mutationMatrix"] = json!(null);
        }),
        signed("matrix-not-at-hand", Code::MatrixMissing, "The matrix that is named is not in the bundle.", |draft| {
            draft.files.remove("matrix.json");
        }),
        signed(
            "matrix-that-is-not-named",
            Code::MatrixMissing,
            "A matrix lies there that the statement does not name.",
            |draft| {
                draft.last = Some(|predicate| predicate["mutationMatrix"] = json!(null));
            },
        ),
        signed("matrix-of-another-digest", Code::MatrixDigest, "The statement names another matrix.", |draft| {
            draft.last = Some(|predicate| predicate["mutationMatrix"]["sha256"] = "99".repeat(32).into());
        }),
        signed(
            "matrix-of-another-kernel-than-stated",
            Code::MatrixDigest,
            "The statement says that the matrix was made on another kernel than it says itself.",
            |draft| draft.predicate["mutationMatrix"]["kernel"] = "99.0".into(),
        ),
        of("matrix-of-another-harness", Code::MatrixHarness, "Another program made the matrix.", |matrix| {
            matrix["harness"]["sha256"] = "aa".repeat(32).into();
        }),
        of("matrix-of-another-spec", Code::MatrixSpec, "The matrix is about another version of the text.", |matrix| {
            matrix["spec"] = "0.9".into();
        }),
        of("pass-with-surviving-mutant", Code::Mutctl, "The matrix shows that a mutant survived.", |matrix| {
            matrix["mutants"][0]["status"] = "survived".into();
            matrix["mutants"][0]["kills"] = json!([]);
        }),
        of(
            "surviving-mutant-called-killed",
            Code::Mutctl,
            "A mutant is called killed, and nothing failed on it.",
            |matrix| {
                matrix["mutants"][0]["kills"] = json!([]);
            },
        ),
        of("mutant-that-less-must-catch", Code::Mutctl, "A check need not catch a mutant any more.", |matrix| {
            let one = json!([matrix["mutants"][0]["expected"][0].as_str().map(|_| "EGRESS-999")]);
            matrix["mutants"][0]["kills"] = one.clone();
            matrix["mutants"][0]["expected"] = one;
        }),
        of("pass-with-mutants-omitted", Code::Mutctl, "The matrix leaves out a mutant.", |matrix| {
            matrix["mutants"].as_array_mut().expect("a list").pop();
        }),
        of("mutant-twice-in-the-matrix", Code::Mutctl, "A mutant is there twice.", |matrix| {
            let mutants = matrix["mutants"].as_array_mut().expect("a list");
            mutants.push(mutants[0].clone());
        }),
        of("double-taken-for-a-sandbox", Code::Mutctl, "A double was not seen through.", |matrix| {
            matrix["doubles"][0]["right"] = false.into();
        }),
        of("doubles-omitted", Code::Mutctl, "The matrix leaves out a double.", |matrix| {
            matrix["doubles"].as_array_mut().expect("a list").pop();
        }),
        signed("matrix-with-two-lists-of-mutants", Code::Schema, "It has two lists of mutants.", |draft| {
            let text = String::from_utf8(draft.files["matrix.json"].clone()).expect("text");
            draft.files.insert("matrix.json".into(), text.replacen('{', "{\"mutants\":[],", 1).into());
        })
        .structural(UNREADABLE),
    ]
}
