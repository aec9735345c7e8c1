//! What the line says of documents that show results.

use std::path::PathBuf;

use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use watertight_reports::render::Format;

/// Which results a document is made of, and where it goes.
#[derive(Debug, Args)]
pub struct Document {
    /// A bundle, or what `watertight check --format json` printed; `-` is standard input.
    #[arg(value_name = "RESULTS")]
    pub results: PathBuf,
    /// Of several targets, only this one.
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// Write to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Render {
    #[command(flatten)]
    pub document: Document,
    /// How they are shown.
    #[arg(long, value_parser = format_parser(), default_value = "text")]
    pub format: Format,
    /// What `watertight selftest --json` printed: mutants are then shown with what became of them.
    #[arg(long, value_name = "FILE")]
    pub selftest: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Badge {
    #[command(flatten)]
    pub document: Document,
    /// Print what a shields.io endpoint answers instead of an image.
    #[arg(long)]
    pub json: bool,
}

/// A format by its name.
pub(super) fn format_parser() -> impl TypedValueParser<Value = Format> {
    let values = Format::ALL.map(|format| PossibleValue::new(format.name()).help(format.about()));
    PossibleValuesParser::new(values).try_map(|name| Format::named(&name).ok_or("no such format"))
}

/// `junit=results.xml`.
pub(super) fn report(text: &str) -> Result<(Format, PathBuf), String> {
    let (name, file) = text.split_once('=').ok_or("it has the form FORMAT=FILE, such as html=report.html")?;
    let names = || Format::ALL.map(Format::name).join(", ");
    let format = Format::named(name).ok_or_else(|| format!("there is no format {name:?}; there are: {}", names()))?;
    if file.is_empty() {
        return Err("the name of the file is missing behind `=`".into());
    }
    Ok((format, file.into()))
}
