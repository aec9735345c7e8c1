//! Makes an observation fit a line: free text is shortened first, then the ends of lists. What happened is never lost.

use crate::observation::{Exchange, Facts, Observation, Outcome};

/// Bytes of free text and entries of lists to try, in this order.
const STAGES: [(usize, usize); 9] =
    [(400, 1000), (120, 200), (60, 100), (60, 48), (40, 24), (40, 12), (24, 6), (12, 2), (0, 0)];

/// What `encode` makes of the observation, cut down as little as the stages allow until it answers.
pub fn to_fit<T>(mut observation: Observation, encode: impl Fn(&Observation) -> Option<T>) -> Option<T> {
    if let Some(whole) = encode(&observation) {
        return Some(whole);
    }
    observation.cut = true;
    STAGES.iter().find_map(|(text, list)| {
        shorten(&mut observation.outcome, *text, *list);
        encode(&observation)
    })
}

fn shorten(outcome: &mut Outcome, text: usize, list: usize) {
    match outcome {
        Outcome::Refused { call: said, .. }
        | Outcome::TimedOut { step: said }
        | Outcome::Silent { step: said }
        | Outcome::Heard { head: said, .. }
        | Outcome::Absent { what: said, .. }
        | Outcome::Broken { message: said } => cut(said, text),
        Outcome::Killed { .. } => {}
        Outcome::Found { facts } => shorten_facts(facts, text, list),
    }
}

fn shorten_facts(facts: &mut Facts, text: usize, list: usize) {
    match facts {
        Facts::Descriptors { open } => open.truncate(list),
        Facts::Network { links, addresses, routes } => {
            links.truncate(list);
            addresses.truncate(list);
            routes.truncate(list);
        }
        Facts::Privileges { of } => of.iter_mut().for_each(|holder| holder.groups.truncate(list)),
        Facts::Namespaces { tries, .. } => {
            tries.truncate(list);
            tries.iter_mut().for_each(|(what, _)| cut(what, text));
        }
        Facts::Scanned { found, .. } => {
            found.truncate(list);
            found.iter_mut().for_each(|(_, place)| cut(place, text));
        }
        Facts::Exchange { exchange } => shorten_exchange(exchange, text, list),
        Facts::Ports { open, .. } => open.truncate(list.saturating_mul(2)),
        Facts::Mcp { tools, calls } => {
            tools.truncate(list);
            tools.iter_mut().for_each(|tool| cut(tool, text));
            calls.iter_mut().for_each(|call| cut(&mut call.text, text));
        }
        Facts::SocketMade
        | Facts::DescriptorsReceived { .. }
        | Facts::Changed
        | Facts::Identity { .. }
        | Facts::File { .. }
        | Facts::Written
        | Facts::Lingering { .. }
        | Facts::Mounted
        | Facts::ProxyVariables { .. }
        | Facts::Granted => {}
    }
}

fn shorten_exchange(exchange: &mut Exchange, text: usize, list: usize) {
    exchange.headers.truncate(list);
    exchange.headers.iter_mut().for_each(|(name, value)| {
        cut(name, text);
        cut(value, text);
    });
    cut(&mut exchange.body_head, text);
    exchange.stopped.iter_mut().for_each(|stopped| cut(stopped, text));
    exchange.step_micros.truncate(list);
}

fn cut(said: &mut String, limit: usize) {
    if said.len() > limit {
        let end = (0..=limit).rev().find(|end| said.is_char_boundary(*end)).unwrap_or(0);
        said.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{self, Line, MAX_LINE};

    fn observed(outcome: Outcome) -> Observation {
        Observation { attempt: "check/name".into(), outcome, micros: 1, cut: false }
    }

    fn fit(outcome: Outcome) -> Observation {
        to_fit(observed(outcome), |fitting| {
            let text = wire::encode("launch", 1, &Line::Observed(fitting.clone()))?;
            assert!(text.len() <= MAX_LINE);
            Some(fitting.clone())
        })
        .expect("fits when cut")
    }

    #[test]
    fn what_fits_is_left_as_it_is() {
        let short = Outcome::Silent { step: "recv".into() };
        assert_eq!(fit(short.clone()), observed(short));
    }

    #[test]
    fn long_text_is_cut_and_the_digest_stays() {
        let sha256 = "a".repeat(64);
        let long = fit(Outcome::Heard { len: 9000, sha256: sha256.clone(), head: "é".repeat(4000) });
        assert!(long.cut);
        let Outcome::Heard { len: 9000, sha256: kept, head } = long.outcome else { panic!("another outcome") };
        assert_eq!((kept, head), (sha256, "é".repeat(200)));
    }

    #[test]
    fn a_list_of_every_port_is_cut_and_the_number_tried_stays() {
        let long =
            fit(Outcome::Found { facts: Facts::Ports { open: (1..=65535).collect(), tried: 65535, known: None } });
        let Outcome::Found { facts: Facts::Ports { open, tried: 65535, known: None } } = long.outcome else {
            panic!("another outcome")
        };
        assert!(long.cut && open.starts_with(&[1, 2, 3]) && open.len() >= 100);
    }

    #[test]
    fn an_exchange_of_the_largest_size_fits() {
        let exchange = Exchange {
            stopped: Some("x".repeat(3000)),
            headers: vec![("n".repeat(120), "v".repeat(120)); 24],
            body_head: "b".repeat(3000),
            body_sha256: "c".repeat(64),
            step_micros: vec![u64::MAX; 100],
            ..Exchange::default()
        };
        let long = fit(Outcome::Found { facts: Facts::Exchange { exchange } });
        let Outcome::Found { facts: Facts::Exchange { exchange } } = long.outcome else { panic!("another outcome") };
        assert_eq!(exchange.body_sha256.len(), 64);
    }
}
