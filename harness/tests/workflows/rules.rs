//! What must be true of every workflow.

use std::path::Path;

use serde_json::Value;

use crate::{REPOSITORY, paths, workflow::Workflow};

/// What is wrong with a workflow, in words.
pub fn problems(workflow: &Workflow) -> Vec<String> {
    let mut problems = triggers(&workflow.0["on"]);
    // Where nothing is said, a job may do what the repository's settings allow.
    match workflow.0.get("permissions") {
        Some(permissions) => problems.extend(excess("the workflow", permissions)),
        None => problems.push("it says nothing of permissions".into()),
    }
    for (name, job) in workflow.jobs() {
        problems.extend(self::job(job).into_iter().map(|problem| format!("{name}: {problem}")));
    }
    problems
}

/// What starts it: with the secrets of the repository on a stranger's change, or not at all.
fn triggers(on: &Value) -> Vec<String> {
    let mut problems = vec![];
    for (trigger, settings) in on.as_object().expect("triggers with settings") {
        if ["pull_request_target", "workflow_run"].contains(&trigger.as_str()) {
            problems.push(format!("{trigger} gives secrets to a change of anyone's"));
        }
        problems.extend(paths::uncovered(settings).into_iter().map(|problem| format!("{trigger}: {problem}")));
    }
    problems
}

fn job(job: &Value) -> Vec<String> {
    let mut problems = vec![];
    if let Some(permissions) = job.get("permissions") {
        problems.extend(excess("it", permissions));
    }
    if job.get("timeout-minutes").is_none() {
        problems.push("it has no time limit".into());
    }
    // An environment is where a repository says who may start what uses its secrets.
    if job.to_string().contains("secrets.") && job.get("environment").is_none() {
        problems.push("it has a secret and no environment that guards it".into());
    }
    if job.to_string().contains("continue-on-error") {
        problems.push("continue-on-error hides a failure".into());
    }
    for step in Workflow::steps(job) {
        problems.extend(step["uses"].as_str().and_then(|action| uses(action, step)));
        problems.extend(step["run"].as_str().and_then(injected));
    }
    problems
}

/// Of all that a token may do, jobs here read files, and one tells code scanning what failed.
fn excess(who: &str, permissions: &Value) -> Vec<String> {
    let Some(permissions) = permissions.as_object() else {
        return vec![format!("{who} has permissions {permissions}")];
    };
    let known = |name: &str, level: &Value| {
        matches!((name, level.as_str()), ("contents", Some("read")) | ("security-events", Some("write")))
    };
    let excess = permissions.iter().filter(|(name, level)| !known(name, level));
    excess
        .map(|(name, level)| format!("{who} has the permission {name}: {}", level.as_str().unwrap_or_default()))
        .collect()
}

/// GitHub's own actions by their tag, and those of this repository.
fn uses(action: &str, step: &Value) -> Option<String> {
    if let Some(own) = action.strip_prefix("./") {
        let there = Path::new(REPOSITORY).join(own).join("action.yml").exists();
        return (!there).then(|| format!("{action} is not there"));
    }
    let (path, tag) = action.split_once('@').unwrap_or((action, ""));
    let number = tag
        .strip_prefix('v')
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    if !number || !["actions/", "github/"].iter().any(|owner| path.starts_with(owner)) {
        return Some(format!("{action} is none of GitHub's own with the tag of a version"));
    }
    let keeps = path == "actions/checkout" && step["with"]["persist-credentials"] != Value::Bool(false);
    keeps.then(|| format!("{action} keeps its credential"))
}

/// An expression in a script is replaced before a shell reads it: only what stands in the workflow itself may be one.
fn injected(run: &str) -> Option<String> {
    let expressions = run.split("${{").skip(1).map(|rest| rest.split("}}").next().unwrap_or_default().trim());
    let foreign: Vec<&str> = expressions.filter(|expression| !expression.starts_with("matrix.")).collect();
    (!foreign.is_empty()).then(|| format!("a script has {} in it", foreign.join(", ")))
}
