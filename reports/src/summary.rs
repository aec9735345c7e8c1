//! One result in one line, for progress while a run goes on.

use crate::{page, results::CheckResult, words};

/// Columns of such a line at most.
const WIDTH: usize = 160;

/// `FAIL  EGRESS-14  egress::vsock: create: the socket was made (and 2 more)`.
pub fn one_line(check: &CheckResult) -> String {
    let why = match check.reason.as_slice() {
        [] => String::new(),
        [only] => format!(": {only}"),
        [first, rest @ ..] => format!(": {first} (and {} more)", rest.len()),
    };
    page::cut(&format!("{}  {}  {}{why}", words::verdict(check.verdict), check.id, check.slug), WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn one_line_says_verdict_requirement_and_cause() {
        let results = testing::mixed();
        let lines: Vec<_> = results.checks.iter().map(one_line).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn it_is_one_line_of_bounded_length_whatever_the_sandbox_said() {
        for hostile in &testing::hostile() {
            let mut results = testing::every_text(hostile);
            crate::sanitise::results(&mut results);
            for check in &results.checks {
                let line = one_line(check);
                assert!(page::columns(&line) <= WIDTH && !line.contains(char::is_control), "{line:?}");
                assert!(!line.starts_with(':'), "{line}");
            }
        }
    }
}
