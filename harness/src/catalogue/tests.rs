//! The text agrees with the checks today, and each way to disagree is found.

use std::collections::BTreeSet;

use super::*;
use crate::checks;

fn load() -> Catalogue {
    Catalogue::load().expect("CONFORMANCE.md reads as a catalogue")
}

/// The catalogue of the text with this one change, which must be possible.
fn edited(from: &str, to: &str) -> Result<Catalogue, CatalogueError> {
    assert!(TEXT.contains(from), "CONFORMANCE.md has no {from:?}");
    Catalogue::parse(&TEXT.replacen(from, to, 1))
}

#[track_caller]
fn refused(from: &str, to: &str, says: &str) {
    let error = edited(from, to).expect_err("the changed text must be refused");
    assert!(error.to_string().contains(says), "{error}");
    let CatalogueError::At { line, .. } = error else { panic!("{error} names no line") };
    let changed = TEXT.replacen(from, to, 1);
    assert!(changed.lines().nth(line - 1).is_some_and(|text| !text.is_empty()), "line {line} is not in the text");
}

#[track_caller]
fn disagrees(catalogue: &Catalogue, checks: &[&Check], says: &str) {
    let problems = catalogue.agree(checks).expect_err("this must be a disagreement");
    assert!(problems.iter().any(|problem| problem.contains(says)), "{problems:#?}");
}

/// The check of this id with one change; all others as they are.
fn with(id: &str, change: impl FnOnce(&mut Check)) -> Vec<&'static Check> {
    let checks = checks::all();
    let at = checks.iter().position(|check| check.id == id).expect("there is such a check");
    let old = checks[at];
    let mut changed = Check {
        id: old.id,
        slug: old.slug,
        level: old.level,
        subject: old.subject,
        control: old.control,
        plan: old.plan,
        scenarios: old.scenarios,
        rule: match old.rule {
            crate::check::Rule::Denied => crate::check::Rule::Denied,
            crate::check::Rule::Facts(rule) => crate::check::Rule::Facts(rule),
        },
        mutants: old.mutants,
        mutants_of_root: old.mutants_of_root,
        spared: old.spared,
        witnessed: old.witnessed,
        waived_by: old.waived_by,
        of_relays: old.of_relays,
    };
    change(&mut changed);
    let mut all = checks;
    all[at] = Box::leak(Box::new(changed));
    all
}

#[test]
fn the_text_agrees_with_the_checks() {
    let catalogue = load();
    if let Err(problems) = catalogue.agree(&checks::all()) {
        panic!("{}", problems.join("\n"));
    }
    assert_eq!(catalogue.requirements.len(), checks::all().len() + catalogue.unchecked.len());
}

#[test]
fn checks_stand_in_the_order_of_the_text() {
    let text: Vec<String> = load().requirements.into_iter().map(|one| one.id).collect();
    let checks: Vec<String> = checks::all().iter().map(|check| check.id.to_owned()).collect();
    assert_eq!(text, checks);
}

#[test]
fn what_is_not_claimed_is_a_list_that_is_never_empty() {
    let list = load().not_claimed;
    assert_eq!((list.len(), list[4].as_str()), (9, "side channels"));
    assert!(
        list[1].ends_with("into a completion that it asks for, and use the instance with what it may read"),
        "{list:?}"
    );
    let none = Catalogue::parse(&TEXT.replace("\n- ", "\n"));
    assert_eq!(none, Err(CatalogueError::Missing("- ")));
}

#[test]
fn a_requirement_is_read_with_its_line() {
    let catalogue = load();
    let requirement = catalogue.requirement("EGRESS-3").expect("EGRESS-3 is there");
    assert_eq!((requirement.level, requirement.subject), (Level::Must, Subject::Isolation));
    assert!(requirement.sentence.starts_with("The workload MUST NOT reach"), "{}", requirement.sentence);
    assert!(requirement.about.starts_with("Attempted: "), "{}", requirement.about);
    assert!(requirement.about.contains("127.255.255.254") && requirement.about.contains("RFC 1122"));
    let line = TEXT.lines().nth(requirement.line - 1).expect("the line exists");
    assert!(line.starts_with("**EGRESS-3** (MUST, isolation): "), "{line}");
    assert_eq!(catalogue.version, "1.0");
}

#[test]
fn a_check_that_the_text_does_not_know_is_found() {
    let catalogue = load();
    disagrees(
        &catalogue,
        &with("EGRESS-3", |check| check.id = "EGRESS-999"),
        "EGRESS-999 (egress::host_loopback) is not",
    );
}

#[test]
fn another_level_subject_or_waiver_is_found() {
    let catalogue = load();
    disagrees(&catalogue, &with("DNS-1", |check| check.level = Level::Should), "DNS-1 is Must");
    disagrees(&catalogue, &with("DNS-1", |check| check.subject = Subject::Relay), "DNS-1 is about Isolation");
    let waived = with("DNS-1", |check| check.waived_by = &[Capability::Provider]);
    disagrees(&catalogue, &waived, "DNS-1 is waived by [] in CONFORMANCE.md and by [Provider]");
    disagrees(&catalogue, &with("AUTH-1", |check| check.waived_by = &[]), "AUTH-1 is waived by [Provider]");
    let other = with("AUTH-1", |check| check.waived_by = &[Capability::Instance]);
    disagrees(&catalogue, &other, "and by [Instance]");
    let of_relays = with("DNS-6", |check| check.of_relays = true);
    disagrees(&catalogue, &of_relays, "disagree whether DNS-6 is waived where `relay` is absent");
}

#[test]
fn a_must_without_a_check_is_found_unless_it_has_a_reason() {
    let without = |id: &str| checks::all().into_iter().filter(|check| check.id != id).collect::<Vec<_>>();
    disagrees(&load(), &without("EGRESS-3"), "has neither a check nor a reason");
    assert_eq!(load().agree(&without("PRIV-3")), Ok(()), "a SHOULD may go unchecked");
    let head = "| requirement | reason |\n| --- | --- |\n";
    let excused = edited(head, &format!("{head}| EGRESS-3 | a reason |\n")).expect("the table takes a row");
    assert_eq!(excused.agree(&without("EGRESS-3")), Ok(()));
    disagrees(&excused, &checks::all(), "EGRESS-3 has a check, and CONFORMANCE.md says that it has none");
    refused(head, &format!("{head}| EGRESS-3 | |\n"), "no reason says why");
    refused(head, &format!("{head}| EGRESS-300 | a reason |\n"), "no requirement \"EGRESS-300\"");
}

#[test]
fn an_id_or_a_slug_used_twice_is_found() {
    let catalogue = load();
    disagrees(&catalogue, &with("DNS-1", |check| check.id = "DNS-2"), "the id DNS-2 is used twice");
    let same = with("DNS-1", |check| check.slug = "dns::queries_by_hand");
    disagrees(&catalogue, &same, "the slug dns::queries_by_hand is used twice");
}

#[test]
fn a_slug_outside_its_area_and_a_check_without_mutants_are_found() {
    let catalogue = load();
    let slug = with("PRIV-1", |check| check.slug = "privilege::capability_sets");
    disagrees(&catalogue, &slug, "does not start with priv::");
    disagrees(&catalogue, &with("PRIV-1", |check| check.mutants = &[]), "names no mutant");
}

#[test]
fn a_malformed_requirement_is_refused_with_its_line() {
    let own = "**EGRESS-3** (MUST, isolation): ";
    refused(own, "**EGRESS-3** (MAY, isolation): ", "\"MAY\" is not a level");
    refused(own, "**EGRESS-3** (MUST, sandbox): ", "\"sandbox\" is not a subject");
    refused(own, "**EGRESS-3** MUST: ", "a requirement opens with");
    refused(own, "**EGRESS-03** (MUST, isolation): ", "is not the id of a requirement");
    refused(own, "**EGRESS-2** (MUST, isolation): ", "EGRESS-2 was used before, in line");
    refused(own, "**DNS-30** (MUST, isolation): ", "DNS-30 stands under the heading of \"EGRESS\"");
    refused(own, "**EGRESS-3** (SHOULD, isolation): ", "says SHOULD and does not say MUST");
    refused(
        "**EGRESS-3** (MUST, isolation): The workload MUST NOT",
        "**EGRESS-3** (MUST, isolation): It can not",
        "says MUST",
    );
    refused("\nSource: D13, E1;", "\nD13, E1;", "TEARDOWN-1: the paragraph behind its sentence names no source");
}

#[test]
fn a_text_without_one_of_its_parts_is_refused() {
    for part in
        ["Version: ", "## Profiles", "## Waivers", "## Requirements without a check", "## Sources: the case catalogue"]
    {
        let text = TEXT.replacen(&format!("\n{part}"), "\n## Something else", 1);
        assert_eq!(Catalogue::parse(&text), Err(CatalogueError::Missing(part)), "{part}");
    }
    refused("Version: 1.0", "Version: one", "is not two numbers");
}

#[test]
fn the_profiles_are_those_of_the_checks() {
    let profiles = load().profiles;
    let names: Vec<(&str, &str)> = profiles.iter().map(|one| (one.name.as_str(), one.version.as_str())).collect();
    assert_eq!(names, [("core", "1.0"), ("isolation", "1.0")]);
    assert!(profiles[1].areas.starts_with(&profiles[0].areas) && profiles[1].areas.len() > profiles[0].areas.len());
    assert!(!profiles[0].areas.contains(&"IPC".to_owned()));
}

#[test]
fn a_profile_with_other_areas_another_version_or_another_name_is_found() {
    refused(
        "| isolation | 1.0 | those of core, and IPC, ",
        "| isolation | 1.0 | those of core, and ",
        "is in no profile",
    );
    refused("SOCKET, LAUNCH, TEARDOWN |", "SOCKET, LAUNCH |", "TEARDOWN-1 is in no profile");
    refused("those of core, and IPC, ", "those of coral, and IPC, ", "\"coral\", which is no profile above it");
    refused("those of core, and IPC, ", "those of core, and IPC, IPC, ", "isolation has the area IPC twice");
    refused("those of core, and IPC, ", "those of core, and IPC, LIMITS, ", "no requirement is in the area \"LIMITS\"");
    refused("| isolation | 1.0 |", "| core | 1.0 |", "the profile \"core\" stands here twice");
    refused("| isolation | 1.0 |", "| isolation | one |", "is not two numbers");
    let newer = edited("| isolation | 1.0 |", "| isolation | 1.1 |").expect("a version");
    disagrees(&newer, &checks::all(), "the profiles are [(\"core\", \"1.0\"), (\"isolation\", \"1.1\")]");
    let swapped =
        edited("those of core, and IPC, PROCESS, ", "those of core, and PROCESS, IPC, ").expect("the same areas");
    disagrees(&swapped, &checks::all(), "the profile isolation has the areas");
}

#[test]
fn a_waiver_of_isolation_is_refused_whoever_writes_it() {
    for id in ["EGRESS-1", "PRIV-3", "TEARDOWN-2", "DNS-1", "IPC-1", "FILES-1"] {
        refused("| ROUTE-1, ", &format!("| {id}, "), "can never be waived");
    }
    refused("| ROUTE-1, ", "| ROUTE-10, ", "no requirement \"ROUTE-10\"");
    refused("| ROUTE-1, ", "| ROUTE-2, ", "ROUTE-2 is waived twice");
    refused("| `provider` |", "| `proxy` |", "\"proxy\" is not a capability");
    refused("| `provider` |", "| `instance` |", "stands here twice");
}

#[test]
fn the_waivers_of_the_text_are_those_of_the_checks_in_both_directions() {
    let catalogue = load();
    for check in checks::all() {
        assert_eq!(catalogue.waived_by(check.id), check.waived_by, "{}", check.id);
        assert_eq!(catalogue.is_of_relays(check.id), check.of_relays, "{}", check.id);
    }
    let listed: usize = catalogue.waivers.values().map(Vec::len).sum();
    let waived = |check: &&Check| usize::from(!check.waived_by.is_empty()) + usize::from(check.of_relays);
    assert_eq!(listed, checks::all().iter().map(waived).sum::<usize>());
}

/// Every entry of the first system's sections A to E, H and X.
const FIRST: &str = "A1 A2 A3 A3n A4 A5 A6 A7 A8 A9 A10 A11 B1 B2 B3 B4 B4n B5 B5n B6 B7 C1 C2 C3 C4 C5 C6 C7 C8 C9 C10 \
    D1 D2 D3 D4 D5 D6 D7 D8 D9 D10 D11 D12 D13 D14 D15 D16 D17 D18 E1 E2 E3 H1 H2 H3 H4 H5 H6 H7 H8 H9 H10 \
    X1 X2 X3 X4 X5 X6 X7 X8 X9";

/// Every case of the families that core draws from. The gaps are the case catalogue's own.
const CASES: &str = "A01 A02 A03 A04 A05 A06 A07 A08 A09 A10 A11 A12 A13 A14 A15 A16 A17 A18 A19 A20 A21 A22 A23 A24 \
    C01 C02 C03 C05 C06 C07 C09 C10 C11 C12 D01 D02 D03 D04 D06 D07 D08 D10 D11 D12 D13 D14 D15 D16 D17 D18 D19 D20 \
    G01 G02 G03 G04 G05 G06 G07 G08 G09 G10 G11 G12 G13 G14 G15 G16 \
    I01 I02 I03 I04 I06 I07 I08 I09 I10 I11 I12 I13 I14 I15 I16 I18 I19 I20 I21 L01 L02 L03 L04 L06 L07 L08 L09 L10 L11 \
    L12 L13 N01 N02 N03 N04 N06 N07 N08 N09 N10 N11 O01 O02 O03 O04 O05 O06 O07 O08 O09 O10 O11 O12 O13 O14 O15 O16 O17 \
    O18 O19 O20 P01 P02 P03 P04 P05 P06 P07 P08 P09 P10 P11 P12";

#[test]
fn every_source_has_a_place_in_its_table_and_every_requirement_named_there_exists() {
    let catalogue = load();
    for (table, expected) in [(SourceTable::First, FIRST), (SourceTable::Cases, CASES)] {
        let sources: Vec<&Source> = catalogue.sources.iter().filter(|source| source.of == table).collect();
        let ids: Vec<&str> = sources.iter().map(|source| source.id.as_str()).collect();
        assert_eq!(ids, expected.split_whitespace().collect::<Vec<_>>(), "{table:?}");
        for source in sources {
            assert!(!source.became.is_empty(), "{}", source.id);
            for became in &source.became {
                if let Became::Requirement(id) = became {
                    assert!(catalogue.requirement(id).is_some(), "{}: {id}", source.id);
                }
            }
        }
    }
}

#[test]
fn a_source_that_names_no_requirement_or_has_no_reason_is_refused() {
    let row = "| A1 | the agent runs in a private network namespace | ";
    refused(&format!("{row}EGRESS-1 |"), &format!("{row}EGRESS-100 |"), "\"EGRESS-100\" is neither a requirement");
    refused(&format!("{row}EGRESS-1 |"), &format!("{row}excluded: |"), "is neither a requirement");
    refused(&format!("{row}EGRESS-1 |"), &format!("{row}|"), "is neither a requirement");
    refused(row, &format!("{row}more | "), "a row of this table has 3 cells, this one has 4");
    refused("| A2 | only", "| A1 | only", "A1 stands in this table before, in line");
}

/// What the paragraph about a requirement names as its source: `A3`, `case A14`, `cases A01, A02`.
fn named(requirement: &Requirement) -> BTreeSet<(SourceTable, String)> {
    let (_, text) = requirement.about.rsplit_once("Source: ").expect("the parser demands it");
    let mut named = BTreeSet::new();
    for part in text.trim_end_matches('.').split("; ") {
        let (table, ids) = match part.strip_prefix("cases ").or(part.strip_prefix("case ")) {
            Some(ids) => (SourceTable::Cases, ids),
            None => (SourceTable::First, part),
        };
        // RFCs and manual pages are longer.
        let ids = ids.split(", ").filter(|id| id.len() <= 3);
        named.extend(ids.map(|id| (table, id.to_owned())));
    }
    named
}

#[test]
fn requirements_and_sources_name_each_other() {
    let catalogue = load();
    for requirement in &catalogue.requirements {
        let became = Became::Requirement(requirement.id.clone());
        let back = catalogue.sources.iter().filter(|source| source.became.contains(&became));
        let back: BTreeSet<_> = back.map(|source| (source.of, source.id.clone())).collect();
        assert_eq!(named(requirement), back, "{}", requirement.id);
        assert!(!back.is_empty(), "{} comes from nowhere", requirement.id);
    }
}
