//! The formats by name.

use super::{Run, badge, ctrf, github, html, junit, markdown, sarif, tap};
use crate::{json, text};

/// A form in which a run can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    Text,
    Json,
    Html,
    Markdown,
    Junit,
    /// What failed, for GitHub's code scanning.
    Sarif,
    /// Every requirement, with the kinds `pass`, `fail`, `open` and `notApplicable`.
    SarifFull,
    /// What `$GITHUB_STEP_SUMMARY` takes.
    GithubSummary,
    /// Workflow commands for the log of a step.
    GithubAnnotations,
    Ctrf,
    Tap,
    /// For readers that know version 13 at most.
    Tap13,
    BadgeSvg,
    BadgeJson,
}

impl Format {
    pub const ALL: [Self; 14] = [
        Self::Text,
        Self::Json,
        Self::Html,
        Self::Markdown,
        Self::Junit,
        Self::Sarif,
        Self::SarifFull,
        Self::GithubSummary,
        Self::GithubAnnotations,
        Self::Ctrf,
        Self::Tap,
        Self::Tap13,
        Self::BadgeSvg,
        Self::BadgeJson,
    ];

    /// The format with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Html => "html",
            Self::Markdown => "markdown",
            Self::Junit => "junit",
            Self::Sarif => "sarif",
            Self::SarifFull => "sarif-full",
            Self::GithubSummary => "github-summary",
            Self::GithubAnnotations => "github-annotations",
            Self::Ctrf => "ctrf",
            Self::Tap => "tap",
            Self::Tap13 => "tap13",
            Self::BadgeSvg => "badge",
            Self::BadgeJson => "badge-json",
        }
    }

    /// What it is for, in a line of help.
    pub fn about(self) -> &'static str {
        match self {
            Self::Text => "For people",
            Self::Json => "The results document; for several targets an array of them",
            Self::Html => "One page without scripts, for a reviewer; holds one target",
            Self::Markdown => "The same to read in a repository or a message",
            Self::Junit => "JUnit XML, for GitLab, Jenkins, Azure and others",
            Self::Sarif => "SARIF 2.1.0 with what failed, for GitHub's code scanning",
            Self::SarifFull => "SARIF 2.1.0 with every requirement",
            Self::GithubSummary => "Markdown for $GITHUB_STEP_SUMMARY, 1 MiB at most",
            Self::GithubAnnotations => "Workflow commands that annotate a GitHub run, the worst first",
            Self::Ctrf => "Common Test Report Format; holds one target",
            Self::Tap => "TAP 14; holds one target",
            Self::Tap13 => "TAP 13, for older readers; holds one target",
            Self::BadgeSvg => "An SVG image of the status line; holds one target",
            Self::BadgeJson => "The same for a shields.io endpoint; holds one target",
        }
    }

    /// Registered media type, or the one in use where none is.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Text | Self::GithubAnnotations | Self::Tap | Self::Tap13 => "text/plain; charset=utf-8",
            Self::Json | Self::Ctrf | Self::BadgeJson => "application/json",
            Self::Html => "text/html; charset=utf-8",
            Self::Markdown | Self::GithubSummary => "text/markdown; charset=utf-8",
            Self::Junit => "application/xml",
            Self::Sarif | Self::SarifFull => "application/sarif+json",
            Self::BadgeSvg => "image/svg+xml",
        }
    }

    /// How a file of it is called after its stem: `sarif`.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Text | Self::GithubAnnotations => "txt",
            Self::Json | Self::BadgeJson => "json",
            Self::Html => "html",
            Self::Markdown | Self::GithubSummary => "md",
            Self::Junit => "xml",
            Self::Sarif | Self::SarifFull => "sarif",
            Self::Ctrf => "ctrf.json",
            Self::Tap | Self::Tap13 => "tap",
            Self::BadgeSvg => "svg",
        }
    }

    /// Whether one document can show several runs.
    pub fn holds_several(self) -> bool {
        match self {
            Self::Text
            | Self::Json
            | Self::Markdown
            | Self::Junit
            | Self::Sarif
            | Self::SarifFull
            | Self::GithubSummary
            | Self::GithubAnnotations => true,
            Self::Html | Self::Ctrf | Self::Tap | Self::Tap13 | Self::BadgeSvg | Self::BadgeJson => false,
        }
    }

    /// The document of one run. Its results must be sanitised (see [`crate::sanitise::results`]).
    pub fn render(self, run: Run<'_>) -> String {
        let sentence = |id: &str| run.requirement(id).map(|requirement| requirement.sentence.as_str());
        match self {
            Self::Text => text::render(run.results, sentence, &run.context.style),
            Self::Json => json::render(run.results),
            Self::Html => html::render(run),
            Self::Markdown => markdown::render(run),
            Self::Junit => junit::render(&[run]),
            Self::Sarif => sarif::render(&[run], sarif::Extent::Failures),
            Self::SarifFull => sarif::render(&[run], sarif::Extent::Everything),
            Self::GithubSummary => github::summary(&[run]),
            Self::GithubAnnotations => github::annotations(&[run]),
            Self::Ctrf => ctrf::render(run),
            Self::Tap => tap::render(run, tap::Version::V14),
            Self::Tap13 => tap::render(run, tap::Version::V13),
            Self::BadgeSvg => badge::svg(run),
            Self::BadgeJson => badge::endpoint(run),
        }
    }

    /// The document of several runs in their order; nothing where [`Self::holds_several`] says that there is none.
    pub fn render_several(self, runs: &[Run<'_>]) -> Option<String> {
        let joined = |separator| runs.iter().map(|run| self.render(*run)).collect::<Vec<_>>().join(separator);
        Some(match self {
            Self::Text | Self::Markdown => joined("\n"),
            Self::Json => json::render(&runs.iter().map(|run| run.results).collect::<Vec<_>>()),
            Self::Junit => junit::render(runs),
            Self::Sarif => sarif::render(runs, sarif::Extent::Failures),
            Self::SarifFull => sarif::render(runs, sarif::Extent::Everything),
            Self::GithubSummary => github::summary(runs),
            Self::GithubAnnotations => github::annotations(runs),
            Self::Html | Self::Ctrf | Self::Tap | Self::Tap13 | Self::BadgeSvg | Self::BadgeJson => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_a_name_of_its_own_and_is_found_by_it() {
        for format in Format::ALL {
            assert_eq!(Format::named(format.name()), Some(format));
            assert!(!format.about().is_empty() && format.media_type().contains('/') && !format.extension().is_empty());
        }
        assert_eq!(Format::named("xml"), None);
    }
}
