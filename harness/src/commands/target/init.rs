//! `watertight target init`: a manifest to begin with, made of what the command line says.

use std::{fs::OpenOptions, io::Write, process::ExitCode};

use super::super::{USAGE, line::Init, refuse, show};
use crate::target::Target;

pub fn run(options: &Init) -> ExitCode {
    let text = manifest(options);
    // What does not read back is not written.
    if let Err(error) = Target::parse(&options.name, &text) {
        return refuse(&error, USAGE);
    }
    let path = options.file.clone().unwrap_or_else(|| format!("{}.toml", options.name).into());
    let written = OpenOptions::new().write(true).create_new(true).open(&path);
    let written = written.and_then(|mut file| file.write_all(text.as_bytes()));
    if let Err(error) = written {
        return refuse(&format!("cannot write {}: {error}", path.display()), USAGE);
    }
    let shown = path.display();
    let argument = if shown.to_string().contains('/') { shown.to_string() } else { format!("./{shown}") };
    show(&format!("wrote {shown}\nnext: watertight target smoke {argument}\n"), 0)
}

/// The sandbox's own words, between our relays and our bridge where it is to have routes.
fn manifest(options: &Init) -> String {
    let Init { name, command, no_routes, .. } = options;
    let program = command.first().map_or("", String::as_str);
    let route = if *no_routes { "none" } else { "sockets" };
    let mut text = format!(
        "name = {name}\nsummary = {summary}\n\
         # `sockets`: our relays' sockets are shown to it and the bridge turns them into ports. `none`: it has no network at all.\n\
         route = \"{route}\"\nversion = [{program}, \"--version\"]\n",
        name = quoted(name),
        summary = quoted(&format!("{name}, as {program} starts it.")),
        program = quoted(program),
    );
    if *no_routes {
        text.push_str("\n[absent]\nprovider = \"It has no network.\"\ninstance = \"It has no network.\"\n");
    } else {
        text.push_str(
            "# Where the workload finds what it shows to the provider's relay.\nbearer_variable = \"OPENAI_API_KEY\"\n",
        );
    }
    if !program.contains('/') && !program.is_empty() {
        text.push_str(&format!(
            "\n# Programs that must be there, each with the Debian package that has it.\n[programs]\n{} = {}\n",
            quoted(program),
            quoted(program)
        ));
    }
    let words = |words: &[String]| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", ");
    text.push_str("\n[launch]\n# {probe} stands for the command to run, {workspace} for the directory that it may write.\nargv = [\n");
    if *no_routes {
        text.push_str(&format!("    {},\n    \"{{probe}}\",\n]\n", words(command)));
    } else {
        text.push_str(&format!(
            "    \"{{watertight}}\", \"relay\", \"--provider\", \"{{provider_url}}\", \"--provider-key-file\", \"{{key_file}}\", \
             \"{{instance}}\",\n    \"--sockets\", \"{{sockets}}\", \"--\",\n    # The sandbox must show {{sockets}} and {{watertight}} at \
             the same paths.\n    {},\n    \"{{watertight}}\", \"bridge\", \"--sockets\", \"{{sockets}}\", \"--\", \"{{probe}}\",\n]\n\
             instance = [\"--instance\", \"{{instance_url}}\"]\n",
            words(command)
        ));
    }
    text.push_str(
        "\n# Edits that open it, each with the checks that must catch it: `watertight check --with-mutants`.\n\
         # [mutants.share-network]\n# sentence = \"The host's network is shared.\"\n\
         # edits = [{ remove = [\"--no-network\"] }]\n# caught_by = [\"EGRESS-1\"]\n",
    );
    text
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Route;

    fn init(words: &[&str], no_routes: bool) -> Init {
        Init {
            name: "mine".into(),
            command: words.iter().map(|word| (*word).to_owned()).collect(),
            no_routes,
            file: None,
        }
    }

    #[test]
    fn what_is_written_is_a_manifest_of_those_words() {
        let text = manifest(&init(&["box", "--bind", "{workspace}", "it's \"so\"\\", "--"], false));
        let target = Target::parse("mine", &text).expect("a manifest");
        let argv = &target.launch.argv;
        let at = argv.iter().position(|word| word == "box").expect("there");
        assert_eq!(argv[at..at + 5], ["box", "--bind", "{workspace}", "it's \"so\"\\", "--"]);
        assert_eq!((target.route, target.programs.len()), (Route::Sockets, 1));
        assert_eq!(argv.last().map(String::as_str), Some("{probe}"));
        let text = manifest(&init(&["/opt/box", "run"], true));
        let target = Target::parse("mine", &text).expect("a manifest");
        assert_eq!(target.launch.argv, ["/opt/box", "run", "{probe}"]);
        assert_eq!((target.route, target.absent.len(), target.programs.len()), (Route::None, 2, 0));
    }
}
