//! Texts that attack, in every field and every format.

use serde_json::Value;

use super::shown;
use crate::{render::Format, results::Results, sanitise, testing};

/// Documents of runs whose every text is one of them.
fn each(check: impl Fn(Format, &Results, &str)) {
    for hostile in &testing::hostile() {
        let mut results = testing::every_text(hostile);
        sanitise::results(&mut results);
        for format in Format::ALL {
            check(format, &results, &shown(&results, |run| format.render(run)));
        }
    }
}

#[test]
fn no_document_holds_a_control_character_or_a_blank_in_disguise() {
    each(|format, _, text| {
        let odd = |character: char| {
            character != '\n' && (character.is_control() || "\u{202e}\u{200b}\u{feff}\u{2028}".contains(character))
        };
        assert!(!text.contains(odd), "{}: {text:?}", format.name());
    });
}

#[test]
fn no_line_commands_a_runner_but_those_that_are_meant_to() {
    each(|format, results, text| {
        for line in text.lines() {
            assert!(!line.contains("##["), "{}: {line}", format.name());
            let command = line.trim_start().starts_with("::");
            assert_eq!(command, format == Format::GithubAnnotations, "{}: {line}", format.name());
        }
        if format == Format::GithubAnnotations {
            let ours = ["::error ", "::warning ", "::notice "];
            assert!(text.lines().all(|line| ours.iter().any(|start| line.starts_with(start))), "{text}");
            assert!(text.lines().count() <= results.checks.len() + results.sensitivity.len() + 2, "{text}");
        }
    });
}

#[test]
fn no_element_is_made_of_a_text() {
    each(|format, _, text| {
        if !matches!(format, Format::Html | Format::Junit | Format::BadgeSvg) {
            return;
        }
        for tag in ["<img", "<script", "</script", "<details>", "<summary>x", "<![CDATA["] {
            assert!(!text.contains(tag), "{}: {tag}", format.name());
        }
        // Every tag that is opened is ours: lower case, and closed again.
        let opened = text.matches("</").count();
        let names = text.split("</").skip(1).filter_map(|rest| rest.split('>').next());
        assert!(names.into_iter().all(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric())), "{opened}");
    });
}

#[test]
fn every_document_of_json_is_one() {
    each(|format, _, text| {
        if matches!(format, Format::Json | Format::Sarif | Format::SarifFull | Format::Ctrf | Format::BadgeJson) {
            let parsed = serde_json::from_str::<Value>(text);
            assert!(parsed.is_ok(), "{}: {parsed:?}", format.name());
        }
    });
}

#[test]
fn in_markdown_what_a_sandbox_wrote_is_code_or_escaped() {
    each(|format, _, text| {
        if !matches!(format, Format::Markdown | Format::GithubSummary) {
            return;
        }
        for line in text.lines() {
            let ours = ["#", "- ", "  - ", "| ", "**", ""].iter().any(|start| line.starts_with(start));
            assert!(ours && !line.starts_with("<") && !line.starts_with("```"), "{line}");
            // Outside code spans no tag is left.
            let outside: String = outside_code(line);
            for tag in ["<img", "<details", "<script"] {
                assert!(!outside.contains(tag), "{line}");
            }
            if line.starts_with("| ") {
                let cells = line.replace("\\\\", "").replace("\\|", "").matches('|').count();
                assert_eq!(cells, 7, "{line}");
            }
        }
    });
}

/// The line without its code spans and escaped characters.
fn outside_code(line: &str) -> String {
    let mut rest = line;
    let mut outside = String::new();
    while let Some(at) = rest.find(['`', '\\']) {
        outside.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with('\\') {
            rest = rest.get(2..).unwrap_or_default();
            continue;
        }
        let fence = rest.len() - rest.trim_start_matches('`').len();
        let (open, body) = rest.split_at(fence);
        let mut from = 0;
        let end = loop {
            let Some(found) = body[from..].find(open) else { panic!("an open code span: {line}") };
            let start = from + found;
            let run = body[start..].len() - body[start..].trim_start_matches('`').len();
            if run == fence {
                break start + fence;
            }
            from = start + run;
        };
        rest = &body[end..];
    }
    outside + rest
}

#[test]
fn no_point_of_tap_is_turned_by_a_text() {
    each(|format, results, text| {
        if !matches!(format, Format::Tap | Format::Tap13) {
            return;
        }
        let points: Vec<_> =
            text.lines().filter(|line| line.starts_with("ok ") || line.starts_with("not ok ")).collect();
        assert_eq!(points.len(), results.checks.len() + results.sensitivity.len(), "{text}");
        let skipped = points.iter().filter(|line| line.contains(" # SKIP")).count();
        assert_eq!(skipped, results.counts_of_waived(), "{text}");
    });
}

#[test]
fn no_document_grows_beyond_what_readers_take() {
    each(|format, _, text| {
        assert!(text.len() < 1 << 20, "{} has {} bytes", format.name(), text.len());
    });
}

impl Results {
    fn counts_of_waived(&self) -> usize {
        self.checks.iter().filter(|check| check.verdict == crate::results::Verdict::NotApplicable).count()
    }
}
