//! The judge against the rules of `CONFORMANCE.md`, by enumeration.

mod absent;
mod arbitrary;
mod cases;
mod every_check;
mod evidence;
mod launches;
mod properties;
mod relays;
mod requirement;
mod table;
mod unseen;
mod walls;
