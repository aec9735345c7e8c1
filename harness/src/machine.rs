//! Facts about the machine that a sceptic asks for, each known or with the reason why not. Nothing here is needed by a check.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read},
};

use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};
use watertight_probe::wire;
use watertight_reports::results::Fact;

/// Characters of one fact, at most.
const LONG: usize = 400;
/// Bytes of an unpacked kernel configuration, at most.
const CONFIG: u64 = 4 << 20;

/// Settings of the kernel that sandboxes and attempts depend on, under `/proc/sys`.
const SETTINGS: [&str; 12] = [
    "kernel/apparmor_restrict_unprivileged_userns",
    "kernel/io_uring_disabled",
    "kernel/unprivileged_bpf_disabled",
    "kernel/unprivileged_userns_clone",
    "kernel/yama/ptrace_scope",
    "dev/tty/legacy_tiocsti",
    "net/core/bpf_jit_enable",
    "net/ipv4/ping_group_range",
    "net/ipv6/conf/all/disable_ipv6",
    "net/mptcp/enabled",
    "user/max_net_namespaces",
    "user/max_user_namespaces",
];

/// Options of its configuration that say which walls there are.
const OPTIONS: [&str; 13] = [
    "AF_UNIX_OOB",
    "CGROUP_BPF",
    "IO_URING",
    "NET_NS",
    "NF_TABLES",
    "PACKET",
    "SECCOMP_FILTER",
    "SECURITY_APPARMOR",
    "SECURITY_LANDLOCK",
    "SECURITY_SELINUX",
    "USER_NS",
    "VETH",
    "VSOCKETS",
];

/// Those that every report shows.
const SHORT: [&str; 3] =
    ["kernel/apparmor_restrict_unprivileged_userns", "kernel/unprivileged_userns_clone", "user/max_user_namespaces"];

/// What a reader of a report wants to know, by name.
pub fn in_short() -> BTreeMap<String, Fact> {
    let settings = SHORT.map(|path| (setting(path), read(&format!("/proc/sys/{path}"))));
    [
        ("architecture".to_owned(), Fact::Known(std::env::consts::ARCH.into())),
        ("kernel".to_owned(), read("/proc/sys/kernel/osrelease")),
        ("load".to_owned(), read("/proc/loadavg")),
    ]
    .into_iter()
    .chain(settings)
    .collect()
}

fn setting(path: &str) -> String {
    format!("sysctl.{}", path.replace('/', "."))
}

/// All of them by name.
pub fn facts() -> BTreeMap<String, Fact> {
    let mut facts: BTreeMap<String, Fact> = [
        ("architecture", Fact::Known(std::env::consts::ARCH.into())),
        ("kernel", read("/proc/sys/kernel/osrelease")),
        ("kernel.version", read("/proc/sys/kernel/version")),
        ("load", read("/proc/loadavg")),
        ("lsm", read("/sys/kernel/security/lsm")),
        ("clock", read("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
        ("cgroup", read("/proc/self/cgroup")),
        ("container", Fact::Known(containers())),
    ]
    .into_iter()
    .map(|(name, fact)| (name.to_owned(), fact))
    .collect();
    for path in SETTINGS {
        facts.insert(setting(path), read(&format!("/proc/sys/{path}")));
    }
    facts.extend(processor());
    facts.extend(own());
    facts.extend(configuration());
    facts
}

fn read(path: &str) -> Fact {
    fact(fs::read(path).map(|bytes| wire::escape(bytes.trim_ascii(), LONG)))
}

fn fact(read: io::Result<String>) -> Fact {
    match read {
        Ok(text) => Fact::Known(text),
        Err(error) => Fact::Unavailable(error.to_string()),
    }
}

/// What lies where containers are marked. Nothing there does not mean that this is none.
fn containers() -> String {
    let marks = ["/.dockerenv", "/run/.containerenv", "/run/systemd/container"];
    let found: Vec<&str> = marks.into_iter().filter(|path| fs::symlink_metadata(path).is_ok()).collect();
    if found.is_empty() { "no mark found".into() } else { found.join(" ") }
}

/// The processor, and what it is known to leak.
fn processor() -> Vec<(String, Fact)> {
    let text = fs::read_to_string("/proc/cpuinfo");
    let line = |name: &str| {
        let of = |text: &String| {
            let line = text.lines().find(|line| line.split('\t').next().is_some_and(|key| key.trim_end() == name));
            line.and_then(|line| line.split_once(": ")).map(|(_, value)| wire::escape(value.as_bytes(), LONG))
        };
        match &text {
            Ok(text) => of(text).map_or_else(|| Fact::Unavailable(format!("/proc/cpuinfo has no {name}")), Fact::Known),
            Err(error) => Fact::Unavailable(error.to_string()),
        }
    };
    let flags = text.as_deref().map(|text| text.lines().find(|line| line.starts_with("flags")));
    let hypervisor = match flags {
        Ok(Some(flags)) => {
            Fact::Known(if flags.split(' ').any(|flag| flag == "hypervisor") { "yes" } else { "no" }.into())
        }
        Ok(None) => Fact::Unavailable("/proc/cpuinfo has no flags".into()),
        Err(error) => Fact::Unavailable(error.to_string()),
    };
    let mut facts = vec![("cpu".to_owned(), line("model name")), ("cpu.hypervisor".to_owned(), hypervisor)];
    match fs::read_dir("/sys/devices/system/cpu/vulnerabilities") {
        Ok(entries) => {
            let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
            facts.extend(names.map(|name| {
                let path = format!("/sys/devices/system/cpu/vulnerabilities/{name}");
                (format!("cpu.{name}"), read(&path))
            }));
        }
        Err(error) => facts.push(("cpu.vulnerabilities".into(), Fact::Unavailable(error.to_string()))),
    }
    facts
}

/// The harness's own process: namespaces, capabilities, filter.
fn own() -> Vec<(String, Fact)> {
    let mut facts: Vec<(String, Fact)> = ["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"]
        .into_iter()
        .map(|kind| {
            let link = fs::read_link(format!("/proc/self/ns/{kind}"));
            (format!("ns.{kind}"), fact(link.map(|link| link.display().to_string())))
        })
        .collect();
    let status = fs::read_to_string("/proc/self/status");
    for (name, key) in [("cap_eff", "CapEff"), ("no_new_privs", "NoNewPrivs"), ("seccomp", "Seccomp")] {
        let value = match &status {
            Ok(text) => text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(":\t")).map_or_else(
                || Fact::Unavailable(format!("/proc/self/status has no {key}")),
                |value| Fact::Known(value.to_owned()),
            ),
            Err(error) => Fact::Unavailable(error.to_string()),
        };
        facts.push((format!("harness.{name}"), value));
    }
    facts
}

/// How the kernel was built: the options that matter, and the digest of all.
fn configuration() -> Vec<(String, Fact)> {
    let text = unpacked().or_else(|packed| {
        let release = fs::read_to_string("/proc/sys/kernel/osrelease")?;
        fs::read(format!("/boot/config-{}", release.trim()))
            .map_err(|beside| io::Error::other(format!("/proc/config.gz: {packed}; /boot: {beside}")))
    });
    let of = |of: &dyn Fn(&[u8]) -> String| match &text {
        Ok(text) => Fact::Known(of(text)),
        Err(error) => Fact::Unavailable(error.to_string()),
    };
    let mut facts = vec![("config.sha256".to_owned(), of(&|text| hex::encode(Sha256::digest(text))))];
    for option in OPTIONS {
        let value = of(&|text| {
            let prefix = format!("CONFIG_{option}=");
            let mut lines = text.split(|byte| *byte == b'\n');
            let value = lines.find_map(|line| line.strip_prefix(prefix.as_bytes()));
            value.map_or("n".into(), |value| wire::escape(value, LONG))
        });
        facts.push((format!("config.{option}"), value));
    }
    facts
}

fn unpacked() -> io::Result<Vec<u8>> {
    let mut text = vec![];
    GzDecoder::new(File::open("/proc/config.gz")?).take(CONFIG).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_is_known_or_says_why_not() {
        let facts = facts();
        assert!(facts.len() > 45, "{}", facts.len());
        assert!(matches!(&facts["kernel"], Fact::Known(release) if release.contains('.')));
        assert!(matches!(&facts["ns.net"], Fact::Known(link) if link.starts_with("net:[")));
        assert!(matches!(&facts["harness.cap_eff"], Fact::Known(set) if set.len() == 16));
        for (name, fact) in facts {
            match fact {
                Fact::Known(value) => assert!(!value.is_empty() && value.len() <= 2_000, "{name}: {value:?}"),
                Fact::Unavailable(why) => assert!(!why.is_empty(), "{name}"),
            }
        }
    }

    #[test]
    fn what_reports_show_is_a_part_of_all() {
        let (all, short) = (facts(), in_short());
        for (name, fact) in short.iter().filter(|(name, _)| *name != "load") {
            assert_eq!(all.get(name), Some(fact), "{name}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_unavailable_and_not_empty() {
        assert!(matches!(read("/proc/sys/no/such"), Fact::Unavailable(why) if why.contains("No such file")));
    }
}
