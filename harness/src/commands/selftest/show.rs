//! What a selftest shows: progress on standard error, then the matrix: what is wrong first.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal, Write},
    sync::atomic::{AtomicUsize, Ordering},
};

use watertight_reports::mutants::{Fate, Mutant as Row};

use crate::selftest::matrix::Matrix;

/// One line that is written over on a terminal; elsewhere a line for what is wrong and for every tenth.
pub struct Progress {
    quiet: bool,
    terminal: bool,
    done: AtomicUsize,
}

impl Progress {
    pub fn new(quiet: bool) -> Self {
        Self { quiet, terminal: io::stderr().is_terminal(), done: AtomicUsize::new(0) }
    }

    /// A mutant or double is done, and became this.
    pub fn done(&self, name: &str, what: &str, right: bool) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if self.quiet {
            return;
        }
        let words = format!("{done} done: {name} {what}");
        let mut out = io::stderr().lock();
        // Nobody may listen; the matrix says it all again.
        let _ = if self.terminal {
            write!(out, "\r\x1b[K{words}").and_then(|()| out.flush())
        } else if !right || done.is_multiple_of(10) {
            writeln!(out, "{words}")
        } else {
            Ok(())
        };
    }

    /// Takes the line away again.
    pub fn clear(&self) {
        if self.terminal && !self.quiet {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

pub fn json(matrix: &Matrix) -> String {
    let mut text = serde_json::to_string_pretty(matrix).unwrap_or_default();
    text.push('\n');
    text
}

pub fn text(matrix: &Matrix, verbose: bool) -> String {
    let summary = &matrix.summary;
    let mut text = format!(
        "{}: {} of {} mutants killed by exactly their checks ({} kill sets), {} survived, {} collateral, {} unclear, \
         {} void, {} failed\n",
        if summary.is_exact() { "exact" } else { "not exact" },
        summary.killed,
        summary.mutants,
        summary.distinct,
        summary.survived,
        summary.collateral,
        summary.unclear,
        summary.void,
        summary.failed,
    );
    text.push_str(&format!(
        "as {}; {}; {} ms\n",
        matrix.identity,
        if matrix.full { "every check on every mutant" } else { "each with its checks and a sample of the others" },
        matrix.wall_ms
    ));
    if let Some(ablation) = &matrix.ablation {
        text.push_str(&format!(
            "{} attempts and launches put out of action in turn: without {} a mutant survives, {} are spared with a reason\n",
            ablation.parts, ablation.needed, ablation.spared
        ));
        for (what, parts) in
            [("no mutant needs it", &ablation.unexplained), ("a reason for what is needed", &ablation.stale)]
        {
            for part in parts {
                text.push_str(&format!("  {part}: {what}\n"));
            }
        }
    }
    let mut rows: Vec<&Row> = matrix.mutants.iter().collect();
    rows.sort_by_key(|row| row.status);
    for row in rows.iter().filter(|row| row.status != Fate::Killed) {
        text.push_str(&trouble(row));
    }
    for double in &matrix.doubles {
        let error = double.error.as_ref().map_or(String::new(), |error| format!(": {error}"));
        let right = if double.right { "right" } else { "WRONG" };
        text.push_str(&format!("  {right}  {} {}{error}\n", double.name, double.expected));
        if !double.right {
            text.push_str(&format!("    passed {}\n", by_area(&double.passed)));
        }
    }
    text.push('\n');
    for row in rows.iter().filter(|row| row.status == Fate::Killed) {
        text.push_str(&format!("  {:38} {}\n", row.slug, by_area(&row.kills)));
        if verbose {
            text.push_str(&format!("    {} ({} checks, {} ms)\n", row.sentence, row.checked, row.micros / 1000));
        }
    }
    text
}

fn trouble(row: &Row) -> String {
    let mut text = format!("\n{} {}: {}\n", row.status.name().to_uppercase(), row.slug, row.sentence);
    let missing: Vec<String> = row.missed().map(str::to_owned).collect();
    let more: Vec<String> = row.collateral().map(str::to_owned).collect();
    for (what, ids) in
        [("must fail, and did not", missing), ("failed, and must not", more), ("failed", row.kills.clone())]
    {
        if !ids.is_empty() {
            text.push_str(&format!("  {what:24} {}\n", by_area(&ids)));
        }
    }
    for unclear in &row.unclear {
        text.push_str(&format!("  not judged               {unclear}\n"));
    }
    if let Some(error) = &row.error {
        text.push_str(&format!("  not run                  {error}\n"));
    }
    text
}

/// `EGRESS-2,5 DNS-1`: ids gathered by area.
fn by_area(ids: &[String]) -> String {
    let mut areas: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for id in ids {
        let (area, number) = id.split_once('-').unwrap_or((id, ""));
        areas.entry(area).or_default().push(number);
    }
    let mut words = vec![];
    for (area, mut numbers) in areas {
        numbers.sort_by_key(|number| number.parse::<u32>().unwrap_or(0));
        words.push(format!("{area}-{}", numbers.join(",")));
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_gathered_by_area_in_the_order_of_their_numbers() {
        let ids = ["EGRESS-10", "EGRESS-2", "DNS-1"].map(str::to_owned);
        assert_eq!(by_area(&ids), "DNS-1 EGRESS-2,10");
    }
}
