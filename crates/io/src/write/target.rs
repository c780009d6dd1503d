//! Resolves the name of an output: a regular file, a device or pipe, or an open file of the program.
//!
//! A regular file can be written under another name and renamed, and so appears completely or not at all. A device, a pipe or
//! an open file of the program itself cannot: written bytes cannot be taken back.

use crate::format_error;
use eigenfold_linalg::error::{Error, Result};
use std::path::{Path, PathBuf};

/// A chain of links longer than this leads in a circle; Linux gives up here too.
const LONGEST: usize = 40;

/// Where an output goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An open file of the program itself, by its number: `-` and `/dev/stdout` are 1, `/dev/fd/3` is 3.
    Open(u32),
    /// A device, a pipe or a socket.
    Special(PathBuf),
    /// A regular file or the place of one, all links followed. It may also be a directory, which writing refuses.
    File(PathBuf),
}

impl Target {
    /// What `name` leads to.
    ///
    /// # Errors
    ///
    /// If it is empty, or its links lead in a circle.
    pub fn of(name: impl AsRef<Path>) -> Result<Target> {
        let name = name.as_ref();
        if name.as_os_str().is_empty() {
            return Err(Error::parameter(
                "output",
                "an output has no name",
                "give the name of a file, or - for standard output",
            ));
        }
        if let Some(number) = open_file(name) {
            return Ok(Target::Open(number));
        }
        let mut path = name.to_path_buf();
        for _ in 0..LONGEST {
            if let Ok(place) = std::fs::canonicalize(&path) {
                let special = std::fs::metadata(&place).is_ok_and(|m| !m.is_file() && !m.is_dir());
                return Ok(if special { Target::Special(place) } else { Target::File(place) });
            }
            // The names of other programs' pipes cannot be resolved.
            if std::fs::metadata(&path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
                return Ok(Target::Special(path));
            }
            let parent = parent_of(&path);
            let parent = std::fs::canonicalize(parent).unwrap_or_else(|_| parent.to_path_buf());
            match std::fs::read_link(&path) {
                Ok(next) => path = parent.join(next),
                Err(_) => return Ok(Target::File(parent.join(path.file_name().unwrap_or_default()))),
            }
        }
        Err(format_error(name, "its links lead in a circle", "name a file"))
    }

    /// The regular file that is finally written, if there is one: standard output may lead to one too.
    pub fn file(&self) -> Option<PathBuf> {
        let path = match self {
            Target::File(path) => return Some(path.clone()),
            Target::Special(_) => return None,
            Target::Open(number) => PathBuf::from(format!("/dev/fd/{number}")),
        };
        let path = std::fs::canonicalize(path).ok()?;
        path.is_file().then_some(path)
    }
}

/// The number of the program's own open file that a name stands for.
fn open_file(name: &Path) -> Option<u32> {
    let own = format!("/proc/{}/fd", std::process::id());
    match name.to_str()? {
        "-" | "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        _ => {
            let parent = name.parent()?;
            let open =
                ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd", &own].iter().any(|own| parent == Path::new(own));
            name.file_name()?.to_str()?.parse().ok().filter(|_| open)
        }
    }
}

/// The directory that a name is in.
pub(crate) fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_known_by_what_they_are_and_not_by_their_directory() {
        for name in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
            assert_eq!(Target::of(name).unwrap(), Target::Open(1), "{name}");
        }
        assert_eq!(Target::of("/dev/null").unwrap(), Target::Special("/dev/null".into()));
        assert_eq!(Target::of("/dev/shm/no/such.csv").unwrap(), Target::File("/dev/shm/no/such.csv".into()));
        assert_eq!(Target::of("/dev/no-such-device").unwrap(), Target::File("/dev/no-such-device".into()));
        assert_eq!(Target::of("/dev").unwrap(), Target::File("/dev".into()));
    }

    #[test]
    fn links_are_followed_also_to_files_that_are_not_there_yet() {
        let directory = tempfile::tempdir().unwrap();
        let place = std::fs::canonicalize(directory.path()).unwrap();
        let at = |name: &str| place.join(name);
        std::os::unix::fs::symlink("b", at("a")).unwrap();
        std::os::unix::fs::symlink("c", at("b")).unwrap();
        assert_eq!(Target::of(at("a")).unwrap(), Target::File(at("c")));
        std::fs::write(at("c"), "").unwrap();
        assert_eq!(Target::of(at("./a")).unwrap(), Target::File(at("c")));
        std::os::unix::fs::symlink("d", at("d")).unwrap();
        assert!(Target::of(at("d")).unwrap_err().to_string().contains("in a circle"));
        std::os::unix::fs::symlink("/dev/null", at("e")).unwrap();
        assert_eq!(Target::of(at("e")).unwrap(), Target::Special("/dev/null".into()));
    }
}
