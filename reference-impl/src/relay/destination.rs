//! Where a request is sent.

use super::origin::Origin;

/// An origin, and the target in the request line there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    pub origin: Origin,
    pub target: String,
}
