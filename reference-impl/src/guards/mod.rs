//! The defences of the reference by name. The launcher, the bridge and the relays are generic over [`Guards`].

mod launch;

pub use launch::{CapSets, Comparison, LaunchGuards, Namespaces};

/// Every defence. `watertight` instantiates [`AllUp`] alone; wrong variants live in a program of their own.
pub trait Guards: LaunchGuards {}

/// Every defence up.
pub struct AllUp;

impl LaunchGuards for AllUp {}
impl Guards for AllUp {}
