//! What launches have for themselves: an empty root directory for sandboxes that want one, with places to mount on and no
//! program, and a directory around it.

use std::{
    fs, io,
    os::unix::fs::{PermissionsExt, chown},
    path::Path,
};

use watertight_fixtures::world::{PROGRAMS, WORKSPACE};

use super::{
    planted::SOCKETS,
    up::{Site, SiteError},
};

/// Where launches that need one, or a directory of their own, have theirs.
pub const BUNDLES: &str = "/run/watertight-bundles";
/// Its directories, beside those of what is shown to every sandbox.
const DIRECTORIES: [&str; 8] = ["dev", "etc", "proc", "root", "run", "sys", "tmp", "usr"];
/// Names without which the ids of a container are numbers only.
const FILES: [(&str, &str); 2] = [
    ("etc/passwd", "root:x:0:0:root:/root:/bin/sh\nagent:x:1777:1777:agent:/home/agent:/bin/sh\n"),
    ("etc/group", "root:x:0:\nagent:x:1777:\n"),
];

/// What one launch has for itself.
pub struct Bundle {
    /// A name that no other launch of this world has.
    pub name: String,
    /// An empty directory, but for the root in it.
    pub path: String,
    pub root: String,
}

impl Site {
    /// Makes the directory of all bundles: what is in it belongs to launches.
    pub fn make_room_for_bundles(&self) -> Result<(), SiteError> {
        self.plant_files(|owner| give(Path::new(BUNDLES), owner))
    }

    /// Makes the bundle of the launch with this number, for the ordinary user.
    pub fn make_bundle(&self, launch: u32) -> Result<Bundle, SiteError> {
        let name = format!("wt-{launch}");
        let path = format!("{BUNDLES}/{name}");
        let bundle = Bundle { root: format!("{path}/rootfs"), name, path };
        let root = Path::new(&bundle.root);
        let below = |path: &str| root.join(path.trim_start_matches('/'));
        self.plant_files(|owner| {
            for directory in DIRECTORIES {
                give(&root.join(directory), owner)?;
            }
            for place in [PROGRAMS, WORKSPACE, SOCKETS] {
                give(&below(place), owner)?;
            }
            fs::set_permissions(below("/tmp"), fs::Permissions::from_mode(0o1777))?;
            // What is mounted on a file needs the file.
            fs::write(below(&format!("{PROGRAMS}/watertight")), "")?;
            FILES.iter().try_for_each(|(name, text)| fs::write(root.join(name), text))
        })?;
        Ok(bundle)
    }

    /// Gives the workspace to the world's root, where that is who launches: a root without capabilities has no access to the
    /// files of others. Controls go on reading there.
    pub fn give_workspace_to_root(&self) -> Result<(), SiteError> {
        self.plant_files(|_| {
            for entry in fs::read_dir(WORKSPACE)? {
                chown(entry?.path(), Some(0), Some(0))?;
            }
            chown(WORKSPACE, Some(0), Some(0))?;
            for directory in Path::new(WORKSPACE).ancestors().take(2) {
                fs::set_permissions(directory, fs::Permissions::from_mode(0o755))?;
            }
            Ok(())
        })
    }

    /// Writes the plan of the launch with this number into the workspace; its path.
    pub fn write_plan(&self, launch: u32, plan: &str) -> Result<String, SiteError> {
        let path = format!("{WORKSPACE}/plan-{launch}");
        self.plant_files(|_| {
            fs::write(&path, plan)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644))
        })?;
        Ok(path)
    }

    /// Changes files of the world on behalf of this owner.
    fn plant_files(&self, plant: impl FnOnce(u32) -> io::Result<()> + Send) -> Result<(), SiteError> {
        let owner = self.world.agent_owner();
        let planted = self.world.in_host_files(|| plant(owner));
        planted.and_then(|planted| planted).map_err(SiteError::Plant)
    }
}

/// Makes a directory that belongs to this user, with all that lead to it.
fn give(path: &Path, owner: u32) -> io::Result<()> {
    fs::create_dir_all(path)?;
    for made in path.ancestors().take_while(|made| made.starts_with(BUNDLES)) {
        chown(made, Some(owner), Some(owner))?;
    }
    Ok(())
}
