//! The defences of the reference by name. The launcher, the bridge and the relays are generic over [`Guards`].

mod launch;
mod relay;

pub use launch::{CapSets, Comparison, Families, LaunchGuards, Namespaces};
pub use relay::{AllUp, RelayGuards};

/// Every defence. `watertight` instantiates [`AllUp`] alone; wrong variants live in a program of their own.
pub trait Guards: LaunchGuards + RelayGuards {}

impl LaunchGuards for AllUp {}
impl Guards for AllUp {}
