//! Every defence of the reference, left out or done wrongly by the mutants that are about it.
//!
//! Each line asks which mutant this is at the moment that the defence would act; all other defences stay as they are.

mod launch;
mod relay;

use watertight_reference::guards::Guards;

/// The guards of the mutant that this process is.
pub struct Mutant;

impl Guards for Mutant {}
