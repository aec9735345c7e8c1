//! The system call filter of the workload: a deny-list, behind namespaces and without capabilities.
//!
//! It closes what those leave open: address families outside network namespaces, calls that act past a filter
//! (io_uring), new user namespaces, terminal injection, and kernel interfaces with a history.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Op, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use super::error::LaunchError;
use crate::guards::{Comparison, Families, Guards};

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;
type Refusal = Result<(), seccompiler::BackendError>;

const MOUNTS: [c_long; 13] = [
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    SYS_OPEN_TREE_ATTR,
    libc::SYS_setns,
];
const SYS_OPEN_TREE_ATTR: c_long = 467;

const KEYRINGS: [c_long; 3] = [libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key];

const IO_URING: [c_long; 3] = [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

const KERNEL_INTERFACES: [c_long; 22] = [
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
];

#[cfg(target_arch = "x86_64")]
const PORTS: [c_long; 2] = [libc::SYS_iopl, libc::SYS_ioperm];
#[cfg(not(target_arch = "x86_64"))]
const PORTS: [c_long; 0] = [];

/// The filter's program.
pub(crate) fn program<G: Guards>() -> Result<BpfProgram, LaunchError> {
    build::<G>().map_err(|error| {
        let source = std::io::Error::other(error.to_string());
        LaunchError::kernel("build the system call filter", source, "; this architecture is not supported")
    })
}

fn build<G: Guards>() -> Result<BpfProgram, seccompiler::BackendError> {
    let mut not_supported = Rules::new();
    deny_families(&mut not_supported, G::denies_socket_families())?;

    let mut not_implemented = Rules::new();
    // Programs fall back to older calls whose flags can be looked at.
    deny_all(&mut not_implemented, &[libc::SYS_clone3], G::denies_clone3());
    deny_all(&mut not_implemented, &IO_URING, G::denies_io_uring());

    let mut not_permitted = Rules::new();
    deny_all(&mut not_permitted, &MOUNTS, G::denies_mounts());
    deny_all(&mut not_permitted, &KEYRINGS, G::denies_keyrings());
    deny_all(&mut not_permitted, &KERNEL_INTERFACES, G::denies_kernel_interfaces());
    deny_all(&mut not_permitted, &PORTS, G::denies_kernel_interfaces());
    if G::denies_user_namespaces() {
        let flag = libc::CLONE_NEWUSER as u64;
        for call in [libc::SYS_clone, libc::SYS_unshare] {
            not_permitted.entry(call).or_default().push(rule(&[(0, Length::Dword, Op::MaskedEq(flag), flag)])?);
        }
    }
    if let Some(length) = length(G::denies_terminal_injection()) {
        for request in [libc::TIOCSTI, libc::TIOCLINUX] {
            let rule = rule(&[(1, length.clone(), Op::Eq, request)])?;
            not_permitted.entry(libc::SYS_ioctl).or_default().push(rule);
        }
    }

    let mut whole = BpfProgram::new();
    for (rules, errno) in
        [(not_supported, libc::EAFNOSUPPORT), (not_implemented, libc::ENOSYS), (not_permitted, libc::EPERM)]
    {
        append(&mut whole, compile(rules, errno)?);
    }
    if G::kills_foreign_architectures() {
        whole.splice(0..0, kill_x32());
    } else {
        whole.drain(..ARCHITECTURE_CHECK);
    }
    Ok(whole)
}

/// What the compiler puts first: load the architecture, compare, kill.
const ARCHITECTURE_CHECK: usize = 3;

/// Joins programs that name different calls, since the compiler knows one errno for each: where the first one would
/// allow a call that it does not name, the next one goes on. One program is installed in a third of the time of three.
fn append(whole: &mut BpfProgram, next: BpfProgram) {
    if whole.pop().is_none() {
        *whole = next;
        return;
    }
    whole.extend(next.into_iter().skip(ARCHITECTURE_CHECK));
}

/// Sockets other than Unix, IPv4, IPv6 and routing netlink: vsock and the like are outside network namespaces.
fn deny_families(rules: &mut Rules, families: Families) -> Refusal {
    match families {
        Families::AllOthers => {}
        Families::Vsock(comparison) => {
            let Some(length) = length(comparison) else { return Ok(()) };
            rules.insert(libc::SYS_socket, vec![rule(&[(0, length, Op::Eq, libc::AF_VSOCK as u64)])?]);
            return Ok(());
        }
        Families::None => return Ok(()),
    }
    let differs = |family: i32| (0, Length::Dword, Op::Ne, family as u64);
    let other = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].map(differs);
    let netlink = (0, Length::Dword, Op::Eq, libc::AF_NETLINK as u64);
    let not_route = (2, Length::Dword, Op::Ne, libc::NETLINK_ROUTE as u64);
    rules.insert(libc::SYS_socket, vec![rule(&other)?, rule(&[netlink, not_route])?]);
    rules.insert(libc::SYS_socketpair, vec![rule(&[differs(libc::AF_UNIX)])?]);
    Ok(())
}

fn deny_all(rules: &mut Rules, calls: &[c_long], up: bool) {
    if up {
        rules.extend(calls.iter().map(|call| (*call, Vec::new())));
    }
}

fn length(comparison: Comparison) -> Option<Length> {
    match comparison {
        Comparison::Low32 => Some(Length::Dword),
        Comparison::Whole64 => Some(Length::Qword),
        Comparison::Absent => None,
    }
}

fn rule(conditions: &[(u8, Length, Op, u64)]) -> Result<SeccompRule, seccompiler::BackendError> {
    let conditions = conditions
        .iter()
        .cloned()
        .map(|(argument, length, operator, value)| SeccompCondition::new(argument, length, operator, value))
        .collect::<Result<_, _>>()?;
    SeccompRule::new(conditions)
}

fn compile(rules: Rules, errno: i32) -> Result<BpfProgram, seccompiler::BackendError> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let deny = SeccompAction::Errno(errno as u32);
    SeccompFilter::new(rules, SeccompAction::Allow, deny, arch)?.try_into()
}

/// x32 shares x86-64's architecture and numbers its calls from 2^30 on: each would pass every rule.
fn kill_x32() -> Vec<sock_filter> {
    if !cfg!(target_arch = "x86_64") {
        return Vec::new();
    }
    const X32: u32 = 0x4000_0000;
    let load_number = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    let at_least = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
    let end = (libc::BPF_RET | libc::BPF_K) as u16;
    vec![
        sock_filter { code: load_number, jt: 0, jf: 0, k: 0 },
        sock_filter { code: at_least, jt: 0, jf: 1, k: X32 },
        sock_filter { code: end, jt: 0, jf: 0, k: libc::SECCOMP_RET_KILL_PROCESS },
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::guards::AllUp;

    #[test]
    fn no_call_is_named_twice() {
        // Joined programs ask about a call once: an earlier rule that does not match would allow it.
        let conditional = [
            libc::SYS_socket,
            libc::SYS_socketpair,
            libc::SYS_clone,
            libc::SYS_unshare,
            libc::SYS_ioctl,
            libc::SYS_clone3,
        ];
        let tables = [&MOUNTS[..], &KEYRINGS, &IO_URING, &KERNEL_INTERFACES, &PORTS, &conditional];
        let all: Vec<c_long> = tables.concat();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    }

    #[test]
    fn the_program_kills_foreign_calls_first_and_allows_last() {
        let program = program::<AllUp>().expect("built");
        let kills = program.iter().filter(|step| step.k == libc::SECCOMP_RET_KILL_PROCESS && step.code == 6).count();
        assert_eq!(kills, if cfg!(target_arch = "x86_64") { 2 } else { 1 });
        assert_eq!(program.last().map(|step| step.k), Some(libc::SECCOMP_RET_ALLOW));
    }
}
