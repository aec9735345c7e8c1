//! The text of the manifest.

use super::{How, Sandbox};
use crate::target::Target;

/// The adapter to begin with: one that works.
pub const ADAPTER: &str = include_str!("../../../../targets/bubblewrap-exec.py");
/// The manifest that this adapter comes from.
const EXAMPLE: &str = "bubblewrap-exec";

/// The sandbox's own words, between our relays and our bridge where it is to have routes; or its adapter, which is `file`.
pub fn text(sandbox: &Sandbox, file: Option<&str>) -> Result<String, String> {
    let mut text = head(sandbox);
    match &sandbox.how {
        How::Words(words) => text.push_str(&launch(words, sandbox.routes)),
        How::Adapter => text.push_str(&adapter(file.unwrap_or_default())?),
    }
    text.push_str(&refuses(sandbox));
    let open = if sandbox.how == How::Adapter { "--unshare-net" } else { "--no-network" };
    text.push_str(&format!(
        "\n# Edits that open it, each with the checks that must catch it: `watertight check --with-mutants`.\n\
         # [mutants.share-network]\n# sentence = \"The host's network is shared.\"\n\
         # edits = [{{ remove = [\"{open}\"] }}]\n# caught_by = [\"EGRESS-1\"]\n"
    ));
    Ok(text)
}

fn refuses(sandbox: &Sandbox) -> String {
    let mut edits = String::new();
    if sandbox.routes {
        edits.push_str("[refuses.no-provider]\nremove = [\"--provider\", \"{provider_url}\"]\n");
    }
    if let How::Words(words) = &sandbox.how
        && let Some(program) = words.first().map(|word| quoted(word))
    {
        edits.push_str(&format!(
            "[refuses.unknown-option]\nremove = [{program}]\nadd = [{program}, \"--no-such-option\"]\n"
        ));
    }
    if edits.is_empty() {
        return edits;
    }
    format!("\n# What it must refuse, each as an edit of the words that start it.\n{edits}")
}

fn head(sandbox: &Sandbox) -> String {
    let Sandbox { name, how, routes } = sandbox;
    let route = if *routes { "sockets" } else { "none" };
    let by = match how {
        How::Words(words) => format!("as {} starts it", words.first().map_or("", String::as_str)),
        How::Adapter => "as its adapter starts it".into(),
    };
    let mut text = format!(
        "name = {}\nsummary = {}\n\
         # `sockets`: our relays' sockets are shown to it and the bridge turns them into ports. `none`: it has no network at all.\n\
         route = \"{route}\"\n",
        quoted(name),
        quoted(&format!("{name}, {by}.")),
    );
    if let How::Words(words) = how {
        let program = quoted(words.first().map_or("", String::as_str));
        text.push_str(&format!("version = [{program}, \"--version\"]\n"));
    }
    if *routes {
        text.push_str(
            "# Where the workload finds what it shows to the provider's relay.\nbearer_variable = \"OPENAI_API_KEY\"\n",
        );
    } else {
        text.push_str("\n[absent]\nprovider = \"It has no network.\"\ninstance = \"It has no network.\"\n");
    }
    text
}

fn launch(command: &[String], routes: bool) -> String {
    let program = command.first().map_or("", String::as_str);
    let mut text = String::new();
    if !program.contains('/') && !program.is_empty() {
        text.push_str(&programs(&[(program, program)]));
    }
    text.push_str("\n[launch]\n# {probe} stands for the command to run, {workspace} for the directory that it may write.\nargv = [\n");
    if routes {
        text.push_str(&format!(
            "    \"{{watertight}}\", \"relay\", \"--provider\", \"{{provider_url}}\", \"--provider-key-file\", \"{{key_file}}\", \
             \"{{instance}}\",\n    \"--sockets\", \"{{sockets}}\", \"--\",\n    # The sandbox must show {{sockets}} and {{watertight}} at \
             the same paths.\n    {},\n    \"{{watertight}}\", \"bridge\", \"--sockets\", \"{{sockets}}\", \"--\", \"{{probe}}\",\n]\n\
             instance = [\"--instance\", \"{{instance_url}}\"]\n",
            words(command)
        ));
    } else {
        text.push_str(&format!("    {},\n    \"{{probe}}\",\n]\n", words(command)));
    }
    text
}

/// That of the example, with its own file.
fn adapter(file: &str) -> Result<String, String> {
    let example = Target::load(EXAMPLE).map_err(|error| error.to_string())?;
    let programs = example.programs.iter().map(|(program, package)| (program.as_str(), package.as_str()));
    let argv = example.adapter.map(|adapter| adapter.argv).unwrap_or_default();
    Ok(format!(
        "{}\n# What starts it: docs/ADAPTERS.md. {{adapter}} is the file, which lies beside this one.\n[adapter]\nfile = {}\n\
         argv = [{}]\n# Variables that the workload must have beside those of the routes.\nenvironment = []\n",
        self::programs(&programs.collect::<Vec<_>>()),
        quoted(file),
        words(&argv),
    ))
}

fn programs(programs: &[(&str, &str)]) -> String {
    let mut text =
        "\n# Programs that must be there, each with the Debian package that has it.\n[programs]\n".to_owned();
    for (program, package) in programs {
        text.push_str(&format!("{} = {}\n", quoted(program), quoted(package)));
    }
    text
}

fn words(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", ")
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        scenario::BadInput,
        target::{Route, Words},
    };

    fn sandbox(words: &[&str], routes: bool) -> Sandbox {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let how = if words.is_empty() { How::Adapter } else { How::Words(words) };
        Sandbox { name: "mine".into(), how, routes }
    }

    fn target(sandbox: &Sandbox) -> Target {
        Target::parse("mine", &text(sandbox, Some("mine.py")).expect("a text")).expect("a manifest")
    }

    #[test]
    fn what_is_written_is_a_manifest_of_those_words() {
        let target = target(&sandbox(&["box", "--bind", "{workspace}", "it's \"so\"\\", "--"], true));
        let argv = &target.launch.argv;
        let at = argv.iter().position(|word| word == "box").expect("there");
        assert_eq!(argv[at..at + 5], ["box", "--bind", "{workspace}", "it's \"so\"\\", "--"]);
        assert_eq!((target.route, target.programs.len(), target.refuses.len()), (Route::Sockets, 1, 2));
        assert_eq!(argv.last().map(String::as_str), Some("{probe}"));
    }

    #[test]
    fn without_routes_there_is_nothing_but_the_words() {
        let target = target(&sandbox(&["/opt/box", "run"], false));
        assert_eq!(target.launch.argv, ["/opt/box", "run", "{probe}"]);
        assert_eq!((target.route, target.absent.len(), target.programs.len()), (Route::None, 2, 0));
        let refused = target.edited_argv(&target.refuses[&BadInput::UnknownOption], &Words::default());
        assert_eq!(refused.expect("an edit")[..3], ["/opt/box", "--no-such-option", "run"]);
    }

    #[test]
    fn an_adapter_to_begin_with_is_the_example_under_a_name_of_its_own() {
        for routes in [true, false] {
            let target = target(&sandbox(&[], routes));
            let (adapter, example) = (target.adapter.expect("one"), Target::load(EXAMPLE).expect("a manifest"));
            assert_eq!((adapter.file.as_deref(), adapter.argv), (Some("mine.py"), example.adapter.expect("one").argv));
            assert_eq!((target.route == Route::Sockets, target.programs), (routes, example.programs));
        }
    }
}
