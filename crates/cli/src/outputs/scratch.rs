//! Scratch directories for temporary files: one beside each output, removed when the program ends.
//!
//! A scratch directory is removed when its output has its final name, when anything fails, and when a signal ends the
//! program ([`abandon`]). Only a kill or a power failure leaves one, and the next run that writes to the same directory
//! removes it: the name has the number of the process, and a live process has locked a file in it.

use super::system;
use std::ffi::OsString;
use std::fs::{File, Metadata, TryLockError};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// The prefix of all names; the number of the process follows.
const PREFIX: &str = ".eigenfold-";
/// The file in it that is locked while the program runs.
const LOCK: &str = "lock";
/// The subdirectory of the old file.
pub(super) const OLD: &str = "old";
/// After this long a directory without a lock is abandoned, even if a process with its number exists.
const ABANDONED: Duration = Duration::from_secs(60);

/// The scratch directories of this program.
static LIVE: Mutex<Live> = Mutex::new(Live { here: Vec::new(), swept: Vec::new(), leaving: false });

struct Live {
    here: Vec<Own>,
    /// The directories in which those of dead programs were removed.
    swept: Vec<PathBuf>,
    /// Whether the program is about to end: no more are made.
    leaving: bool,
}

/// A scratch directory and the name of the file that is written in it.
#[derive(Clone, PartialEq)]
struct Own {
    path: PathBuf,
    file: OsString,
}

fn live() -> MutexGuard<'static, Live> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A directory that is removed with this value.
pub(super) struct Scratch {
    directory: Option<TempDir>,
    own: Own,
    _lock: Option<File>,
}

impl Scratch {
    /// A new one in the directory of a file.
    pub(super) fn beside(place: &Path) -> Result<Scratch> {
        let parent = place.parent().unwrap_or(Path::new("."));
        let mut live = live();
        if live.leaving {
            return Err(ErrorKind::Interrupted.into());
        }
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // Other users must not read what replaces a secret file.
            builder.permissions(std::fs::Permissions::from_mode(0o700));
        }
        let directory = system::call(|| builder.tempdir_in(parent))?;
        let path = directory.path().to_path_buf();
        let own = Own { path: path.clone(), file: place.file_name().unwrap_or_default().to_os_string() };
        live.here.push(own.clone());
        // Without locks, names and times decide.
        let lock = File::create(path.join(LOCK)).ok();
        lock.iter().for_each(|file| drop(file.try_lock()));
        if !live.swept.iter().any(|swept| swept == parent) {
            live.swept.push(parent.to_path_buf());
            sweep(parent, &std::fs::metadata(&path)?);
        }
        Ok(Scratch { directory: Some(directory), own, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        &self.own.path
    }

    /// Leaves the directory there, under a name that no later run removes, which is returned.
    pub(super) fn keep(mut self) -> PathBuf {
        let path = self.directory.take().map_or(self.own.path.clone(), TempDir::keep);
        let name = path.file_name().unwrap_or_default().to_string_lossy().replace(PREFIX, ".eigenfold-kept-");
        let kept = path.with_file_name(name);
        if std::fs::rename(&path, &kept).is_ok() { kept } else { path }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let mut live = live();
        if let Some(directory) = self.directory.take() {
            let _ = directory.keep();
            remove(&self.own);
        }
        live.here.retain(|own| *own != self.own);
    }
}

/// Removes all scratch directories, because the program is about to end; none can be made after it.
pub(super) fn abandon() {
    let mut live = live();
    live.leaving = true;
    live.here.drain(..).for_each(|own| remove(&own));
}

/// Removes a directory that may still be written to. Known files are removed by name, which opens no file: the process may
/// have reached its limit of open files.
fn remove(own: &Own) {
    let path = &own.path;
    for inside in [PathBuf::from(&own.file), LOCK.into(), Path::new(OLD).join(&own.file)] {
        let _ = std::fs::remove_file(path.join(inside));
    }
    let _ = std::fs::remove_dir(path.join(OLD));
    let emptied = std::fs::remove_dir(path).is_ok();
    let _ = emptied || (0..10).any(|_| std::fs::remove_dir_all(path).is_ok() || !path.exists());
}

/// Removes the directories of dead programs of this user; `own` is the metadata of one of the user's directories.
fn sweep(parent: &Path, own: &Metadata) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok());
        let (Some(number), Ok(metadata)) = (number, entry.metadata()) else { continue };
        if metadata.is_dir() && is_of_same_user(&metadata, own) && is_dead(number, &entry.path(), &metadata) {
            // Another run may be about to do the same.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn is_of_same_user(one: &Metadata, other: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        one.uid() == other.uid()
    }
    #[cfg(not(unix))]
    false
}

/// Whether the program that made a directory has ended: its lock is free, and no process has its number, or the directory is
/// old.
fn is_dead(number: u32, path: &Path, metadata: &Metadata) -> bool {
    if number == std::process::id() {
        return false;
    }
    if let Ok(lock) = File::open(path.join(LOCK))
        && let Err(TryLockError::WouldBlock) = lock.try_lock()
    {
        return false;
    }
    let known = Path::new("/proc/self").exists();
    let age = metadata.modified().ok().and_then(|time| SystemTime::now().duration_since(time).ok());
    (known && !Path::new(&format!("/proc/{number}")).exists()) || age.is_some_and(|age| age > ABANDONED)
}

/// The error of a program that is about to end.
pub(super) fn is_leaving(error: &Error) -> bool {
    error.kind() == ErrorKind::Interrupted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No process has this number: Linux stops at 2^22.
    const UNUSED: u32 = 9_999_999;

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn directories_of_the_dead_go_and_those_of_the_living_stay() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        for name in [".eigenfold-9999999-a", ".eigenfold-9999999-b", ".eigenfold-1-c", ".eigenfold-kept-9999999-d"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        std::fs::write(at(".eigenfold-9999999-a/lock"), "").unwrap();
        std::fs::write(at(".eigenfold-9999999-b/lock"), "").unwrap();
        std::fs::write(at(".eigenfold-9999999-file"), "").unwrap();
        let held = File::open(at(".eigenfold-9999999-b/lock")).unwrap();
        held.try_lock().unwrap();
        drop(Scratch::beside(&parent.path().join("a")).unwrap());
        let left = [".eigenfold-1-c", ".eigenfold-9999999-b", ".eigenfold-9999999-file", ".eigenfold-kept-9999999-d"];
        assert_eq!(names(parent.path()), left);
        let metadata = std::fs::metadata(at(".eigenfold-1-c")).unwrap();
        assert!(!is_dead(std::process::id(), &at(".eigenfold-1-c"), &metadata));
        assert!(is_dead(UNUSED, &at(".eigenfold-1-c"), &metadata));
    }
}
