//! A workflow, as data.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use yaml_rust2::{Yaml, YamlLoader};

pub struct Workflow(pub Value);

impl Workflow {
    pub fn read(text: &str) -> Self {
        let documents = YamlLoader::load_from_str(text).expect("YAML");
        Self(json(&documents[0]))
    }

    pub fn jobs(&self) -> &Map<String, Value> {
        self.0["jobs"].as_object().expect("jobs")
    }

    pub fn job(&self, name: &str) -> &Value {
        self.jobs().get(name).unwrap_or_else(|| panic!("a job {name}"))
    }

    pub fn steps(job: &Value) -> impl Iterator<Item = &Value> {
        job["steps"].as_array().into_iter().flatten()
    }

    /// The jobs in which a text stands.
    pub fn jobs_with(&self, text: &str) -> Vec<&str> {
        let jobs = self.jobs().iter().filter(|(_, job)| job.to_string().contains(text));
        jobs.map(|(name, _)| name.as_str()).collect()
    }

    /// The scripts of a job.
    pub fn runs(&self, job: &str) -> Vec<&str> {
        Self::steps(self.job(job)).filter_map(|step| step["run"].as_str()).collect()
    }

    /// The programs that a job's scripts start: simple commands, one a line or behind a pipe.
    pub fn programs(&self, job: &str) -> Vec<&str> {
        let lines = self.runs(job).into_iter().flat_map(str::lines);
        let commands =
            lines.flat_map(|line| line.split(['|', ';', '&'])).filter_map(|line| line.split_whitespace().next());
        commands.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

fn json(yaml: &Yaml) -> Value {
    match yaml {
        Yaml::Hash(hash) => {
            let key = |key: &Yaml| key.as_str().expect("a key is a text").to_owned();
            Value::Object(hash.iter().map(|(name, value)| (key(name), json(value))).collect())
        }
        Yaml::Array(list) => list.iter().map(json).collect(),
        Yaml::String(text) | Yaml::Real(text) => text.as_str().into(),
        Yaml::Integer(number) => (*number).into(),
        Yaml::Boolean(truth) => (*truth).into(),
        Yaml::Null => Value::Null,
        Yaml::Alias(_) | Yaml::BadValue => panic!("an alias, or no value"),
    }
}
