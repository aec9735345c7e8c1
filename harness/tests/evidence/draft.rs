//! What a holder of the trusted key can do: change anything at all, make the rest of it fit, and sign it.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use watertight_reports::{
    bundle::{
        ATTESTATIONS, MANIFEST, Manifest, PAYLOAD, PREDICATE,
        instructions::{VERIFY, verify_md},
    },
    json,
    predicate::Predicate,
    results::{Counts, Status},
    signing::{
        dsse::Envelope,
        key::SigningKey,
        sigstore::SigstoreBundle,
        sshsig,
        statement::{CONFORMANCE, STATEMENT_TYPE, TEST_RESULT},
    },
    verify::{SIGSTORE, SSHSIG, derived},
};

use crate::scene::Scene;

/// A change that is made when the rest is done.
type Late<T> = Option<Box<dyn FnOnce(T) -> T>>;

/// A bundle that is being made up.
pub struct Draft {
    pub predicate: Value,
    /// The payload by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// `SHA256SUMS`, where it is another than the payload's.
    pub manifest: Option<String>,
    /// The derived statement's predicate, where it is another than follows.
    pub test_result: Option<Value>,
    /// Edits of the statement around the predicate.
    pub statement: Option<fn(&mut Value)>,
    /// Edits of the statement's text, for what no serialiser writes.
    pub text: Late<String>,
    /// Edits of the predicate after all in it was made to fit.
    pub last: Option<fn(&mut Value)>,
}

impl Scene {
    /// Changes the bundle, makes everything else in it fit, and signs it with the trusted key.
    pub fn dishonest(&self, edit: impl FnOnce(&mut Draft)) {
        self.dishonest_with(&[&self.honest.keys.runner], edit);
    }

    pub fn dishonest_with(&self, keys: &[&SigningKey], edit: impl FnOnce(&mut Draft)) {
        let root = self.path("payload");
        let mut draft = Draft {
            predicate: self.predicate(),
            files: payload(&self.bundle()),
            manifest: None,
            test_result: None,
            statement: None,
            text: None,
            last: None,
        };
        let made_of = |draft: &Draft| ["results.json", "matrix.json"].map(|path| draft.files.get(path).cloned());
        let before = made_of(&draft);
        edit(&mut draft);
        if made_of(&draft) != before {
            // They need not be there, and those of other results would give it away.
            draft.files.retain(|path, _| !path.starts_with("reports/"));
        }
        fs::remove_dir_all(&root).expect("removed");
        for (path, bytes) in &draft.files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, bytes).expect("written");
        }
        let manifest = draft.manifest();
        self.write(MANIFEST, &manifest);
        draft.bind(&manifest);
        let predicate = serde_json::from_value::<Predicate>(draft.predicate.clone());
        self.write(PREDICATE, predicate.map_or(draft.predicate.to_string(), |predicate| json::render(&predicate)));
        self.sign(keys, &draft.payloads());
    }

    /// Signs these statements and writes every form of the envelope.
    pub fn sign(&self, keys: &[&SigningKey], payloads: &[Vec<u8>]) {
        let (first, others) = keys.split_first().expect("a key");
        let envelope = |payload: &Vec<u8>| {
            let mut envelope = Envelope::sign(payload.clone(), first);
            others.iter().for_each(|key| envelope.add_signature(key));
            envelope
        };
        let envelopes: Vec<Envelope> = payloads.iter().map(envelope).collect();
        let lines: Vec<String> = envelopes.iter().map(Envelope::to_json).collect();
        self.write(VERIFY, verify_md(&envelopes[0]));
        let sigstore = SigstoreBundle::wrap(Envelope::sign(payloads[0].clone(), first)).expect("one signature");
        self.write(SIGSTORE, sigstore.to_json());
        self.write(SSHSIG, sshsig::sign(lines[0].as_bytes(), first).expect("a signature"));
        self.write(ATTESTATIONS, lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    }
}

impl Draft {
    /// A document of the payload.
    pub fn document(&mut self, path: &str, edit: impl FnOnce(&mut Value)) {
        let bytes = self.files.get_mut(path).unwrap_or_else(|| panic!("{path} is in the payload"));
        let mut value = serde_json::from_slice(bytes).expect("JSON");
        edit(&mut value);
        *bytes = value.to_string().into_bytes();
    }

    /// The lines of a file of the payload.
    pub fn lines(&mut self, path: &str, edit: impl FnOnce(&mut Vec<Value>)) {
        let bytes = self.files.get_mut(path).unwrap_or_else(|| panic!("{path} is in the payload"));
        let text = String::from_utf8(std::mem::take(bytes)).expect("text");
        let mut lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        edit(&mut lines);
        *bytes = lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes();
    }

    /// The directory of the launch with this id.
    pub fn launch(&self, id: &str) -> String {
        launch(&self.files, id)
    }

    /// Says something else of a requirement, in the statement and in the results, and counts again.
    pub fn claim(&mut self, id: &str, edit: impl Fn(&mut Value)) {
        let of = |checks: &mut Value| {
            let checks = checks.as_array_mut().expect("checks");
            edit(checks.iter_mut().find(|check| check["id"] == id).expect(id));
        };
        of(&mut self.predicate["checks"]);
        self.document("results.json", |results| of(&mut results["checks"]));
        self.count();
    }

    /// Makes status and counts those of the results.
    pub fn count(&mut self) {
        let complete = self.json("plan.json")["complete"] == true;
        let checks: Vec<_> = serde_json::from_value(self.json("results.json")["checks"].clone()).expect("results");
        let (status, counts) = (json!(Status::of(&checks, complete)), Counts::of(&checks));
        self.document("results.json", |results| {
            results["status"] = status.clone();
            results["counts"] = json!(counts);
        });
        self.predicate["summary"] = json!({ "status": status, "counts": counts });
    }

    /// Puts the run into another time, in every document that names it.
    pub fn date(&mut self, started: &str, finished: &str) {
        self.predicate["run"]["startedAt"] = started.into();
        self.predicate["run"]["finishedAt"] = finished.into();
        self.document("plan.json", |plan| plan["started_at"] = started.into());
        self.document("results.json", |results| results["started_at"] = started.into());
    }

    pub fn json(&self, path: &str) -> Value {
        serde_json::from_slice(&self.files[path]).expect("JSON")
    }

    fn manifest(&self) -> String {
        let digest = |(path, bytes): (&String, &Vec<u8>)| (path.clone(), Sha256::digest(bytes).into());
        let all = || Manifest { entries: self.files.iter().map(digest).collect() }.text();
        self.manifest.clone().unwrap_or_else(all)
    }

    /// Makes the predicate speak of these files.
    fn bind(&mut self, manifest: &str) {
        let digest = |bytes: &[u8]| hex::encode(Sha256::digest(bytes));
        let leaves: Vec<_> = manifest.lines().map(watertight_reports::transparency::merkle::leaf).collect();
        let root = watertight_reports::transparency::merkle::root(&leaves);
        self.predicate["evidence"] = json!({
            "manifestSha256": digest(manifest.as_bytes()),
            "entries": manifest.lines().count(),
            "merkleRoot": root.to_string(),
        });
        self.predicate["target"]["manifestSha256"] =
            digest(self.files.get("target.toml").map_or(&[], Vec::as_slice)).into();
        if let Some(matrix) = self.files.get("matrix.json") {
            self.predicate["mutationMatrix"]["sha256"] = digest(matrix).into();
        }
        if let Some(last) = self.last.take() {
            last(&mut self.predicate);
        }
    }

    /// What the derived statement says, where the predicate can be read.
    pub fn follows(&self) -> Option<Value> {
        let predicate = serde_json::from_value::<Predicate>(self.predicate.clone()).ok()?;
        Some(json!(derived(&predicate)))
    }

    fn payloads(self) -> Vec<Vec<u8>> {
        let subject: Vec<_> = self.predicate["target"]["artifacts"]
            .as_array()
            .expect("artifacts")
            .iter()
            .map(|one| json!({ "name": one["name"], "digest": { "sha256": one["sha256"] } }))
            .collect();
        let statement = |kind: &str, predicate: &Value| {
            json!({
                "_type": STATEMENT_TYPE,
                "subject": subject,
                "predicateType": kind,
                "predicate": predicate,
            })
        };
        let mut conformance = statement(CONFORMANCE, &self.predicate);
        if let Some(edit) = self.statement {
            edit(&mut conformance);
        }
        let follows = self.follows();
        let text = conformance.to_string();
        let mut payloads = vec![self.text.map_or(text.clone(), |edit| edit(text)).into_bytes()];
        if let Some(test_result) = self.test_result.or(follows) {
            payloads.push(statement(TEST_RESULT, &test_result).to_string().into_bytes());
        }
        payloads
    }
}

/// The directory of the launch with this id.
pub fn launch(files: &BTreeMap<String, Vec<u8>>, id: &str) -> String {
    let is = |bytes: &Vec<u8>| serde_json::from_slice::<Value>(bytes).is_ok_and(|head| head["launch"] == id);
    let heads = files.iter().filter_map(|(path, bytes)| Some((path.strip_suffix("/launch.json")?, bytes)));
    heads.filter(|(_, bytes)| is(bytes)).map(|(directory, _)| directory.to_owned()).next().expect(id)
}

/// The payload of a bundle, by path.
pub fn payload(bundle: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    read(&bundle.join(PAYLOAD), "", &mut files);
    files
}

fn read(directory: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let entry = entry.expect("an entry");
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().expect("a type").is_dir() {
            read(&entry.path(), &format!("{path}/"), files);
        } else {
            files.insert(path, fs::read(entry.path()).expect("read"));
        }
    }
}
