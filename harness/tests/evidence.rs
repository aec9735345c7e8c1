//! The verifier before evidence that lies: each lie is refused by its code, each honest bundle is accepted, and each refusal
//! is taken out of action once.
//!
//! `--write DIR` writes the corpus for other verifiers instead: see `scripts/corpus`.

#[path = "evidence/cases/mod.rs"]
mod cases;
#[path = "evidence/controls.rs"]
mod controls;
#[path = "evidence/corpus.rs"]
mod corpus;
#[path = "evidence/draft.rs"]
mod draft;
#[path = "evidence/honest.rs"]
mod honest;
#[path = "evidence/hostile.rs"]
mod hostile;
#[path = "evidence/refusals.rs"]
mod refusals;
#[path = "evidence/scene.rs"]
mod scene;

use std::{path::Path, process::ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    if let (Some(option), Some(directory)) = (words.next(), words.next())
        && option == "--write"
    {
        corpus::write(Path::new(&directory));
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::from_args();
    if !arguments.list {
        // Before anything else wants the processors.
        honest::Honest::get();
    }
    let trials =
        [refusals::trials(), controls::trials(), hostile::trials(), corpus::trials()].into_iter().flatten().collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(name: impl Into<String>, body: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
    Trial::test(name, move || body().map_err(Failed::from))
}
