//! AUTH: who may use the provider's route, and where its key is.

mod bearer_stays_inside;
mod key_stays_outside;
mod other_spawn;
mod wrong_bearers;

use crate::check::Check;

pub static CHECKS: &[&Check] =
    &[&wrong_bearers::CHECK, &other_spawn::CHECK, &key_stays_outside::CHECK, &bearer_stays_inside::CHECK];
