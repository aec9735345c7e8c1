//! ROUTE: the declared routes work, as declared, and there is no other.

pub(crate) mod body;
mod events_are_not_held_back;
mod half_close_keeps_response;
mod instance_is_transparent;
mod mcp_composes;
mod no_instance_no_port;
mod no_other_port;
mod provider_answers_once;

use crate::check::Check;

pub static CHECKS: &[&Check] = &[
    &provider_answers_once::CHECK,
    &instance_is_transparent::CHECK,
    &mcp_composes::CHECK,
    &no_instance_no_port::CHECK,
    &no_other_port::CHECK,
    &events_are_not_held_back::CHECK,
    &half_close_keeps_response::CHECK,
];
