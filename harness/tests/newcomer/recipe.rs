//! What CONTRIBUTING.md says of one more check, as data.

use std::{fs, path::Path};

/// The section, read.
pub struct Recipe {
    /// Files and directories that it names, but for those that the example makes.
    pub paths: Vec<String>,
    /// The example, in its order.
    pub blocks: Vec<Block>,
}

/// What the example does to one file.
pub struct Block {
    pub path: String,
    /// A change, or the whole of a new file.
    diff: bool,
    text: String,
}

impl Recipe {
    pub fn read(document: &str) -> Self {
        let section = document.split("\n## ").find_map(|section| section.strip_prefix("One more check\n"));
        let section = section.expect("CONTRIBUTING.md has a section `One more check`");
        let (mut blocks, mut words) = (vec![], String::new());
        let mut lines = section.lines();
        while let Some(line) = lines.next() {
            let Some(kind) = line.strip_prefix("```") else {
                words.push_str(line);
                words.push('\n');
                continue;
            };
            let path = words.trim_end().strip_suffix("`:").and_then(|words| words.rsplit('`').next());
            let path = path.expect("before a block stands the file that it is about").to_owned();
            let text = lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
            blocks.push(Block { path, diff: kind == "diff", text });
        }
        let new = |path: &str| blocks.iter().any(|block| !block.diff && block.path == path);
        // AREA and FACT stand for whatever the new check is about.
        let quoted = words.split('`').skip(1).step_by(2);
        let paths = quoted.filter(|word| word.contains(['/', '.']) && !word.contains([' ', '(']));
        let paths = paths.filter(|path| !new(path)).map(|path| path.replace("AREA/FACT.rs", "auth/mod.rs"));
        Self { paths: paths.map(|path| path.replace("AREA", "auth")).collect(), blocks }
    }

    /// The id of the requirement that the example adds.
    pub fn new_requirement(&self) -> String {
        self.between("CONFORMANCE.md", "+**", "**")
    }

    /// The slug of the mutant that it adds.
    pub fn new_mutant(&self) -> String {
        self.between("harness/src/selftest/mutants.rs", "mutant(\"", "\"")
    }

    fn between(&self, path: &str, before: &str, after: &str) -> String {
        let block = self.blocks.iter().find(|block| block.path == path);
        let block = block.unwrap_or_else(|| panic!("the example changes {path}"));
        let found = block.text.split_once(before).and_then(|(_, rest)| rest.split_once(after));
        found.unwrap_or_else(|| panic!("{before}…{after} stands in what the example adds to {path}")).0.to_owned()
    }
}

impl Block {
    /// Does to the file below `directory` what the block says.
    pub fn apply(&self, directory: &Path) {
        let file = directory.join(&self.path);
        let text = if self.diff {
            let before = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", self.path));
            let changed = self.text.split("@@\n").try_fold(before, |text, hunk| changed(&text, hunk));
            changed.unwrap_or_else(|why| panic!("{}: {why}", self.path))
        } else {
            assert!(!file.exists(), "{} is no new file", self.path);
            self.text.clone()
        };
        fs::write(&file, text).expect("the copy is ours");
    }
}

/// The text with one hunk's lines in the place of those that it knows, which stand in it once.
fn changed(text: &str, hunk: &str) -> Result<String, String> {
    let (mut old, mut new) = (vec![], vec![]);
    for line in hunk.lines() {
        match line.split_at_checked(1).unwrap_or((" ", "")) {
            (" ", line) => {
                old.push(line);
                new.push(line);
            }
            ("+", line) => new.push(line),
            ("-", line) => old.push(line),
            _ => return Err(format!("{line:?} is no line of a diff")),
        }
    }
    let lines: Vec<&str> = text.lines().collect();
    let places: Vec<usize> = (0..lines.len()).filter(|at| lines[*at..].starts_with(&old)).collect();
    let [place] = places[..] else { return Err(format!("these lines stand {} times: {old:#?}", places.len())) };
    let changed = [&lines[..place], &new, &lines[place + old.len()..]].concat();
    Ok(changed.iter().map(|line| format!("{line}\n")).collect())
}

#[test]
fn a_hunk_goes_where_its_lines_stand_and_nowhere_else() {
    assert_eq!(changed("a\nb\nc\n", " b\n+new\n"), Ok("a\nb\nnew\nc\n".into()));
    assert_eq!(changed("a\nb\nc\n", "-b\n+new\n c\n"), Ok("a\nnew\nc\n".into()));
    for text in ["a\nbb\nc\n", "a\nb\nb\n"] {
        assert!(changed(text, " b\n+new\n").is_err(), "{text:?}");
    }
}
