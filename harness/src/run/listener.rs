//! Who is told of a run while it goes on.

use std::sync::mpsc::Sender;

use watertight_reports::evidence::Launch;

/// Is told what a run brings as it comes, from any thread.
pub trait Listener: Sync {
    /// This is being done now, in a few words.
    fn stage(&self, stage: &str);
    /// This launch has ended. What was seen outside of it is known at the end of the run only.
    fn launch(&self, launch: &Launch);
}

/// Hears of launches at once, and of stages when those of the others are over.
pub(super) struct Later<'a> {
    pub listener: &'a dyn Listener,
    pub tell: Sender<String>,
}

impl Listener for Later<'_> {
    fn stage(&self, stage: &str) {
        // Nobody listens any more when the other launches could not be made.
        let _ = self.tell.send(stage.to_owned());
    }

    fn launch(&self, launch: &Launch) {
        self.listener.launch(launch);
    }
}

/// Listens to nothing.
pub struct Nobody;

impl Listener for Nobody {
    fn stage(&self, _: &str) {}
    fn launch(&self, _: &Launch) {}
}
