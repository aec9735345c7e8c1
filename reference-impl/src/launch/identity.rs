//! Who the workload is outside: the ordinary user that started the launcher, or the one that root names.

use std::path::PathBuf;

use nix::unistd::{Gid, Uid, getegid, geteuid, setgroups, setresgid, setresuid};

use super::error::{LaunchError, Step};
use crate::guards::Guards;

/// An ordinary user: uid and gid, and what the user database says beside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub uid: u32,
    pub gid: u32,
    pub name: Option<String>,
    pub home: Option<PathBuf>,
    /// The launcher was root and has to become this user.
    pub changes: bool,
}

impl Identity {
    /// The calling user; started as root, the one named by `user` or by sudo.
    pub(crate) fn choose<G: Guards>(user: Option<&str>) -> Result<Self, LaunchError> {
        let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
        if uid == 0 && !G::becomes_ordinary_user() {
            return Ok(Self { uid, gid, name: None, home: None, changes: false });
        }
        if uid != 0 {
            let known = lookup(&passwd, |entry| entry.uid == uid);
            let identity = known.unwrap_or(Self { uid, gid, name: None, home: None, changes: false });
            let same = user.is_none_or(|name| identity.is_called(name));
            let other = || LaunchError::User {
                name: user.unwrap_or_default().into(),
                reason: "only root can become another user",
            };
            return same.then_some(Self { uid, gid, ..identity }).ok_or_else(other);
        }
        let chosen = match user {
            Some(name) => named(&passwd, name)?,
            None => by_sudo(&passwd).ok_or(LaunchError::NoOrdinaryUser)?,
        };
        Ok(Self { changes: true, ..chosen })
    }

    fn is_called(&self, name: &str) -> bool {
        self.name.as_deref() == Some(name) || name.parse() == Ok(self.uid)
    }

    /// Becomes this user for good, without any supplementary group.
    pub(crate) fn assume<G: Guards>(&self) -> Result<(), LaunchError> {
        if !self.changes {
            // An ordinary user cannot drop groups: the kernel asks for CAP_SETGID outside.
            return Ok(());
        }
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        if G::drops_supplementary_groups() {
            setgroups(&[]).step("drop the supplementary groups of root")?;
        }
        setresgid(gid, gid, gid).step(format!("become group {gid}"))?;
        setresuid(uid, uid, uid).step(format!("become user {uid}"))?;
        // The change of uid made /proc/self root's, and the user namespace's maps are written there.
        nix::sys::prctl::set_dumpable(true).step("own /proc/self again")
    }
}

fn named(passwd: &str, name: &str) -> Result<Identity, LaunchError> {
    let refuse = |reason| LaunchError::User { name: name.to_owned(), reason };
    let uid: Option<u32> = name.parse().ok();
    let known = lookup(passwd, |entry| entry.name.as_deref() == Some(name) || Some(entry.uid) == uid);
    let unlisted = uid.map(|uid| Identity { uid, gid: uid, name: None, home: None, changes: true });
    match known.or(unlisted) {
        None => Err(refuse("no such user in /etc/passwd; a number is taken as a uid")),
        Some(identity) if identity.uid == 0 || identity.gid == 0 => Err(refuse("root is not an ordinary user")),
        Some(identity) => Ok(identity),
    }
}

fn by_sudo(passwd: &str) -> Option<Identity> {
    let number = |name| std::env::var(name).ok()?.parse::<u32>().ok().filter(|id| *id != 0);
    let (uid, gid) = (number("SUDO_UID")?, number("SUDO_GID")?);
    let known = lookup(passwd, |entry| entry.uid == uid);
    Some(Identity { uid, gid, ..known.unwrap_or(Identity { uid, gid, name: None, home: None, changes: true }) })
}

fn lookup(passwd: &str, wanted: impl Fn(&Identity) -> bool) -> Option<Identity> {
    passwd.lines().filter_map(entry).find(wanted)
}

fn entry(line: &str) -> Option<Identity> {
    let fields: Vec<&str> = line.split(':').collect();
    let &[name, _, uid, gid, _, home, ..] = fields.as_slice() else { return None };
    let home = Some(PathBuf::from(home)).filter(|home| home.is_absolute() && home.parent().is_some());
    Some(Identity { uid: uid.parse().ok()?, gid: gid.parse().ok()?, name: Some(name.to_owned()), home, changes: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\nagent:x:1777:1778:Agent:/home/agent:/bin/sh\nbad line\n";

    #[test]
    fn a_user_is_found_by_name_and_by_uid() {
        for name in ["agent", "1777"] {
            let identity = named(PASSWD, name).expect("found");
            assert_eq!((identity.uid, identity.gid), (1777, 1778));
            assert_eq!(identity.home, Some("/home/agent".into()));
        }
    }

    #[test]
    fn a_number_that_is_not_listed_is_a_uid_and_gid() {
        let identity = named(PASSWD, "4711").expect("taken");
        assert_eq!((identity.uid, identity.gid, identity.name), (4711, 4711, None));
    }

    #[test]
    fn root_is_no_ordinary_user() {
        for name in ["root", "0"] {
            assert!(named(PASSWD, name).is_err(), "{name}");
        }
        named(PASSWD, "nobody-here").expect_err("unknown");
    }
}
