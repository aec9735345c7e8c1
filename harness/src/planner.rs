//! The planner: turns checks into the attempts of one launch, each with a destination that no other attempt has.

mod allocator;
mod attempts;
mod layout;
mod places;

use std::net::SocketAddr;

use watertight_probe::{
    nonce::{Nonce, RunNonce},
    plan::{Attempt, Authority, Endpoint},
};
use watertight_reports::evidence::LaunchKind;

use crate::{
    check::{Capability, Check, Item},
    judge::is_control,
    way::by,
};
pub use allocator::{Allocator, Wanted};
use attempts::relay;
pub use attempts::{INSTANCE_PORT, PROVIDER_PORT, datagram, exchange, instance, permitted, provider, stream, tcp, udp};
pub use layout::{Layout, instance_authority};

/// How long an attempt through a proxy may take: it may look for the name first.
const PROXY_MILLIS: u32 = 5_000;

/// What an attempt's id gets behind it for [`Planner::side_nonce`].
pub const SIDE: &str = "+side";

/// Collects the attempts of one check for one launch.
pub struct Planner<'a> {
    pub layout: &'a Layout,
    launch: &'a str,
    kind: LaunchKind,
    run: &'a RunNonce,
    slug: &'static str,
    allocator: &'a mut Allocator,
    items: Vec<Item>,
}

impl<'a> Planner<'a> {
    /// The items of `check` in a launch of this kind.
    pub fn plan(
        check: &Check,
        launch: &'a str,
        kind: LaunchKind,
        layout: &'a Layout,
        run: &'a RunNonce,
        allocator: &'a mut Allocator,
    ) -> Vec<Item> {
        let mut planner = Self { layout, launch, kind, run, slug: check.slug, allocator, items: vec![] };
        let waived = !check.waived_by.is_empty() && check.waived_by.iter().all(|one| layout.absent.contains(one));
        if waived {
            planner.try_absent(check.waived_by);
        } else if check.of_relays && layout.absent.contains(&Capability::Relay) {
            planner.try_absent(Capability::ROUTES);
        } else {
            (check.plan)(&mut planner);
        }
        planner.items
    }

    /// An attempt that must be denied, with the same attempt unconfined before and after as its control.
    pub fn deny(&mut self, name: impl Into<String>, attempt: Attempt) -> &mut Item {
        self.add(name, attempt, &[LaunchKind::ControlBefore, LaunchKind::Target, LaunchKind::ControlAfter])
    }

    /// An attempt whose findings the check's rule judges.
    pub fn ask(&mut self, name: impl Into<String>, attempt: Attempt) -> &mut Item {
        self.add(name, attempt, &[LaunchKind::Target])
    }

    /// Tries what is declared absent, which must not work.
    fn try_absent(&mut self, routes: &[Capability]) {
        for route in routes {
            let name = format!("absent-{}", route.name());
            let steps = permitted(*route).mode(self.nonce(&name), "plain").exchange();
            self.ask(name, exchange(relay(*route), steps));
        }
    }

    /// The same through each kind of use of the target's own proxy, where it brings one: what it must refuse. Its control is
    /// a connection to the same place without a sandbox.
    pub fn deny_by_proxy(&mut self, name: &str, mut to: impl FnMut(&mut Self) -> (Authority, SocketAddr)) {
        for proxy in self.layout.way.proxies() {
            let name = format!("{name}-by-{}", by(proxy.by));
            let (to, unconfined) = to(self);
            let attempt = if is_control(self.kind) { tcp(unconfined) } else { Attempt::Proxied { proxy, to } };
            self.deny(name, attempt).deadline(PROXY_MILLIS);
        }
    }

    /// [`Self::deny_by_proxy`] of an address.
    pub fn deny_address_by_proxy(&mut self, name: &str, mut to: impl FnMut(&mut Self) -> SocketAddr) {
        self.deny_by_proxy(name, |plan| {
            let to = to(plan);
            (to.into(), to)
        });
    }

    /// Where the workload finds this route.
    pub fn endpoint(&self, route: Capability) -> Endpoint {
        self.layout.endpoint(route)
    }

    /// The routes that the target has, in a fixed order.
    pub fn routes(&self) -> Vec<Capability> {
        let absent = &self.layout.absent;
        Capability::ROUTES.iter().copied().filter(|route| !absent.contains(route)).collect()
    }

    /// An attempt that cannot be made here at all, and why: named in the report, never a pass.
    pub fn untestable(&mut self, name: &str, reason: &str) {
        let attempt = Attempt::Privileges;
        self.add(name, attempt, &[LaunchKind::Target]).where_supported().untestable = Some(reason.to_owned());
    }

    #[expect(clippy::expect_used, reason = "an item was pushed in the line before")]
    fn add(&mut self, name: impl Into<String>, attempt: Attempt, launches: &[LaunchKind]) -> &mut Item {
        self.items.push(Item::new(name, attempt, launches));
        self.items.last_mut().expect("just pushed")
    }

    /// The nonce of this check's attempt `name` in this launch.
    pub fn nonce(&self, name: &str) -> Nonce {
        self.run.attempt(self.launch, &format!("{}/{name}", self.slug))
    }

    /// The nonce of requests that the same attempt makes only to wait for a fixture: they count for no attempt.
    pub fn side_nonce(&self, name: &str) -> Nonce {
        self.nonce(&format!("{name}{SIDE}"))
    }

    pub fn kind(&self) -> LaunchKind {
        self.kind
    }

    /// As [`Self::deny`] for what the world's root alone may do, where it may: elsewhere it is untestable.
    pub fn deny_granted(&mut self, name: &str, attempt: Attempt) {
        if self.layout.granted.iter().any(|one| one == name) {
            self.deny(name, attempt).as_root().where_supported();
        } else {
            self.untestable(name, "the world's root does not get it here");
        }
    }
}
