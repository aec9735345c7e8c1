//! Results that a command is given: the one place that knows where they can come from.

use std::{collections::BTreeMap, io, path::Path};

use watertight_reports::{
    bundle::{read::MAX_FILE, shown::Shown},
    files, json,
    matrix::Matrix,
    mutants::{Fate, Mutant},
    render::Signature,
    results::Results,
};

/// Bytes of a results document at most: thousands of requirements.
const LIMIT: u64 = 64 << 20;

/// Results, and what stands beside them in a bundle.
pub struct Loaded {
    pub results: Vec<Results>,
    /// What became of the broken references in the bundle's kill matrix, by slug.
    pub matrix: BTreeMap<String, Fate>,
    pub signature: Option<Signature>,
}

/// The results in this file or bundle, sanitised and consistent; `-` is standard input.
pub fn results(path: &Path) -> Result<Loaded, String> {
    if path.is_dir() {
        let Shown { results, predicate: _, mutants, signed } = bundle(path)?;
        return Ok(Loaded {
            results: vec![results],
            matrix: fates(mutants.unwrap_or_default()),
            signature: signed.map(|(statement, keys)| Signature { statement: statement.to_string(), keys }),
        });
    }
    Ok(Loaded { results: documents(path, LIMIT)?, matrix: BTreeMap::new(), signature: None })
}

/// What this bundle says, or a file with the results of one target.
pub fn shown(path: &Path) -> Result<Shown, String> {
    if path.is_dir() {
        return bundle(path);
    }
    match <[Results; 1]>::try_from(documents(path, MAX_FILE)?) {
        Ok([results]) => Ok(Shown { results, predicate: None, mutants: None, signed: None }),
        Err(several) => Err(format!("{}: it has results of {} targets, not of one", path.display(), several.len())),
    }
}

fn bundle(path: &Path) -> Result<Shown, String> {
    Shown::open(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn documents(path: &Path, limit: u64) -> Result<Vec<Results>, String> {
    let shown = path.display();
    let text = text(path, limit).map_err(|error| format!("cannot read {shown}: {error}"))?;
    json::read_all(&text).map_err(|error| format!("{shown}: {error}"))
}

/// What became of each mutant in the selftest that printed this file.
pub fn matrix(path: &Path) -> Result<BTreeMap<String, Fate>, String> {
    kill_matrix(path).map(|(matrix, _)| fates(matrix.mutants))
}

/// A kill matrix, and its document.
pub fn kill_matrix(path: &Path) -> Result<(Matrix, Vec<u8>), String> {
    let shown = path.display();
    let text = text(path, LIMIT).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let matrix = Matrix::read(text.as_bytes())
        .map_err(|error| format!("{shown}: {error}; it must be what `watertight selftest --json` printed"))?;
    Ok((matrix, text.into_bytes()))
}

fn fates(mutants: Vec<Mutant>) -> BTreeMap<String, Fate> {
    mutants.into_iter().map(|mutant| (mutant.slug, mutant.status)).collect()
}

/// The text of this file; `-` is standard input.
fn text(path: &Path, limit: u64) -> io::Result<String> {
    if path == Path::new("-") { files::read_text(io::stdin().lock(), limit) } else { files::text(path, limit) }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn refused(path: &Path) -> String {
        results(path).err().expect("refused")
    }

    #[test]
    fn what_is_no_results_document_is_refused_with_its_name() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("results.json");
        let missing = refused(&path);
        assert!(missing.starts_with(&format!("cannot read {}: ", path.display())), "{missing}");
        std::fs::write(&path, "{}").expect("written");
        let wrong = refused(&path);
        assert!(wrong.contains("read the results document: "), "{wrong}");
        let file = File::create(&path).expect("a file");
        file.set_len(LIMIT + 1).expect("long");
        let long = refused(&path);
        assert!(long.ends_with("it has more than 64 MiB"), "{long}");
    }
}
