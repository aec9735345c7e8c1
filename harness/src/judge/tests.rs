//! The judge against the rules of `CONFORMANCE.md`, by enumeration.

mod every_check;
mod evidence;
mod requirement;
mod table;
