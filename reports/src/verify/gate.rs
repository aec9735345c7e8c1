//! The one place where evidence is refused, so that the verifier's own tests can take one refusal out at a time.

use std::fmt;

use super::code::Code;

/// Why evidence is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    pub code: Code,
    /// What was found, in words. It may quote the evidence, sanitised.
    pub message: String,
}

/// Which refusals a verifier makes. The program has [`Strict`] alone.
pub trait Strictness {
    fn refuses(&self, code: Code) -> bool;
}

/// Makes every refusal.
#[derive(Clone, Copy, Debug)]
pub struct Strict;

impl Strictness for Strict {
    fn refuses(&self, _: Code) -> bool {
        true
    }
}

impl Rejection {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.code, self.message)
    }
}

/// Refuses with this code where `holds` is false.
pub fn require(
    strictness: &impl Strictness,
    holds: bool,
    code: Code,
    message: impl FnOnce() -> String,
) -> Result<(), Rejection> {
    if holds || !strictness.refuses(code) { Ok(()) } else { Err(Rejection::new(code, message())) }
}

/// Refuses with this code, unless that refusal is out of action.
pub fn refuse(strictness: &impl Strictness, code: Code, message: impl Into<String>) -> Result<(), Rejection> {
    require(strictness, false, code, || message.into())
}
