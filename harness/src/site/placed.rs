//! Files of one launch: what its manifest says that the sandbox finds in the launch's own directory.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, chown},
    path::{Path, PathBuf},
};

use watertight_fixtures::world::World;

/// What was put there. Removed by hand, so that what a target adds to it stays and is seen.
#[derive(Debug, Default)]
pub struct Placed {
    /// In the order in which they were made.
    directories: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl Placed {
    /// Writes `files`, by relative path, into `directory`, where nobody but the launch's user can look. Without any,
    /// there is no directory either.
    pub fn place(world: &World, directory: &Path, files: &[(String, String)], as_root: bool) -> io::Result<Self> {
        let owner = if as_root { 0 } else { world.agent_owner() };
        let mut placed = Self::default();
        world.in_host_files(|| {
            for (name, text) in files {
                let path = directory.join(name);
                let parents: Vec<&Path> =
                    path.ancestors().skip(1).take_while(|one| one.starts_with(directory)).collect();
                for parent in parents.into_iter().rev().filter(|one| !one.exists()) {
                    fs::DirBuilder::new().mode(0o700).create(parent)?;
                    chown(parent, Some(owner), Some(owner))?;
                    placed.directories.push(parent.to_owned());
                }
                fs::write(&path, text)?;
                chown(&path, Some(owner), Some(owner))?;
                placed.files.push(path);
            }
            io::Result::Ok(())
        })??;
        Ok(placed)
    }

    /// Removes them. What the target removed before, or put beside them, is no error.
    pub fn remove(self, world: &World) -> io::Result<()> {
        if self.directories.is_empty() {
            return Ok(());
        }
        // In the world's own files: where the target made a link of a directory, it leads nowhere else.
        world.in_host_files(|| {
            self.files.iter().for_each(|path| drop(fs::remove_file(path)));
            self.directories.iter().rev().for_each(|path| drop(fs::remove_dir(path)));
        })
    }
}
