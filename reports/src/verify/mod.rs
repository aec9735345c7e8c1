//! Verification of evidence: the codes that name what is wrong with it.

pub mod code;
