//! Parts of a run, for broken targets that are judged with the same controls.

use std::{
    collections::BTreeSet,
    sync::{Condvar, Mutex, PoisonError},
    thread,
    time::Duration,
};

use watertight_reports::evidence::{Evidence, Launch, LaunchKind};

use super::{
    attribute::BEGAN_AT,
    listener::Nobody,
    session::{Options, Ran, RunError, Session},
};
use crate::{
    check::Check,
    scenario::Scenario,
    site::{Secrets, SiteError},
    target::Target,
};

/// How long a broken target may take to start the probe: its like has just been seen to do so in a fraction of that. One
/// that only pretends to be a sandbox is waited for as long.
const START: Duration = Duration::from_secs(8);
/// Destinations that the controls of a selftest have, at most.
const BEFORE: u32 = 4_000;

/// Worlds beside those of the mutants themselves at once, however many mutants there are: an ordinary user may have 200
/// keys, of which a launch takes three, and the kernel makes and ends networks one after the other.
const BESIDE: usize = 12;
/// The same as the machine's root, who may have a million keys.
const BESIDE_AS_ROOT: usize = 32;

static TURNS: Turns = Turns { taken: Mutex::new(0), ended: Condvar::new() };

impl<'a> Session<'a> {
    /// The controls alone. Every broken target that is launched with the same secrets can be judged with them.
    pub fn controls_alone(
        target: &'a Target,
        checks: &'a [&'static Check],
        options: &'a Options,
        secrets: Secrets,
    ) -> Result<Ran, RunError> {
        let mut session = Session::new(target, checks, options, secrets.clone(), &Nobody)?;
        session.controls("before", LaunchKind::ControlBefore, LaunchKind::RootBefore)?;
        session.controls("after", LaunchKind::ControlAfter, LaunchKind::RootAfter)?;
        let layout = session.layout.clone();
        Ok(Ran { evidence: session.finish()?, layout, version: String::new(), secrets })
    }

    /// What `target` does with the attempts of `checks`, without a control: nothing is judged by it.
    pub fn uncontrolled(
        target: &'a Target,
        checks: &'a [&'static Check],
        options: &'a Options,
    ) -> Result<Evidence, RunError> {
        let secrets = Secrets::new(options.salt, &options.challenge).map_err(SiteError::Random)?;
        let mut session = Session::new(target, checks, options, secrets, &Nobody)?;
        session.only_needed = true;
        session.main()?;
        session.scenarios(&checks.iter().flat_map(|check| check.scenarios).copied().collect())?;
        session.finish()
    }

    /// The target's launches alone, one after the other in one world, and of them only those that `checks` ask for.
    ///
    /// Where something may be left of those that `fail` ask for, each waits for that in a world of its own.
    /// `controls` are joined in: what their attempts share with these says nothing of either.
    pub fn target_alone(
        target: &'a Target,
        checks: &'a [&'static Check],
        fail: &[&'static Check],
        options: &'a Options,
        secrets: Secrets,
        controls: &Evidence,
    ) -> Result<Evidence, RunError> {
        let mut session = Session::new(target, checks, options, secrets.clone(), &Nobody)?;
        session.only_needed = true;
        // Those that something may be left of are not launched here.
        session.few_kills = true;
        session.site.start = START;
        session.allocator.leave_out(BEFORE);
        session.launches = controls.launches.iter().map(elsewhere).collect();
        let scenarios_of = |checks: &[&Check]| -> BTreeSet<Scenario> {
            checks.iter().flat_map(|check| check.scenarios).copied().collect()
        };
        let waits = scenarios_of(fail);
        let beside = if session.site.world.is_roots() { BESIDE_AS_ROOT } else { BESIDE };
        let (apart, together): (BTreeSet<_>, BTreeSet<_>) =
            scenarios_of(checks).into_iter().partition(|one| one.settles() && waits.contains(one));
        let mut evidence = thread::scope(|scope| {
            let apart: Vec<_> = apart
                .into_iter()
                .map(|scenario| {
                    let secrets = secrets.apart(&scenario.id());
                    let alone = move || {
                        let _turn = TURNS.take(beside);
                        Self::scenario_alone(target, checks, options, secrets, scenario)
                    };
                    thread::Builder::new().spawn_scoped(scope, alone).map_err(RunError::Thread)
                })
                .collect();
            session.main()?;
            session.scenarios(&together)?;
            let mut evidence = session.finish()?;
            evidence.launches.drain(..controls.launches.len());
            for scenario in apart {
                let ended = scenario?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                evidence.join(ended?);
            }
            Ok::<_, RunError>(evidence)
        })?;
        evidence.join(controls.clone());
        Ok(evidence)
    }

    fn scenario_alone(
        target: &'a Target,
        checks: &'a [&'static Check],
        options: &'a Options,
        secrets: Secrets,
        scenario: Scenario,
    ) -> Result<Evidence, RunError> {
        let mut session = Session::new(target, checks, options, secrets, &Nobody)?;
        session.site.start = START;
        session.scenarios(&[scenario].into())?;
        session.finish()
    }
}

/// Turns that are taken, each by one at a time.
struct Turns {
    taken: Mutex<usize>,
    ended: Condvar,
}

/// A turn that is taken. Dropped, it has ended.
struct Turn<'a>(&'a Turns);

impl Turns {
    /// Waits until fewer than so many are taken.
    fn take(&self, at_most: usize) -> Turn<'_> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |taken: &mut usize| *taken >= at_most;
        let mut taken = self.ended.wait_while(taken, full).unwrap_or_else(PoisonError::into_inner);
        *taken += 1;
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.ended.notify_one();
    }
}

/// A launch of another world: it has destinations, and no time in this one.
fn elsewhere(launch: &Launch) -> Launch {
    let mut launch = launch.clone();
    launch.outside.remove(BEGAN_AT);
    launch
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn no_more_have_a_turn_at_once_than_there_are() {
        let turns = Turns { taken: Mutex::new(0), ended: Condvar::new() };
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| {
                    let _turn = turns.take(3);
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    thread::yield_now();
                    now.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert!((1..=3).contains(&most.into_inner()));
        assert_eq!(turns.taken.into_inner().expect("no panic"), 0, "every turn came back");
    }
}
