//! A suite of a few requirements, and runs shown with it.

use std::collections::BTreeMap;

use crate::{
    mutants::Fate,
    render::{Context, Requirement, Run, Suite},
    results::Results,
    testing,
    text::Style,
};

/// What this program would know.
pub(crate) fn suite() -> Suite {
    let known = testing::green().checks;
    let requirements = known.iter().enumerate().filter_map(|(index, check)| {
        let sentence = testing::sentence(&check.id)?.to_owned();
        let about = "Attempted: all of them. Source: `A3`.".to_owned();
        let closes = "Refuse it in a filter of `socket(2)`.".to_owned();
        Some((check.id.clone(), Requirement { sentence, about, closes, line: index + 100 }))
    });
    Suite {
        program: "0.1.0".into(),
        spec: "1.0".into(),
        requirements: requirements.collect(),
        not_claimed: vec!["side channels".into(), "kernels other than the `kernel` named here".into()],
        mutants: BTreeMap::from([("allow-vsock".to_owned(), "The filter forgets `AF_VSOCK`.".to_owned())]),
    }
}

/// The line of a requirement in [`suite`].
pub(crate) fn line(id: &str) -> usize {
    suite().requirements[id].line
}

/// What comes of a run of these results, of a target that belongs to this repository.
pub(crate) fn shown<T>(results: &Results, show: impl FnOnce(Run<'_>) -> T) -> T {
    of(None, results, show)
}

/// The same of a target with a manifest.
pub(crate) fn shown_at<T>(manifest: &str, results: &Results, show: impl FnOnce(Run<'_>) -> T) -> T {
    of(Some(manifest), results, show)
}

fn of<T>(manifest: Option<&str>, results: &Results, show: impl FnOnce(Run<'_>) -> T) -> T {
    let (suite, matrix) = (suite(), BTreeMap::from([("allow-vsock".to_owned(), Fate::Killed)]));
    let context = Context { suite: &suite, manifest, signature: None, matrix: &matrix, style: Style::default() };
    show(Run { results, context: &context })
}
