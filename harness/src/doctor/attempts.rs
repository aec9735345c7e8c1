//! Attempts that cannot be made on this machine, not even without a sandbox.

use std::{collections::BTreeMap, fs::File};

use watertight_fixtures::world::{HOME, RESOLVER, WORKSPACE, can_make_cgroups};
use watertight_probe::{
    nonce::RunNonce,
    plan::{Attempt, Datagram, Stream},
};
use watertight_reports::{doctor::Untestable, evidence::LaunchKind};

use super::{
    namespaces::ordinary_user,
    sys,
    tried::{Step, in_child},
};
use crate::{
    check::Item,
    checks, describe,
    planner::{Allocator, Layout, Planner},
    site::{CGROUP, KERNEL_FILES, asked, granted_here, spare_here, typing},
    way::Way,
};

/// A layout as a run has it, for looking at checks without one. By root, more can be planted.
pub fn layout(by_root: bool) -> Layout {
    Layout {
        link: 2,
        by_root,
        tun: by_root,
        resolver: (RESOLVER, 53).into(),
        set_user_id: by_root.then(|| "/run/watertight-suid/watertight".into()),
        closed_file: "/run/watertight-closed".into(),
        group_file: by_root.then(|| "/run/watertight-group".into()),
        home: HOME.into(),
        workspace: WORKSPACE.into(),
        absent: vec![],
        way: Way::Relays,
        needles: vec![],
        planted: vec![],
        second_bearer: None,
        spare: Some("/srv".into()),
        typing: true,
        granted: if by_root { asked() } else { vec![] },
    }
}

/// The attempts of all checks that this kernel and identity cannot make, by cause.
pub fn untestable(by_root: bool) -> Vec<Untestable> {
    let mut causes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // Each kind of socket is tried once, however many attempts use it.
    let mut tried: BTreeMap<[i32; 3], Option<i32>> = BTreeMap::new();
    for check in checks::all() {
        for item in items(check, by_root) {
            let reason = item.untestable.clone().or_else(|| {
                let socket = socket(&item.attempt)?;
                let errno = (*tried.entry(socket).or_insert_with(|| refused(socket)))?;
                Some(format!("this kernel does not make such sockets ({})", describe::errno_name(errno)))
            });
            if let Some(reason) = reason {
                causes.entry(reason).or_default().push(format!("{}/{}", check.slug, item.name));
            }
        }
    }
    causes.into_iter().map(|(reason, attempts)| Untestable { reason, attempts }).collect()
}

fn items(check: &crate::check::Check, by_root: bool) -> Vec<Item> {
    // The world's root opens devices with the rights of whoever makes the world.
    let tun = File::options().read(true).write(true).open("/dev/net/tun").is_ok();
    let mut granted = granted_here();
    // A world has its own cgroup at this place, wherever that of the machine is.
    granted.retain(|one| one != CGROUP);
    if can_make_cgroups() {
        granted.push(CGROUP.into());
    }
    // Whoever makes the world as an ordinary user is root of nothing that these are about.
    granted.retain(|one| by_root || !KERNEL_FILES.contains(&one.as_str()));
    let (layout, run) = (
        Layout { tun, granted, typing: typing(), spare: spare_here(), ..layout(by_root) },
        RunNonce::from_bytes([0; 32]),
    );
    let mut items = Planner::plan(check, "doctor", LaunchKind::Target, &layout, &run, &mut Allocator::default());
    items.retain(|item| item.launches.contains(&LaunchKind::Target));
    items
}

/// Family, type and protocol of the socket that the attempt needs, where kernels differ in having it.
fn socket(attempt: &Attempt) -> Option<[i32; 3]> {
    /// `SOCK_DCCP` (linux/net.h).
    const SOCK_DCCP: i32 = 6;
    let family = |to: &std::net::SocketAddr| if to.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    match attempt {
        Attempt::Connect { transport, to, .. } => match transport {
            Stream::Mptcp => Some([family(to), libc::SOCK_STREAM, libc::IPPROTO_MPTCP]),
            Stream::Sctp => Some([family(to), libc::SOCK_STREAM, libc::IPPROTO_SCTP]),
            Stream::Dccp => Some([family(to), SOCK_DCCP, libc::IPPROTO_DCCP]),
            Stream::Tcp | Stream::TcpFastOpen | Stream::IoUring => None,
        },
        Attempt::Send { transport: Datagram::UdpLite, to, .. } => {
            Some([family(to), libc::SOCK_DGRAM, libc::IPPROTO_UDPLITE])
        }
        // The kernel reads the low 32 bits of the family.
        Attempt::Socket { family, kind, protocol } => Some([*family as i32, *kind, *protocol]),
        _ => None,
    }
}

/// The errno of a kernel that does not have this socket at all.
fn refused([family, kind, protocol]: [i32; 3]) -> Option<i32> {
    const UNSUPPORTED: [i32; 4] = [libc::EAFNOSUPPORT, libc::EPROTONOSUPPORT, libc::ESOCKTNOSUPPORT, libc::ENOSYS];
    let tried = in_child(|| {
        ordinary_user()?;
        sys::socket(family, kind, protocol).step("socket")?;
        Ok(String::new())
    });
    tried.err().map(|failure| failure.errno).filter(|errno| UNSUPPORTED.contains(errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_users_run_cannot_plant_what_takes_root() {
        let attempts = |by_root| {
            let causes = untestable(by_root);
            causes.into_iter().flat_map(|cause| cause.attempts).collect::<Vec<_>>()
        };
        let suid = "priv::file_access/set-user-id program".to_owned();
        let (roots, users) = (attempts(true), attempts(false));
        assert!(roots.iter().all(|attempt| users.contains(attempt)), "{roots:?} {users:?}");
        assert!(users.len() > roots.len(), "{users:?}");
        assert!(!roots.contains(&suid));
    }

    #[test]
    fn a_family_that_no_kernel_has_is_refused_and_tcp_is_not() {
        assert_eq!(refused([9_999, libc::SOCK_STREAM, 0]), Some(libc::EAFNOSUPPORT));
        assert_eq!(refused([libc::AF_INET, libc::SOCK_STREAM, 0]), None);
    }
}
