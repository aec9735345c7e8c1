//! The three questions.

use std::io::{self, BufRead, ErrorKind, Write};

use super::{How, Sandbox};

/// Asks what is not known yet. Each question has its number, and an answer that it does not understand is asked for again.
pub fn ask(
    name: Option<String>,
    how: Option<How>,
    routes: Option<bool>,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<Sandbox> {
    let name = match name {
        Some(name) => name,
        None => answer("1/3  What is it called? Letters, digits, -", input, output, |text| {
            (!text.is_empty()).then(|| text.to_owned())
        })?,
    };
    let how = match how {
        Some(how) => how,
        None => answer(
            "2/3  Which command line runs a command in it, up to where that begins? Nothing, where none does (a daemon, an \
             image): then an adapter is written",
            input,
            output,
            |text| match text {
                "" => Some(How::Adapter),
                text => shlex::split(text).filter(|words| !words.is_empty()).map(How::Words),
            },
        )?,
    };
    let routes = match routes {
        Some(routes) => routes,
        None => answer(
            "3/3  Does it get the sockets of our relays, or no network at all? [sockets] none",
            input,
            output,
            |text| match text {
                "" | "sockets" | "s" => Some(true),
                "none" | "n" => Some(false),
                _ => None,
            },
        )?,
    };
    Ok(Sandbox { name, how, routes })
}

fn answer<T>(
    question: &str,
    input: &mut impl BufRead,
    output: &mut impl Write,
    read: impl Fn(&str) -> Option<T>,
) -> io::Result<T> {
    loop {
        write!(output, "{question}\n> ")?;
        output.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        if let Some(answer) = read(line.trim()) {
            return Ok(answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: Option<&str>, how: Option<How>, answers: &str) -> (io::Result<Sandbox>, String) {
        let mut output = vec![];
        let sandbox = ask(name.map(str::to_owned), how, None, &mut answers.as_bytes(), &mut output);
        (sandbox, String::from_utf8(output).expect("text"))
    }

    #[test]
    fn three_answers_make_a_sandbox_of_either_kind() {
        let (sandbox, questions) = asked(None, None, "mine\nbox --in 'a b' --\nnone\n");
        let words = ["box", "--in", "a b", "--"].map(str::to_owned).into();
        assert_eq!(sandbox.expect("answered"), Sandbox { name: "mine".into(), how: How::Words(words), routes: false });
        assert_eq!(questions.matches("\n> ").count(), 3, "{questions}");
        let (sandbox, _) = asked(None, None, "mine\n\n\n");
        assert_eq!(sandbox.expect("answered"), Sandbox { name: "mine".into(), how: How::Adapter, routes: true });
    }

    #[test]
    fn only_what_is_not_known_is_asked_and_what_is_not_understood_is_asked_again() {
        let (sandbox, questions) = asked(Some("mine"), Some(How::Adapter), "perhaps\nnone\n");
        assert!(sandbox.is_ok_and(|sandbox| !sandbox.routes));
        assert_eq!(questions.matches("3/3").count(), 2, "{questions}");
        assert!(!questions.contains("1/3") && !questions.contains("2/3"), "{questions}");
        let (sandbox, questions) = asked(Some("mine"), None, "'unclosed\nbox\n\n");
        assert!(sandbox.is_ok_and(|sandbox| sandbox.how == How::Words(vec!["box".into()])));
        assert_eq!(questions.matches("2/3").count(), 2, "{questions}");
        let (sandbox, _) = asked(Some("mine"), None, "");
        assert!(sandbox.is_err_and(|error| error.kind() == ErrorKind::UnexpectedEof));
    }
}
