//! What a first try shows of an adapter: that it says of its sandbox what is so, and ends it twice without an error.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use watertight_reports::{evidence::Launch, smoke::Step};

use crate::{
    adapter::{ADAPTED, DOWN_TWICE, INSPECTED},
    target::Target,
};

/// What `inspect` brought, as the launch tells it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Told {
    pids: Vec<u32>,
    cgroup: Option<String>,
    namespaces: BTreeMap<String, u64>,
    unseen: Option<String>,
}

/// The target, each launch of which asks for its end once more than it needs to.
pub fn asked_twice(target: &Target) -> Target {
    let mut target = target.clone();
    let argv = &mut target.launch.argv;
    if let Some(at) = argv.iter().position(|word| word == ADAPTED) {
        argv.insert(at + 1, DOWN_TWICE.to_owned());
    }
    target
}

/// What the adapter says of its sandbox, beside what is seen of the probe in it.
pub fn told(launch: &Launch) -> Step {
    let what = "its adapter says of it what is so, and ends it twice without an error";
    let Some(text) = launch.outside.get(INSPECTED) else {
        return Step::holds(what, "it does not support `inspect`, and says nothing".into());
    };
    // A workload could have forged it, which would be seen here.
    let Ok(Told { pids, cgroup, namespaces, unseen }) = serde_json::from_str(text) else {
        return Step::broken(what, "what it says cannot be read".into());
    };
    if let Some(why) = unseen {
        return Step::holds(what, format!("it says that nothing can be seen: {why}"));
    }
    let elsewhere: Vec<String> = namespaces
        .iter()
        .filter_map(|(kind, said)| {
            let seen: BTreeSet<u64> =
                launch.processes.iter().filter_map(|one| one.namespaces.get(kind)).copied().collect();
            let list = || seen.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
            (!seen.is_empty() && !seen.contains(said)).then(|| format!("{kind} {said}, and the probe is in {}", list()))
        })
        .collect();
    if !elsewhere.is_empty() {
        let words =
            format!("it says that its namespaces are: {}; `exec` must run in the sandbox", elsewhere.join("; "));
        return Step::broken(what, words);
    }
    let kinds: Vec<&str> = namespaces.keys().map(String::as_str).collect();
    let list = |words: &[&str]| if words.is_empty() { "none".to_owned() } else { words.join(", ") };
    let cgroup = cgroup.map_or(String::new(), |path| format!("; cgroup {path}"));
    Step::holds(what, format!("{} processes{cgroup}; namespaces that the probe is in: {}", pids.len(), list(&kinds)))
}

#[cfg(test)]
mod tests {
    use watertight_reports::evidence::{LaunchKind, Process};

    use super::*;

    fn launch(told: Option<&str>) -> Launch {
        let mut launch = Launch::not_made("target", LaunchKind::Target);
        launch.processes = vec![Process { namespaces: [("net".to_owned(), 7)].into(), ..Process::default() }];
        launch.outside.extend(told.map(|told| (INSPECTED.to_owned(), told.to_owned())));
        launch
    }

    #[test]
    fn an_adapter_whose_exec_runs_elsewhere_is_broken() {
        for (text, holds, words) in [
            (None, true, "does not support"),
            (Some(r#"{"pids":[4],"namespaces":{"net":7}}"#), true, "1 processes; namespaces that the probe is in: net"),
            (Some(r#"{"pids":[4],"namespaces":{"net":8}}"#), false, "net 8, and the probe is in 7"),
            (Some(r#"{"unseen":"a virtual machine"}"#), true, "a virtual machine"),
            (Some("nonsense"), false, "cannot be read"),
        ] {
            let step = told(&launch(text));
            assert_eq!(step.holds, holds, "{step:?}");
            assert!(step.found.contains(words), "{step:?}");
        }
    }

    #[test]
    fn the_end_is_asked_for_twice_of_adapters_alone() {
        let words = |name: &str| asked_twice(&Target::load(name).expect(name)).launch.argv;
        assert!(words("bubblewrap-exec").contains(&DOWN_TWICE.to_owned()));
        assert_eq!(words("bubblewrap"), Target::load("bubblewrap").expect("a manifest").launch.argv);
    }
}
