//! What the words of a manifest become in a launch.

use std::collections::BTreeMap;

use watertight_probe::wire;

use super::{Edit, Target, TargetError};

/// What the placeholders of a launch stand for. `{probe}` and `{instance}` stand for several words and stand alone;
/// `{name}` of `values` may stand inside a word.
#[derive(Clone, Debug, Default)]
pub struct Words {
    pub probe: Vec<String>,
    pub values: BTreeMap<&'static str, String>,
    pub with_instance: bool,
}

impl Words {
    /// The text with a value in the place of each placeholder that has one.
    fn fill(&self, text: &str) -> String {
        filled(text, &self.values)
    }
}

impl Target {
    /// Whether a word of its launch, of a mutant's or of bad input has this placeholder.
    pub fn mentions(&self, placeholder: &str) -> bool {
        let edits = self.mutants.values().flat_map(|mutant| &mutant.edits).chain(self.refuses.values());
        let added = edits.flat_map(|edit| &edit.add);
        self.launch.argv.iter().chain(added).any(|word| word.contains(&format!("{{{placeholder}}}")))
    }

    /// The words that print its version, with these values.
    pub fn version_words(&self, values: &BTreeMap<&'static str, String>) -> Vec<String> {
        self.version.iter().map(|word| filled(word, values)).collect()
    }

    /// What of the output of [`Self::version_words`] is shown: its first line, harmless.
    pub fn version_line(output: &[u8]) -> String {
        const LONGEST: usize = 100;
        wire::escape(output.split(|byte| *byte == b'\n').next().unwrap_or_default(), LONGEST)
    }

    /// The launch's words with every placeholder replaced.
    pub fn argv(&self, words: &Words) -> Result<Vec<String>, TargetError> {
        self.expand(&self.launch.argv, words)
    }

    /// The same after an edit.
    pub fn edited_argv(&self, edit: &Edit, words: &Words) -> Result<Vec<String>, TargetError> {
        let mut argv = self.launch.argv.clone();
        edit.apply(&mut argv).map_err(|words| TargetError::Edit { name: self.name.clone(), words })?;
        self.expand(&argv, words)
    }

    /// The environment of the launch, beside the launching user's own.
    pub fn environment(&self, words: &Words) -> Result<Vec<(String, String)>, TargetError> {
        self.environment.iter().map(|(name, value)| Ok((name.clone(), self.word(value, words)?))).collect()
    }

    /// What the launch finds in its directory. Braces that are no placeholder stay: most such files have some.
    pub fn files(&self, words: &Words) -> Vec<(String, String)> {
        let probe = words.probe.iter().map(|word| serde_json::Value::from(word.as_str()).to_string());
        let probe = probe.collect::<Vec<_>>().join(", ");
        let file = |(name, text): (&String, &String)| (name.clone(), words.fill(&text.replace("{probe}", &probe)));
        self.files.iter().map(file).collect()
    }

    fn expand(&self, argv: &[String], words: &Words) -> Result<Vec<String>, TargetError> {
        let mut expanded = vec![];
        for word in argv {
            match word.as_str() {
                "{probe}" => expanded.extend(words.probe.iter().cloned()),
                "{instance}" => {
                    let part = if words.with_instance { &self.launch.instance } else { &self.launch.no_instance };
                    for word in part {
                        expanded.push(self.word(word, words)?);
                    }
                }
                word => expanded.push(self.word(word, words)?),
            }
        }
        Ok(expanded)
    }

    fn word(&self, word: &str, words: &Words) -> Result<String, TargetError> {
        let text = words.fill(word);
        if placeholders(&text).next().is_some() && placeholders(word).next().is_some() {
            return Err(TargetError::Placeholder { name: self.name.clone(), word: word.to_owned() });
        }
        Ok(text)
    }
}

fn filled(text: &str, values: &BTreeMap<&'static str, String>) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

/// Words in braces: a launch may have other braces, of JSON.
fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    let inside = text.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    let named = |name: &&str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    inside.map(|(name, _)| name).filter(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Words {
        Words {
            probe: vec!["/w".into(), "probe".into()],
            values: BTreeMap::from([("workspace", "/home/agent/work".to_owned())]),
            with_instance: true,
        }
    }

    fn target(argv: &str) -> Result<Target, TargetError> {
        let text = format!(
            "name = 'x'\nsummary = 's'\nroute = 'none'\nversion = []\n[launch]\nargv = {argv}\ninstance = ['-i', '{{workspace}}']\n"
        );
        Target::parse("x", &text)
    }

    #[test]
    fn files_of_a_launch_have_its_words_and_keep_other_braces() {
        let text = "name = 'x'\nsummary = 's'\nroute = 'none'\nversion = []\n[launch]\nargv = ['{probe}']\n[environment]\n\
            HERE = '{workspace}/x'\n[files]\n'a/b.json' = '{ \"cwd\": \"{workspace}\", \"args\": [{probe}] }'\n";
        let target = Target::parse("x", text).expect("a manifest");
        let said = r#"{ "cwd": "/home/agent/work", "args": ["/w", "probe"] }"#;
        assert_eq!(target.files(&words()), [("a/b.json".to_owned(), said.to_owned())]);
        let environment = target.environment(&words()).expect("placeholders that exist");
        assert_eq!(environment, [("HERE".to_owned(), "/home/agent/work/x".to_owned())]);
        for path in ["/etc/x", "../x", "", "a/../../x", "./x"] {
            let error = Target::parse("x", &text.replace("a/b.json", path)).expect_err(path);
            assert!(matches!(error, TargetError::OwnFile { .. }), "{path}: {error}");
        }
    }

    #[test]
    fn placeholders_are_replaced_and_unknown_ones_refused() {
        let argv = target("['a', '--x={workspace}', '{instance}', '{probe}']").expect("valid").argv(&words());
        let expected = ["a", "--x=/home/agent/work", "-i", "/home/agent/work", "/w", "probe"];
        assert_eq!(argv.expect("known placeholders"), expected);
        let unknown = target("['{other}', '{probe}']").expect("valid").argv(&words());
        assert!(matches!(unknown, Err(TargetError::Placeholder { .. })));
        assert!(matches!(target("['a']"), Err(TargetError::NoProbe { .. })));
    }

    #[test]
    fn an_edit_replaces_or_inserts_words_and_refuses_those_that_are_not_there() {
        let target = target("['a', '--net', 'none', '{probe}']").expect("valid");
        let edit = |remove: &[&str], add: &[&str], before: Option<&str>| Edit {
            remove: remove.iter().map(|word| (*word).to_owned()).collect(),
            add: add.iter().map(|word| (*word).to_owned()).collect(),
            before: before.map(str::to_owned),
        };
        let replaced = target.edited_argv(&edit(&["--net", "none"], &["--net", "host"], None), &words());
        assert_eq!(replaced.expect("there"), ["a", "--net", "host", "/w", "probe"]);
        let inserted = target.edited_argv(&edit(&[], &["-v"], Some("--net")), &words());
        assert_eq!(inserted.expect("there"), ["a", "-v", "--net", "none", "/w", "probe"]);
        let missing = target.edited_argv(&edit(&["none", "--net"], &[], None), &words());
        assert!(matches!(missing, Err(TargetError::Edit { .. })));
    }
}
