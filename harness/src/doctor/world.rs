//! A whole world, really brought up and down: what no single attempt can show.

use std::{collections::BTreeMap, path::Path, time::Instant};

use watertight_fixtures::world::{Capture, Config, World, WorldError, enter};
use watertight_reports::doctor::{Finding, Group, State};

use super::{
    programs,
    tried::{Failure, Tried, finding},
};

/// What a world showed.
pub struct Looked {
    pub findings: Vec<Finding>,
    /// What the targets that are here say of their versions, by name.
    pub versions: BTreeMap<String, String>,
}

/// Brings it up and down, and asks targets for their versions meanwhile. Afterwards this process may be in a user namespace
/// of its own.
pub fn look(program: &Path) -> Looked {
    let (mut cgroup, mut versions) = (None, BTreeMap::new());
    let tried = world(program, &mut cgroup, &mut versions);
    let step = tried.as_ref().err().map(|failure| failure.what.clone()).unwrap_or_default();
    let rule = |id: &str, title: &str, option: &str, module: &str| {
        let tried = match &tried {
            Ok(_) => Ok("the world's rules use it".into()),
            Err(failure) if step.contains(option) => Err(failure.clone()),
            Err(_) => Err(Failure { what: "not tried: no world could be made".into(), errno: 0, remedy: None }),
        };
        finding(id, title, Group::Needed, tried, &format!("modprobe {module}"))
    };
    let socket = rule("nft-socket", "nf_tables socket", "CONFIG_NFT_SOCKET", "nft_socket");
    let tproxy = rule("nft-tproxy", "nf_tables TPROXY", "CONFIG_NFT_TPROXY", "nft_tproxy");
    let remedy = "see what is missing above";
    let world = finding("world", "a world", Group::Needed, tried, remedy);
    Looked { findings: vec![socket, tproxy, world, cgroups(cgroup)], versions }
}

fn world(program: &Path, cgroup: &mut Option<String>, versions: &mut BTreeMap<String, String>) -> Tried {
    let refused = |what: String| Failure { what, errno: 0, remedy: None };
    enter().map_err(|error| refused(error.to_string()))?;
    let broken = |error: WorldError| refused(error.to_string());
    let start = Instant::now();
    let config = Config { tools: programs::tools(), ..Config::new(program) };
    let world = World::up(&config).map_err(broken)?;
    let caught = world.catch_all().map_err(broken)?;
    let capture = Capture::start(&world, start).map_err(broken)?;
    let up = start.elapsed();
    *cgroup = world.cgroup().map(|path| path.display().to_string());
    *versions = programs::versions(&world);
    let start = Instant::now();
    drop(caught);
    capture.stop().map_err(|error| refused(format!("stop the capture: {error}")))?;
    world.down().map_err(broken)?;
    let down = start.elapsed();
    let ms = |time: std::time::Duration| format!("{:.1} ms", time.as_secs_f64() * 1000.0);
    Ok(format!("up in {}, down in {}", ms(up), ms(down)))
}

/// Whether worlds have a cgroup of their own, in which leftovers of container runtimes are counted and removed.
fn cgroups(own: Option<String>) -> Finding {
    let (state, detail, remedy) = match own {
        Some(path) => (State::Ok, format!("the world had its own, {path}"), None),
        None => {
            let remedy =
                "run as root where cgroup2 is mounted writable (in a container: --cgroupns=private, privileged)";
            (State::Untestable, "no cgroup can be made here by this user".into(), Some(remedy.into()))
        }
    };
    Finding { id: "cgroup2".into(), title: "writable cgroup2".into(), group: Group::Attempts, state, detail, remedy }
}
