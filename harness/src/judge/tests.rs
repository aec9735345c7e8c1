//! The judge against the rules of `CONFORMANCE.md`, by enumeration.

mod absent;
mod every_check;
mod evidence;
mod launches;
mod relays;
mod requirement;
mod table;
mod walls;
