//! Hostile surroundings.
crate::trials! {}
