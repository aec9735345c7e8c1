//! ROUTE-3: an MCP server inside lists the tools that it lists outside, and two calls of it reach the instance, once each.
//!
//! Listing alone proves nothing: it needs no network (catalogue A11). The refusals of EGRESS are in the same launch.

use watertight_probe::{plan::Attempt, sighting::Event};
use watertight_reports::results::{ControlKind, Subject};

use crate::{
    case::Case,
    check::{Capability, Check},
    planner::{INSTANCE_PORT, Planner},
};

pub static CHECK: Check = Check::facts("ROUTE-3", "route::mcp_composes", ControlKind::KnownPositive, plan, judge)
    .about(Subject::Relay)
    .waived_by(&[Capability::Instance])
    .of_relays()
    .caught_on(&["send-twice"]);

fn plan(plan: &mut Planner<'_>) {
    let instance = format!("http://127.0.0.1:{INSTANCE_PORT}");
    plan.ask("session", Attempt::Mcp { instance }).deadline(10_000);
}

fn judge(case: &mut Case<'_>) {
    let (tools, calls) = case.mcp("session");
    let mut outside: Vec<&str> = watertight_fixtures::mcp::tool_names().collect();
    outside.sort_unstable();
    case.require(tools == outside, format!("{} tools are listed inside, {} outside", tools.len(), outside.len()));
    let good = calls.iter().filter(|call| !call.is_error).count();
    case.require(calls.len() == 2 && good == 2, format!("{good} of {} calls succeeded", calls.len()));
    let hits: Vec<&str> = case
        .requests("session", "instance")
        .iter()
        .filter_map(|one| match &one.event {
            Event::Request { target, .. } => Some(target.as_str()),
            _ => None,
        })
        .collect();
    case.require(hits.len() == 2, format!("the instance got {hits:?}"));
}
