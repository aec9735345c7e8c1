//! Attempts on the network: each succeeds where nothing confines it, and is refused where something does.
crate::trials! {}
