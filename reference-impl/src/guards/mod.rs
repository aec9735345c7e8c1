//! Every defence of the reference as a named question, so that later a type can answer one of them wrongly.

mod relay;

pub use relay::{AllUp, RelayGuards};
