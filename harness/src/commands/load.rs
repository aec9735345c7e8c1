//! Results that a command is given: the one place that knows where they can come from.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use watertight_reports::{bundle::shown::Shown, json, results::Results};

/// Bytes of a results document at most: thousands of requirements.
const LIMIT: u64 = 64 << 20;

/// The results in this file or bundle, sanitised and consistent; `-` is standard input.
pub fn results(path: &Path) -> Result<Vec<Results>, String> {
    let shown = path.display();
    if path.is_dir() {
        return Shown::open(path).map(|bundle| vec![bundle.results]).map_err(|error| format!("{shown}: {error}"));
    }
    let text = text(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    json::read_all(&text).map_err(|error| format!("{shown}: {error}"))
}

/// The text of this file; `-` is standard input.
pub fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        io::stdin().lock().take(LIMIT + 1).read_to_string(&mut text)?
    } else {
        File::open(path)?.take(LIMIT + 1).read_to_string(&mut text)?
    };
    if read as u64 > LIMIT {
        return Err(io::Error::other(format!("it has more than {} MiB", LIMIT >> 20)));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_results_document_is_refused_with_its_name() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("results.json");
        let missing = results(&path).expect_err("refused");
        assert!(missing.starts_with(&format!("cannot read {}: ", path.display())), "{missing}");
        std::fs::write(&path, "{}").expect("written");
        let wrong = results(&path).expect_err("refused");
        assert!(wrong.contains("read the results document: "), "{wrong}");
        let file = File::create(&path).expect("a file");
        file.set_len(LIMIT + 1).expect("long");
        let long = results(&path).expect_err("refused");
        assert!(long.ends_with("it has more than 64 MiB"), "{long}");
    }
}
