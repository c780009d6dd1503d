//! Directories for what has no name yet: one beside each output, and none left when the program is gone.
//!
//! A scratch directory goes when its output has its name, when anything fails, and when a signal ends the program
//! ([`abandon`]). Only a kill or a power failure leaves one, and the next run that writes beside it takes it away: it
//! knows the directory of a dead program by its number in the name, and that of a live one by the lock on a file in it.

use super::system;
use std::ffi::OsString;
use std::fs::{File, Metadata, TryLockError};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// What all names begin with; the number of the program follows.
const PREFIX: &str = ".eigenfold-";
/// The file in it that is locked as long as the program lives.
const LOCK: &str = "lock";
/// Where files are that had to make room for new ones.
pub(super) const ASIDE: &str = "aside";
/// Where files are that are still in their places too.
pub(super) const LINKED: &str = "linked";
/// After this long a directory without a lock is nobody's, whatever program has its number now.
const OLD: Duration = Duration::from_secs(60);

/// The scratch directories of this program.
static LIVE: Mutex<Live> = Mutex::new(Live { here: Vec::new(), swept: Vec::new(), leaving: false });

struct Live {
    here: Vec<Own>,
    /// The places where directories of the dead were looked for.
    swept: Vec<PathBuf>,
    /// Whether the program is about to end: no more is made.
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

/// A directory that goes with this value.
pub(super) struct Scratch {
    directory: Option<TempDir>,
    own: Own,
    _lock: Option<File>,
}

impl Scratch {
    /// A new one beside the place of a file.
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
            // What replaces a secret file is nobody else's to read, now as later.
            builder.permissions(std::fs::Permissions::from_mode(0o700));
        }
        let directory = system::temporary_directory(&builder, parent)?;
        let path = directory.path().to_path_buf();
        let own = Own { path: path.clone(), file: place.file_name().unwrap_or_default().to_os_string() };
        live.here.push(own.clone());
        // A file system without locks goes by names and times.
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

    /// Leaves the directory where it is, under a name that no later run takes for that of the dead; where it is then.
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

/// Takes all scratch directories away, because the program is about to end; none can be made after it.
pub(super) fn abandon() {
    let mut live = live();
    live.leaving = true;
    live.here.drain(..).for_each(|own| remove(&own));
}

/// Takes a directory away, into which the work may still be writing, and from which not every call need succeed. What is
/// known to be in it goes by its names, which opens no file: there may be no more that may be open.
fn remove(own: &Own) {
    let path = &own.path;
    for inside in
        [PathBuf::from(&own.file), LOCK.into(), Path::new(LINKED).join(&own.file), Path::new(ASIDE).join(&own.file)]
    {
        let _ = std::fs::remove_file(path.join(inside));
    }
    let emptied =
        [path.join(LINKED), path.join(ASIDE), path.clone()].map(|directory| std::fs::remove_dir(directory).is_ok());
    let _ = emptied[2] || (0..10).any(|_| std::fs::remove_dir_all(path).is_ok() || !path.exists());
}

/// Takes the directories of dead programs of this user away; `own` is what is known of one of the user's directories.
fn sweep(parent: &Path, own: &Metadata) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok());
        let (Some(number), Ok(metadata)) = (number, entry.metadata()) else { continue };
        if metadata.is_dir() && is_of_same_user(&metadata, own) && is_dead(number, &entry.path(), &metadata) {
            put_back(&entry.path(), parent);
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

/// Whether the program that made a directory is gone: nobody holds its lock, and there is no program of its number, or
/// there has been none with a lock for long.
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
    (known && !Path::new(&format!("/proc/{number}")).exists()) || age.is_some_and(|age| age > OLD)
}

/// Gives files that were moved aside their names back, where nothing has taken their place.
fn put_back(scratch: &Path, parent: &Path) {
    let Ok(entries) = std::fs::read_dir(scratch.join(ASIDE)) else { return };
    for entry in entries.flatten() {
        let place = parent.join(entry.file_name());
        if place.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            let _ = std::fs::rename(entry.path(), place);
        }
    }
}

/// The error of a program that is about to end.
pub(super) fn is_leaving(error: &Error) -> bool {
    error.kind() == ErrorKind::Interrupted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No program has this number: Linux stops at 2^22.
    const NOBODY: u32 = 9_999_999;

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
        assert!(is_dead(NOBODY, &at(".eigenfold-1-c"), &metadata));
    }

    #[test]
    fn what_a_dead_program_moved_aside_comes_back_unless_its_place_is_taken() {
        let parent = tempfile::tempdir().unwrap();
        let aside = parent.path().join(".eigenfold-9999999-a/aside");
        std::fs::create_dir_all(&aside).unwrap();
        std::fs::write(aside.join("lost"), "old").unwrap();
        std::fs::write(aside.join("taken"), "old").unwrap();
        std::fs::write(parent.path().join("taken"), "new").unwrap();
        drop(Scratch::beside(&parent.path().join("a")).unwrap());
        assert_eq!(names(parent.path()), ["lost", "taken"]);
        assert_eq!(std::fs::read_to_string(parent.path().join("taken")).unwrap(), "new");
    }
}
