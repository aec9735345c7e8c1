//! Many requirement ids in few words: `AUTH-1..4, DNS-2`.

/// Joins runs of consecutive numbers of one area.
pub(super) fn compact<'a>(ids: impl IntoIterator<Item = &'a str>) -> String {
    let mut runs: Vec<(&str, u32, u32)> = vec![];
    let mut text = vec![];
    for id in ids {
        let Some((area, number)) = id.split_once('-').and_then(|(area, number)| Some((area, number.parse().ok()?)))
        else {
            text.push(id.to_owned());
            continue;
        };
        match runs.last_mut() {
            Some((last, _, to)) if *last == area && to.checked_add(1) == Some(number) => *to = number,
            _ => runs.push((area, number, number)),
        }
    }
    let runs = runs.into_iter().map(|(area, from, to)| match to - from {
        0 => format!("{area}-{from}"),
        _ => format!("{area}-{from}..{to}"),
    });
    runs.chain(text).collect::<Vec<_>>().join(", ")
}

/// The same in the order of their numbers.
pub fn in_order<'a>(ids: impl IntoIterator<Item = &'a str>) -> String {
    let mut ids: Vec<&str> = ids.into_iter().collect();
    ids.sort_by_key(|id| id.split_once('-').map(|(area, number)| (area, number.parse::<u32>().unwrap_or(0))));
    compact(ids)
}

#[cfg(test)]
mod tests {
    use super::{compact, in_order};

    #[test]
    fn numbers_are_ordered_as_numbers() {
        assert_eq!(in_order(["B-10", "B-2", "A-1", "B-3"]), "A-1, B-2..3, B-10");
    }

    #[test]
    fn consecutive_ids_become_ranges() {
        assert_eq!(compact(["A-1", "A-2", "A-3", "B-3", "A-4", "A-6"]), "A-1..3, B-3, A-4, A-6");
        assert_eq!(compact(["A-4294967295", "odd", "A-x"]), "A-4294967295, odd, A-x");
        assert_eq!(compact([]), "");
    }
}
