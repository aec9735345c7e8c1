//! Where manifests come from: those of this program, and files of its users.

use std::io;

use watertight_reports::files;

use super::{Adapter, Target, TargetError};

/// The manifests that come with the program.
const MANIFESTS: &[(&str, &str)] = &[
    ("reference", include_str!("../../targets/reference.toml")),
    ("bubblewrap", include_str!("../../targets/bubblewrap.toml")),
    ("bubblewrap-0.11", include_str!("../../targets/bubblewrap-0.11.toml")),
    ("bubblewrap-exec", include_str!("../../targets/bubblewrap-exec.toml")),
    ("unshare", include_str!("../../targets/unshare.toml")),
    ("nsjail", include_str!("../../targets/nsjail.toml")),
    ("hakoniwa", include_str!("../../targets/hakoniwa.toml")),
    ("proot", include_str!("../../targets/proot.toml")),
    ("chroot", include_str!("../../targets/chroot.toml")),
    ("netns", include_str!("../../targets/netns.toml")),
    ("ch-run", include_str!("../../targets/ch-run.toml")),
    ("runsc", include_str!("../../targets/runsc.toml")),
    ("runsc-run", include_str!("../../targets/runsc-run.toml")),
    ("runc", include_str!("../../targets/runc.toml")),
    ("crun", include_str!("../../targets/crun.toml")),
    ("youki", include_str!("../../targets/youki.toml")),
    ("firejail", include_str!("../../targets/firejail.toml")),
    ("systemd-nspawn", include_str!("../../targets/systemd-nspawn.toml")),
    ("lxc", include_str!("../../targets/lxc.toml")),
    ("podman", include_str!("../../targets/podman.toml")),
    ("docker", include_str!("../../targets/docker.toml")),
    ("srt", include_str!("../../targets/srt.toml")),
    ("srt-proxy", include_str!("../../targets/srt-proxy.toml")),
    ("codex", include_str!("../../targets/codex.toml")),
    ("codex-proxy", include_str!("../../targets/codex-proxy.toml")),
    ("codex-landlock", include_str!("../../targets/codex-landlock.toml")),
    ("hozo", include_str!("../../targets/hozo.toml")),
    ("hozo-proxy", include_str!("../../targets/hozo-proxy.toml")),
    ("agent-nook", include_str!("../../targets/agent-nook.toml")),
    ("buddelkiste", include_str!("../../targets/buddelkiste.toml")),
    ("buddelkiste-filter", include_str!("../../targets/buddelkiste-filter.toml")),
    ("sandlock", include_str!("../../targets/sandlock.toml")),
    ("landstrip", include_str!("../../targets/landstrip.toml")),
    ("gemini-cli", include_str!("../../targets/gemini-cli.toml")),
    ("claude-code", include_str!("../../targets/claude-code.toml")),
    ("nono", include_str!("../../targets/nono.toml")),
    ("open", include_str!("../../targets/open.toml")),
    ("dead", include_str!("../../targets/dead.toml")),
    ("echo", include_str!("../../targets/echo.toml")),
    ("deny-all", include_str!("../../targets/deny-all.toml")),
    ("liar", include_str!("../../targets/liar.toml")),
    ("polite-liar", include_str!("../../targets/polite-liar.toml")),
];

/// The adapters of those manifests, by the names of their files.
const ADAPTERS: [(&str, &str); 2] = [
    ("bubblewrap-exec.py", include_str!("../../targets/bubblewrap-exec.py")),
    ("docker.py", include_str!("../../targets/docker.py")),
];

/// Bytes of a manifest, at most.
pub(super) const MAX_MANIFEST: u64 = 256 << 10;

/// Whether a target is named by the file of its manifest.
pub fn is_file(name: &str) -> bool {
    name.contains('/') || name.ends_with(".toml")
}

impl Target {
    /// Whether it is the manifest of this name that comes with the program, word for word, with the adapter that does.
    pub fn is_ours(&self, name: &str) -> bool {
        MANIFESTS.iter().any(|(known, text)| *known == name && *text == self.manifest)
            && self.clone().with_adapter(our_adapter).is_ok_and(|ours| ours.adapter == self.adapter)
    }

    /// The names of all manifests that come with the program.
    pub fn names() -> impl Iterator<Item = &'static str> {
        MANIFESTS.iter().map(|(name, _)| *name)
    }

    /// The target with this name, `NAME` or `NAME:VARIANT`. A name with a slash in it, or that ends in `.toml`, is the
    /// file of a manifest.
    pub fn load(name: &str) -> Result<Self, TargetError> {
        let (manifest, variant) = match name.rsplit_once(':') {
            Some((manifest, variant)) => (manifest, Some(variant)),
            None => (name, None),
        };
        let target = if is_file(manifest) {
            let target =
                Self::parse(manifest, &read(manifest)?)?.with_adapter(|adapter| adapter.read(manifest.as_ref()))?;
            // Two sandboxes of one name could be taken for each other in evidence.
            if Self::names().any(|name| name == target.name) && !target.is_ours(&target.name) {
                return Err(TargetError::Taken { path: manifest.to_owned(), name: target.name });
            }
            target
        } else {
            let known = MANIFESTS.iter().find(|(known, _)| *known == manifest);
            let (_, text) = known.ok_or_else(|| TargetError::Unknown(manifest.to_owned()))?;
            Self::parse(manifest, text)?.with_adapter(our_adapter)?
        };
        match variant {
            Some(variant) => target.varied(variant),
            None => Ok(target),
        }
    }

    /// The target with its adapter's file, as it is found.
    fn with_adapter(mut self, find: impl FnOnce(&mut Adapter) -> io::Result<()>) -> Result<Self, TargetError> {
        let Some(adapter) = &mut self.adapter else { return Ok(self) };
        let file = adapter.file.clone().unwrap_or_default();
        find(adapter).map_err(|source| TargetError::AdapterFile { name: self.name.clone(), file, source })?;
        Ok(self)
    }
}

/// Gives an adapter the file that comes with the program.
fn our_adapter(adapter: &mut Adapter) -> io::Result<()> {
    let Some(file) = &adapter.file else { return Ok(()) };
    adapter.program = Some(our_program(file).ok_or(io::ErrorKind::NotFound)?.to_owned());
    Ok(())
}

/// The text of an adapter that comes with the program.
pub(super) fn our_program(file: &str) -> Option<&'static str> {
    ADAPTERS.iter().find(|(known, _)| *known == file).map(|(_, text)| *text)
}

fn read(path: &str) -> Result<String, TargetError> {
    files::text(path.as_ref(), MAX_MANIFEST).map_err(|source| match source.kind() {
        io::ErrorKind::FileTooLarge => TargetError::Long { path: path.to_owned() },
        _ => TargetError::File { path: path.to_owned(), source },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_manifest_that_comes_with_the_program_can_be_read_and_has_its_own_name() {
        for name in Target::names() {
            assert_eq!(Target::load(name).expect(name).name, name);
        }
    }

    #[test]
    fn a_manifest_can_be_a_file_of_the_users_own() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("mine.toml").display().to_string();
        let missing = Target::load(&path).expect_err("not there").to_string();
        assert!(missing.starts_with("cannot read the manifest /") && missing.contains("No such file"), "{missing}");
        let text = "name = 'mine'\nsummary = 's'\nroute = 'none'\nversion = []\n[launch]\nargv = ['{probe}']\n\
            [variants.v]\nsummary = 'V.'\nedits = [{ add = ['x'], before = '{probe}' }]\n";
        std::fs::write(&path, text).expect("written");
        let target = Target::load(&path).expect("a manifest");
        assert_eq!((target.name.as_str(), target.manifest.as_str()), ("mine", text));
        assert_eq!(Target::load(&format!("{path}:v")).expect("a variant").name, "mine:v");
        std::fs::write(&path, text.replace("'mine'", "'bubblewrap'")).expect("written");
        assert!(matches!(Target::load(&path), Err(TargetError::Taken { .. })));
        std::fs::write(&path, "#".repeat(MAX_MANIFEST as usize + 1)).expect("written");
        assert!(matches!(Target::load(&path), Err(TargetError::Long { .. })));
    }
}
