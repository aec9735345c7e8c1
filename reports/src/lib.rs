//! What a run found, and how it is shown: the evidence, the results, and the reports made from them.

pub mod evidence;
pub mod results;
