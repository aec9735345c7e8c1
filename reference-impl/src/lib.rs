//! The reference sandbox: what the suite's requirements look like when every one of them is met.

pub mod guards;
pub mod relay;
