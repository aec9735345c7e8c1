//! The name that somebody who mistyped one probably meant.

/// Names close to `given`, the closest first, ignoring case.
pub fn nearest<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let given = given.to_lowercase();
    // A third of the letters may be wrong, and one always may.
    let bearable = (given.chars().count() / 3).max(1);
    let mut close: Vec<(usize, &str)> = names
        .into_iter()
        .map(|name| (distance(&given, &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= bearable)
        .collect();
    close.sort();
    close.into_iter().map(|(_, name)| name).take(3).collect()
}

/// `; did you mean EGRESS-3 or EGRESS-5?`, or nothing.
pub fn hint(names: &[&str]) -> String {
    if names.is_empty() { String::new() } else { format!("; did you mean {}?", names.join(" or ")) }
}

/// Letters to insert, delete, replace, or swap with their neighbour (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let differs = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + differs);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_edits_and_swaps() {
        for (a, b, edits) in [("", "", 0), ("a", "", 1), ("refrence", "reference", 1), ("bublewarp", "bubblewrap", 2)] {
            assert_eq!(distance(a, b), edits, "{a} {b}");
        }
        assert_eq!(distance("abcd", "wxyz"), 4);
    }

    #[test]
    fn what_was_meant_is_found_and_nonsense_is_not() {
        let names = ["reference", "bubblewrap", "dead", "open"];
        assert_eq!(nearest("Bubblewarp", names), ["bubblewrap"]);
        assert_eq!(nearest("deed", names), ["dead"]);
        assert!(nearest("firejail", names).is_empty());
        assert_eq!(hint(&["a", "b"]), "; did you mean a or b?");
    }
}
