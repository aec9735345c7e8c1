//! The whole document: verdict first, then what was tested, what is wrong, and what passed.

use std::time::Duration;

use super::{areas, ids, sensitivity, trouble};
use crate::{
    page::{Page, Style, Tone},
    results::{Fact, Level, Results, Status, Verdict},
    words,
};

/// Shows one run. `sentence` gives a requirement's normative sentence by id. The document must be sanitised
/// (see [`crate::sanitise::results`]).
pub fn render<'s>(results: &Results, sentence: impl Fn(&str) -> Option<&'s str>, style: &Style) -> String {
    let mut page = Page::new(style);
    page.line(words::status_tone(results.status), &results.status_line());
    page.paragraph(0, Tone::Plain, &plainly(results));
    sensitivity::first(&mut page, results);
    page.gap();
    facts(&mut page, results);

    trouble::write(&mut page, results, &sentence);
    shoulds(&mut page, results, &sentence);
    waived(&mut page, results);
    areas::write(&mut page, results);
    sensitivity::write(&mut page, results);
    page.finish()
}

/// The status in one sentence, for somebody who knows none of the words.
pub(crate) fn plainly(results: &Results) -> String {
    let name = &results.target.name;
    let of = |wanted: fn(Verdict) -> bool| {
        let musts = results.checks.iter().filter(|check| check.level == Level::Must);
        let found: Vec<_> = musts.filter(|check| wanted(check.verdict)).map(|check| check.id.as_str()).collect();
        (found.len(), ids::compact(found))
    };
    let musts = results.checks.iter().filter(|check| check.level == Level::Must).count();
    let (failed, failures) = of(|verdict| verdict == Verdict::Fail);
    let (unjudged, unknown) = of(|verdict| matches!(verdict, Verdict::Inconclusive | Verdict::HarnessError));
    let holds = |number: usize| if number == 1 { "does" } else { "do" };
    match results.status {
        Status::Conformant => {
            format!("{name} holds to every binding requirement that was checked.")
        }
        Status::Nonconformant => {
            let requirements = words::number(failed, "requirement");
            format!("{requirements} {} not hold on {name}: {failures}.", holds(failed))
        }
        Status::Incomplete if unjudged > 0 && unjudged == musts => {
            format!("Nothing failed on {name}, because nothing could be judged.")
        }
        Status::Incomplete if unjudged > 0 => {
            let requirements = words::number(unjudged, "requirement");
            format!("Nothing failed on {name}, but {requirements} could not be judged: {unknown}.")
        }
        Status::Incomplete => format!("Nothing failed on {name}, but not every requirement was checked."),
    }
}

fn facts(page: &mut Page, results: &Results) {
    let target = &results.target;
    let rows = [
        ("target", format!("{} ({})", target.name, known(&target.version))),
        ("route", target.route.clone()),
        ("identity", format!("launched as {}{}", target.launched_as, fact(results, "identity", "; harness: "))),
        ("kernel", fact(results, "kernel", "")),
        ("spec", format!("{}, profile {}", results.spec, results.profile)),
        ("run", format!("{}, {}", results.started_at, elapsed(Duration::from_millis(results.wall_ms)))),
        ("counts", words::counts(&results.counts)),
        ("untestable", if results.untestable.is_empty() { "none".into() } else { results.untestable.join(", ") }),
    ];
    for (name, value) in rows {
        page.labelled(2, (&format!("{name:<12}"), Tone::Faint), known(&value));
    }
    if let Some(Fact::Known(filter)) = results.environment.get("filter") {
        let words = format!("only checks that match {filter}: such a run is never conformant");
        page.labelled(2, (&format!("{:<12}", "filter"), Tone::Doubtful), &words);
    }
}

fn known(text: &str) -> &str {
    if text.is_empty() { "not recorded" } else { text }
}

fn fact(results: &Results, key: &str, before: &str) -> String {
    match results.environment.get(key) {
        Some(Fact::Known(value)) => format!("{before}{value}"),
        Some(Fact::Unavailable(why)) => format!("{before}not known: {why}"),
        None => String::new(),
    }
}

/// `840 ms`, `1.42 s`, `2 min 05 s`.
pub(crate) fn elapsed(time: Duration) -> String {
    match time.as_millis() {
        short @ ..1_000 => format!("{short} ms"),
        middle @ ..60_000 => format!("{}.{:02} s", middle / 1_000, middle % 1_000 / 10),
        long => format!("{} min {:02} s", long / 60_000, long % 60_000 / 1_000),
    }
}

fn shoulds<'s>(page: &mut Page, results: &Results, sentence: &impl Fn(&str) -> Option<&'s str>) {
    let failed: Vec<_> =
        results.checks.iter().filter(|check| check.level == Level::Should && check.verdict == Verdict::Fail).collect();
    if failed.is_empty() {
        return;
    }
    page.gap();
    page.paragraph(0, Tone::Strong, "SHOULDs that failed (the status does not depend on them)");
    for check in failed {
        page.gap();
        trouble::one(page, check, sentence);
    }
}

fn waived(page: &mut Page, results: &Results) {
    let waived = results.checks.iter().filter(|check| check.verdict == Verdict::NotApplicable);
    for (number, check) in waived.enumerate() {
        if number == 0 {
            page.gap();
            page.paragraph(0, Tone::Strong, "Not applicable, as the manifest declares");
        }
        page.labelled(2, (&format!("{}  ", check.id), Tone::Plain), &check.reason.join("; "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{sanitise, testing};

    fn plain(results: &Results) -> String {
        render(results, testing::sentence, &Style::default())
    }

    #[test]
    fn a_green_run_reads_at_a_glance() {
        insta::assert_snapshot!(plain(&testing::green()));
    }

    #[test]
    fn a_failed_must_shows_attempt_both_sides_control_and_next_step() {
        insta::assert_snapshot!(plain(&testing::vsock_failed()));
    }

    #[test]
    fn a_dead_target_is_one_statement() {
        let text = plain(&testing::dead());
        assert_eq!(text.matches("the probe did not answer").count(), 1);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn every_kind_of_result_has_its_place() {
        insta::assert_snapshot!(plain(&testing::mixed()));
    }

    #[test]
    fn verbose_lists_each_check() {
        let style = Style { verbose: true, ..Style::default() };
        let results = testing::mixed();
        let text = render(&results, testing::sentence, &style);
        for check in &results.checks {
            assert!(text.contains(&check.slug), "{}", check.slug);
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn colours_add_nothing_that_the_words_do_not_say() {
        for results in [testing::green(), testing::vsock_failed(), testing::dead(), testing::mixed()] {
            let painted = render(&results, testing::sentence, &Style { colour: true, ..Style::default() });
            assert!(painted.contains("\x1b["));
            assert_eq!(testing::without_colours(&painted), plain(&results));
        }
    }

    #[test]
    fn lines_keep_to_the_width_that_is_asked_for() {
        for width in [50, 80, 132] {
            let style = Style { width, verbose: true, ..Style::default() };
            for results in [testing::green(), testing::vsock_failed(), testing::dead(), testing::mixed()] {
                let text = render(&results, testing::sentence, &style);
                // The status line is one line, for people and programs that look for it.
                let widest = text.lines().skip(1).map(crate::page::columns).max();
                assert!(widest <= Some(width), "{text}");
            }
        }
    }

    #[test]
    fn hostile_text_stays_text_on_lines_of_ours() {
        for hostile in &testing::hostile() {
            let mut results = testing::every_text(hostile);
            sanitise::results(&mut results);
            for verbose in [false, true] {
                let text = render(&results, |_| None, &Style { verbose, ..Style::default() });
                for line in text.lines() {
                    let start = line.trim_start();
                    assert!(!start.starts_with("::") && !line.contains("##"), "{line}");
                    assert!(line.chars().all(|character| !character.is_control()), "{line:?}");
                }
            }
        }
    }

    #[test]
    fn the_first_line_is_the_status_line() {
        for status in [Status::Conformant, Status::Nonconformant, Status::Incomplete] {
            let results = Results { status, ..testing::green() };
            let text = render(&results, testing::sentence, &Style { width: 132, ..Style::default() });
            assert_eq!(text.lines().next(), Some(results.status_line().as_str()));
        }
    }

    #[test]
    fn a_filtered_run_says_why_it_is_not_conformant() {
        let mut results = Results { status: Status::Incomplete, ..testing::small() };
        assert!(!plain(&results).contains("filter"));
        results.environment.insert("filter".into(), Fact::Known("EGRESS-14".into()));
        assert!(plain(&results).contains("only checks that match EGRESS-14: such a run is never conformant"));
    }

    #[test]
    fn every_status_is_told_in_a_sentence() {
        assert!(plain(&testing::green()).contains("\nbubblewrap holds to every binding requirement"));
        let text = plain(&testing::vsock_failed());
        assert!(text.contains("\n1 requirement does not hold on bubblewrap: EGRESS-14.\n"), "{text}");
        let all = plain(&testing::dead());
        assert!(all.contains("because nothing could be judged"), "{all}");
        let mut some = testing::green();
        some.checks[0].verdict = Verdict::Inconclusive;
        some.status = Status::Incomplete;
        assert!(plain(&some).contains("but 1 requirement could not be judged: ROUTE-1."));
        let filtered = Results { status: Status::Incomplete, ..testing::green() };
        assert!(plain(&filtered).contains("but not every requirement was checked."));
    }

    #[test]
    fn times_are_short() {
        for (ms, text) in [(7, "7 ms"), (1_420, "1.42 s"), (125_000, "2 min 05 s")] {
            assert_eq!(elapsed(Duration::from_millis(ms)), text);
        }
    }
}
