//! The bearer that a workload was given, right or wrong in one way.

use crate::plan::{BearerAt, BearerForm};

/// The bearer's bytes in this form. An error says why there is none.
pub fn in_form(at: Option<&BearerAt>, form: BearerForm) -> Result<Vec<u8>, String> {
    let bearer = find(at)?;
    let (first, last) = match &bearer[..] {
        [first, .., last] => (*first, *last),
        _ => return Err("a bearer of one byte or none has no wrong forms".into()),
    };
    let end = bearer.len() - 1;
    Ok(match form {
        BearerForm::Right => bearer,
        BearerForm::Short => bearer[..end].to_vec(),
        BearerForm::Long => [&bearer[..], b"A"].concat(),
        BearerForm::AllDifferent => bearer.iter().map(|byte| another(*byte)).collect(),
        BearerForm::FirstDifferent => [&[another(first)][..], &bearer[1..]].concat(),
        BearerForm::LastDifferent => [&bearer[..end], &[another(last)]].concat(),
        BearerForm::Multibyte => [&bearer[..end], "é".as_bytes()].concat(),
    })
}

fn find(at: Option<&BearerAt>) -> Result<Vec<u8>, String> {
    match at {
        None => Err("the plan says no place of the bearer".into()),
        Some(BearerAt::Env(name)) => std::env::var_os(name)
            .map(|value| value.into_encoded_bytes())
            .ok_or_else(|| format!("no bearer in the environment variable {name}")),
        Some(BearerAt::File(path)) => {
            let text = std::fs::read(path).map_err(|error| format!("no bearer in {path}: {error}"))?;
            Ok(text.trim_ascii().to_vec())
        }
    }
}

/// Another byte that may stand in a header field's value.
fn another(byte: u8) -> u8 {
    if byte == b'A' { b'B' } else { b'A' }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wrong_form_differs_from_the_right_one_in_its_own_way() {
        let path = std::env::temp_dir().join(format!("watertight-probe-bearer-{}", std::process::id()));
        std::fs::write(&path, " AbcA\n").expect("written");
        let at = BearerAt::File(path.to_str().expect("text").to_owned());
        let form = |form| String::from_utf8(in_form(Some(&at), form).expect("there")).expect("text");
        assert_eq!(form(BearerForm::Right), "AbcA");
        assert_eq!(form(BearerForm::Short), "Abc");
        assert_eq!(form(BearerForm::Long), "AbcAA");
        assert_eq!(form(BearerForm::AllDifferent), "BAAB");
        assert_eq!(form(BearerForm::FirstDifferent), "BbcA");
        assert_eq!(form(BearerForm::LastDifferent), "AbcB");
        assert_eq!(form(BearerForm::Multibyte), "Abcé");
        std::fs::remove_file(path).expect("removed");
        assert!(in_form(Some(&at), BearerForm::Right).is_err());
        assert!(in_form(None, BearerForm::Right).is_err());
    }
}
