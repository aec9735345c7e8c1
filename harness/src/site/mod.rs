//! The site of one run: the world, its fixtures, and what is planted in it.

pub mod address;
