//! The tamper corpus: every way in which evidence is known to lie, and the code that must refuse it.

mod checks;
mod context;
mod envelope;
mod files;
mod keys;
mod log;
mod matrix;
mod payload;
mod statement;

use watertight_reports::verify::code::Code;

use crate::{draft::Draft, scene::Scene};

/// Who presents the lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Someone without a trusted key changed what was signed, or put it together anew.
    Attacker,
    /// The holder of a trusted key signed it.
    Signer,
    /// Nobody changed anything: it is shown to the wrong verifier.
    Context,
}

/// What becomes of a case when the refusal that is meant for it is out of action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Without {
    /// It is accepted: nothing else stands in its way.
    Accepted,
    /// The second line of defence.
    Then(Code),
    /// The refusal cannot be left out, since nothing is left to go on with; the reason.
    Structural(&'static str),
}

/// One lie.
pub struct Case {
    pub name: &'static str,
    pub by: By,
    pub code: Code,
    /// What was done, in a sentence.
    pub about: &'static str,
    pub without: Without,
    change: Box<dyn Fn(&mut Scene) + Send + Sync>,
}

/// A lie told by changing what is there, or by choosing whom to show it.
fn case(
    by: By,
    name: &'static str,
    code: Code,
    about: &'static str,
    change: impl Fn(&mut Scene) + Send + Sync + 'static,
) -> Case {
    Case { name, by, code, about, without: Without::Accepted, change: Box::new(change) }
}

/// A lie whose every part fits, signed with the trusted key. Whoever has that key writes to the log as well, so that the
/// log is not asked: it would only hide what else stands in the way.
fn signed(
    name: &'static str,
    code: Code,
    about: &'static str,
    edit: impl Fn(&mut Draft) + Send + Sync + 'static,
) -> Case {
    case(By::Signer, name, code, about, move |scene| {
        scene.dishonest(&edit);
        scene.unlogged();
    })
}

impl Case {
    fn then(self, code: Code) -> Self {
        Self { without: Without::Then(code), ..self }
    }

    /// The same with another code.
    fn code(self, code: Code) -> Self {
        Self { code, ..self }
    }

    fn structural(self, reason: &'static str) -> Self {
        Self { without: Without::Structural(reason), ..self }
    }

    pub fn scene(&self) -> Scene {
        let mut scene = Scene::honest();
        (self.change)(&mut scene);
        scene
    }
}

/// What no parser can go on without.
const UNREADABLE: &str = "nothing was read that could be gone on with";
/// What is not in memory cannot be verified.
const UNREAD: &str = "the bytes are not in memory";

pub fn all() -> Vec<Case> {
    [
        envelope::cases(),
        statement::cases(),
        keys::cases(),
        context::cases(),
        files::cases(),
        payload::cases(),
        checks::cases(),
        matrix::cases(),
        log::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
