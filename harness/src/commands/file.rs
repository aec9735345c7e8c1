//! Files that a command writes. They are opened before anything runs, so that nothing is lost to a wrong name.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufWriter, Seek, Write},
    path::{Path, PathBuf},
};

use serde::Serialize;
use serde_json::ser::PrettyFormatter;

/// A file that is written to at the end.
#[derive(Debug)]
pub struct Output {
    pub path: PathBuf,
    file: File,
}

impl Output {
    /// What the file holds stays until there is something better.
    pub fn open(path: &Path) -> Result<Self, String> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// The file, to be written from its start.
    pub fn replaced(mut self) -> io::Result<File> {
        // A pipe or a device has no length to cut.
        if self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
            self.file.rewind()?;
        }
        Ok(self.file)
    }

    /// Writes the document as JSON in place of what was there.
    pub fn json(self, document: &impl Serialize) -> Result<(), String> {
        let path = self.path.clone();
        let write = || {
            let mut out = BufWriter::new(self.replaced()?);
            document.serialize(&mut serde_json::Serializer::with_formatter(&mut out, PrettyFormatter::new()))?;
            out.write_all(b"\n")?;
            out.flush()
        };
        write().map_err(|error: io::Error| format!("cannot write {}: {error}", path.display()))
    }

    /// Writes the document in place of what was there.
    pub fn replace(self, document: &str) -> Result<(), String> {
        let path = self.path.clone();
        let written = self.replaced().and_then(|mut file| file.write_all(document.as_bytes()));
        written.map_err(|error| format!("cannot write {}: {error}", path.display()))
    }

    /// Writes the document behind what was there.
    pub fn append(mut self, document: &str) -> Result<(), String> {
        // A pipe cannot be sought in, and what is written to it comes last anyway.
        let _ = self.file.seek(io::SeekFrom::End(0));
        let written = self.file.write_all(document.as_bytes());
        written.map_err(|error| format!("cannot write {}: {error}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_was_in_a_file_stays_until_it_is_replaced() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("report");
        fs::write(&path, "x".repeat(100)).expect("written");
        let output = Output::open(&path).expect("opens");
        assert_eq!(fs::metadata(&path).expect("there").len(), 100);
        output.json(&[1, 2]).expect("written");
        assert_eq!(fs::read_to_string(&path).expect("text"), "[\n  1,\n  2\n]\n");
        Output::open(&path).expect("opens").replace("new").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("text"), "new");
        Output::open(&path).expect("opens").append(" and more").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("text"), "new and more");
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let error = Output::open(Path::new("/nonexistent/report")).expect_err("refused");
        assert!(error.starts_with("cannot write /nonexistent/report: "), "{error}");
    }
}
