//! What closes a failure of each requirement, in one sentence for whoever maintains the sandbox.

const TEXT: &str = include_str!("remedies.txt");

/// The remedy of a requirement.
pub fn of(id: &str) -> Option<&'static str> {
    lines().find(|(known, _)| *known == id).map(|(_, remedy)| remedy)
}

fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    TEXT.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = "))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::catalogue::Catalogue;

    #[test]
    fn every_requirement_has_one_remedy_in_the_order_of_the_text() {
        let catalogue = Catalogue::load().expect("a catalogue");
        let ids: Vec<&str> = catalogue.requirements.iter().map(|requirement| requirement.id.as_str()).collect();
        assert_eq!(lines().map(|(id, _)| id).collect::<Vec<_>>(), ids);
    }

    #[test]
    fn a_remedy_is_one_sentence_of_its_own() {
        let all: Vec<&str> = lines().map(|(_, remedy)| remedy).collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        for remedy in all {
            assert!(remedy.ends_with('.') && remedy.len() > 20, "{remedy}");
        }
        assert_eq!(of("EGRESS-999"), None);
    }
}
