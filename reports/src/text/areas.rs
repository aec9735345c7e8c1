//! What passed, by area: one line each, and each check by itself on request.

use std::time::Duration;

use super::document::elapsed;
use crate::{
    page::{Page, Tone, columns},
    results::{CheckResult, Level, Results, Seen, Verdict},
    words,
};

pub(super) fn write(page: &mut Page, results: &Results) {
    let areas = by_area(&results.checks);
    let widest = areas.iter().map(|(area, _)| area.len()).max().unwrap_or(0);
    page.gap();
    page.paragraph(0, Tone::Strong, "Passed, by area");
    if areas.is_empty() {
        page.paragraph(2, Tone::Bad, "no check was run");
    }
    for (area, checks) in areas {
        let passed = checks.iter().filter(|check| check.verdict == Verdict::Pass).count();
        let tone = if passed == checks.len() { Tone::Good } else { Tone::Plain };
        let share = format!("{passed}/{}", checks.len());
        page.labelled(2, (&format!("{area:<widest$}  {share:>5}  "), tone), &others(&checks));
        if page.style.verbose {
            each(page, &checks);
        }
    }
}

/// Areas in the order of their first check.
pub(crate) fn by_area(checks: &[CheckResult]) -> Vec<(&str, Vec<&CheckResult>)> {
    let mut areas: Vec<(&str, Vec<&CheckResult>)> = vec![];
    for check in checks {
        let area = words::area(&check.id);
        match areas.iter_mut().find(|(name, _)| *name == area) {
            Some((_, members)) => members.push(check),
            None => areas.push((area, vec![check])),
        }
    }
    areas
}

/// What became of those that did not pass.
fn others(checks: &[&CheckResult]) -> String {
    let count = |verdict, level| checks.iter().filter(|check| (check.verdict, check.level) == (verdict, level)).count();
    let mut parts = vec![];
    for verdict in [Verdict::Fail, Verdict::HarnessError, Verdict::Inconclusive, Verdict::NotApplicable] {
        for (level, suffix) in [(Level::Must, ""), (Level::Should, " (SHOULD)")] {
            let count = count(verdict, level);
            if count > 0 {
                parts.push(format!("{count} {}{suffix}", words::verdict(verdict)));
            }
        }
    }
    parts.join(", ")
}

fn each(page: &mut Page, checks: &[&CheckResult]) {
    let widest = checks.iter().map(|check| columns(&check.id)).max().unwrap_or(0);
    for check in checks {
        let label = format!("{:<14}  {:<widest$}  ", words::verdict(check.verdict), check.id);
        let time = elapsed(Duration::from_micros(check.duration_us));
        let seen = match check.seen {
            Seen::TwoSided => String::new(),
            Seen::InsideOnly => format!(", {}", words::seen(check.seen)),
        };
        let notes = match check.verdict {
            Verdict::Pass if !check.reason.is_empty() => format!("; {}", check.reason.join("; ")),
            _ => String::new(),
        };
        page.hanging(4, (&label, words::tone(check.verdict)), 20, &format!("{}, {time}{seen}{notes}", check.slug));
    }
}
