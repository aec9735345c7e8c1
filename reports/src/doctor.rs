//! What a machine can run: each thing that was tried, what came of it, and what would change that.

use serde::Serialize;

use crate::page::{Page, Style, Tone};

/// Everything that was tried on one machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// Whether `watertight check` can run here at all.
    pub can_check: bool,
    /// As whom it was tried.
    pub identity: String,
    pub kernel: String,
    pub findings: Vec<Finding>,
    /// Attempts that cannot be made here even without a sandbox.
    pub untestable: Vec<Untestable>,
}

/// One thing that was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// A stable word for programs: `user-namespaces`.
    pub id: String,
    pub title: String,
    pub group: Group,
    pub state: State,
    /// What was seen, in a few words.
    pub detail: String,
    /// The command, or the action, that would change it.
    pub remedy: Option<String>,
}

/// What it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Without it there is no run.
    Needed,
    /// Some attempts need it.
    Attempts,
    /// A target needs it.
    Targets,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    Ok,
    /// Not there, and something can be done.
    Missing,
    /// What depends on it cannot be tested here.
    Untestable,
}

/// Attempts of one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Untestable {
    pub reason: String,
    /// By id: `egress::other_transports/sctp`.
    pub attempts: Vec<String>,
}

/// An object with `can_check`, `identity`, `kernel`, `findings` and `untestable`.
pub fn json(diagnosis: &Diagnosis) -> String {
    crate::json::render(diagnosis)
}

/// For people: whether a run is possible first, then each thing by what it is for.
pub fn text(diagnosis: &Diagnosis, style: &Style) -> String {
    let mut page = Page::new(style);
    let (tone, verdict) = match diagnosis.can_check {
        true => (Tone::Good, "ready: `watertight check` can run here"),
        false => (Tone::Bad, "not ready: `watertight check` cannot run here; what is missing is marked below"),
    };
    page.line(tone, verdict);
    page.gap();
    for (name, value) in [("identity", &diagnosis.identity), ("kernel", &diagnosis.kernel)] {
        page.labelled(2, (&format!("{name:<10}"), Tone::Faint), value);
    }
    for (group, heading) in [
        (Group::Needed, "Needed for every run"),
        (Group::Attempts, "Needed for some attempts, or of use to sandboxes"),
        (Group::Targets, "Targets"),
    ] {
        let findings: Vec<_> = diagnosis.findings.iter().filter(|one| one.group == group).collect();
        if !findings.is_empty() {
            page.gap();
            page.paragraph(0, Tone::Strong, heading);
            findings.into_iter().for_each(|one| finding(&mut page, one));
        }
    }
    untestable(&mut page, &diagnosis.untestable);
    page.finish()
}

/// Column of a finding's detail.
const DETAIL: usize = 40;

fn finding(page: &mut Page, finding: &Finding) {
    let (word, tone) = match finding.state {
        State::Ok => ("ok", Tone::Good),
        State::Missing => ("MISSING", Tone::Bad),
        State::Untestable => ("untestable", Tone::Doubtful),
    };
    // A title of any length keeps its distance from the detail.
    let width = DETAIL - 14 - 2;
    let label = format!("{word:<10}  {:<width$}  ", finding.title);
    page.hanging(2, (&label, tone), DETAIL, &finding.detail);
    if let Some(remedy) = &finding.remedy {
        page.labelled(14, ("to change it: ", Tone::Faint), remedy);
    }
}

fn untestable(page: &mut Page, causes: &[Untestable]) {
    page.gap();
    page.paragraph(0, Tone::Strong, "Attempts that cannot be made here, not even without a sandbox");
    if causes.is_empty() {
        page.paragraph(2, Tone::Plain, "none");
    }
    for cause in causes {
        page.paragraph(2, Tone::Plain, &format!("{}:", cause.reason));
        for attempt in &cause.attempts {
            page.labelled(4, ("- ", Tone::Plain), attempt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(id: &str, title: &str, group: Group, state: State, detail: &str, remedy: Option<&str>) -> Finding {
        let (id, title, detail) = (id.into(), title.into(), detail.into());
        Finding { id, title, group, state, detail, remedy: remedy.map(Into::into) }
    }

    fn broken() -> Diagnosis {
        Diagnosis {
            can_check: false,
            identity: "uid 1000".into(),
            kernel: "6.18.44 x86_64".into(),
            findings: vec![
                finding(
                    "user-namespaces",
                    "user namespaces",
                    Group::Needed,
                    State::Missing,
                    "unshare(CLONE_NEWUSER): ENOSPC: No space left on device",
                    Some("sysctl -w user.max_user_namespaces=15000"),
                ),
                finding("proc", "a fresh /proc", Group::Needed, State::Ok, "mounted in a user namespace", None),
                finding("sctp", "SCTP", Group::Attempts, State::Untestable, "ESOCKTNOSUPPORT", Some("modprobe sctp")),
                finding("bubblewrap", "bubblewrap", Group::Targets, State::Ok, "bubblewrap 0.11.0", None),
            ],
            untestable: vec![Untestable {
                reason: "this kernel has no SCTP".into(),
                attempts: vec!["egress::other_transports/sctp".into()],
            }],
        }
    }

    #[test]
    fn what_is_missing_stands_with_its_reason_and_the_command_that_changes_it() {
        insta::assert_snapshot!(text(&broken(), &Style::default()));
    }

    #[test]
    fn a_ready_machine_says_so_first() {
        let ready = Diagnosis { can_check: true, findings: vec![], untestable: vec![], ..broken() };
        assert!(text(&ready, &Style::default()).starts_with("ready: "));
    }

    #[test]
    fn programs_get_the_same() {
        let value: serde_json::Value = serde_json::from_str(&json(&broken())).expect("JSON");
        assert_eq!(value["can_check"], false);
        assert_eq!(value["findings"][0]["state"], "missing");
        assert_eq!(value["findings"][3]["group"], "targets");
        assert_eq!(value["untestable"][0]["attempts"][0], "egress::other_transports/sctp");
    }

    #[test]
    fn lines_keep_to_the_width() {
        for width in [60, 80, 120] {
            let text = text(&broken(), &Style { width, ..Style::default() });
            assert!(text.lines().skip(1).all(|line| crate::page::columns(line) <= width), "{text}");
        }
    }
}
