//! Several files take their places at once, or none does.
//!
//! ```text
//! 1. keep      whatever is in a place gets a second name in the scratch directory beside it (a hard link)
//! 2. rename    every new file takes its place
//! 3. sync      the directories, so that the new names outlast a power failure
//! ```
//!
//! If a step fails, all places get back what was in them. Between two renames a kill leaves some places old and some
//! new; no file is ever half of each. Two runs with the same places change them one after the other (`held`), so that
//! all files are of one of them.

use super::scratch::{ASIDE, LINKED, Scratch};
use super::{Staged, system};
use eigenfold::error::{Error, Result};
use eigenfold::io::write_error;
use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Held while names change, so that no signal ends the program in between.
static CHANGING: Mutex<()> = Mutex::new(());
/// Set when all outputs have their names.
static DONE: AtomicBool = AtomicBool::new(false);

/// How long another run is waited for; a few renames take milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// Waits for names that are changing, and lets none change after it; false if all have changed already.
pub(super) fn stop() -> bool {
    // Never given back: the program ends.
    std::mem::forget(CHANGING.lock().unwrap_or_else(PoisonError::into_inner));
    !DONE.load(Ordering::Relaxed)
}

/// One file on its way to its place.
pub(super) struct Swap {
    place: PathBuf,
    new: PathBuf,
    scratch: Scratch,
    old: Old,
    /// What the new file is known by.
    identity: Option<(u64, u64)>,
    /// Whether the new file is in its place.
    done: bool,
}

/// What is in the place.
enum Old {
    Nothing,
    /// A file with a second name.
    Linked(PathBuf),
    /// A file that can have only one name: it moves aside just before the new one comes.
    Alone(PathBuf),
}

impl Swap {
    /// Gives all files their names.
    pub(super) fn all(staged: Vec<Staged>) -> Result<()> {
        let parents: BTreeSet<PathBuf> =
            staged.iter().filter_map(|file| Some(file.place.parent()?.to_path_buf())).collect();
        let _held = held(&parents);
        let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut swaps = Vec::new();
        for Staged { place, temporary, scratch } in staged {
            let old = kept(&place, &scratch).map_err(|source| write_error(&place, source))?;
            let identity = identity(&temporary);
            swaps.push(Swap { place, new: temporary, scratch, old, identity, done: false });
        }
        let renamed = swaps.iter_mut().try_for_each(|swap| swap.forth().map_err(|error| (swap.place.clone(), error)));
        let synced = renamed.and_then(|()| {
            parents
                .iter()
                .try_for_each(|parent| system::sync_directory(parent).map_err(|error| (parent.clone(), error)))
        });
        match synced {
            Ok(()) => {
                DONE.store(true, Ordering::Relaxed);
                Ok(())
            }
            Err((place, source)) => Err(taken_back(swaps, write_error(place, source))),
        }
    }

    fn forth(&mut self) -> std::io::Result<()> {
        if let Old::Alone(aside) = &self.old {
            system::rename(&self.place, aside)?;
        }
        system::rename(&self.new, &self.place)?;
        self.done = true;
        Ok(())
    }

    /// Gives the place back what was in it, unless another program has put something there since.
    fn back(&self) -> std::io::Result<()> {
        match &self.old {
            Old::Alone(aside) if !self.done && !self.place.exists() && aside.exists() => {
                system::rename(aside, &self.place)
            }
            _ if !self.done || !self.is_ours() => Ok(()),
            Old::Nothing => system::remove_file(&self.place),
            Old::Linked(old) | Old::Alone(old) => system::rename(old, &self.place),
        }
    }

    /// Whether the file in the place is the one that was put there.
    fn is_ours(&self) -> bool {
        identity(&self.place) == self.identity
    }
}

/// The directories in which names are about to change, locked against other runs that change names there; always in the
/// order of their names. Where there are no locks, or somebody keeps one for long, it goes on without.
fn held(parents: &BTreeSet<PathBuf>) -> Vec<File> {
    let (deadline, mut seen) = (Instant::now() + PATIENCE, BTreeSet::new());
    // One directory may have two names, and whoever locks it twice waits for himself.
    let different = parents.iter().filter(|parent| identity(parent).is_none_or(|own| seen.insert(own)));
    let locked = different.filter_map(|parent| {
        let directory = File::open(parent).ok()?;
        while let Err(TryLockError::WouldBlock) = directory.try_lock() {
            if Instant::now() > deadline {
                return None;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Some(directory)
    });
    locked.collect()
}

/// What a file is known by, whatever it is called; nothing where the system does not say.
fn identity(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        std::fs::symlink_metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    None
}

/// Gives what is in a place a second name.
fn kept(place: &Path, scratch: &Scratch) -> std::io::Result<Old> {
    if std::fs::symlink_metadata(place).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        return Ok(Old::Nothing);
    }
    let name = place.file_name().unwrap_or_default();
    let (linked, aside) = (scratch.path().join(LINKED), scratch.path().join(ASIDE));
    system::create_dir(&linked)?;
    match system::hard_link(place, &linked.join(name)) {
        Ok(()) => Ok(Old::Linked(linked.join(name))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Old::Nothing),
        // Some file systems have no second names, and some files are not given any.
        Err(_) => system::create_dir(&aside).map(|()| Old::Alone(aside.join(name))),
    }
}

/// Takes all changes of names back; the error, with what could not be taken back.
fn taken_back(swaps: Vec<Swap>, error: Error) -> Error {
    let mut stuck = Vec::new();
    for swap in swaps.into_iter().rev() {
        if swap.back().is_err() {
            let place = swap.place.display().to_string();
            stuck.push(match swap.old {
                Old::Nothing => format!("{place} is new and could not be removed"),
                Old::Linked(_) | Old::Alone(_) => {
                    format!("what was in {place} could not be put back and is now in {}", swap.scratch.keep().display())
                }
            });
        }
    }
    match error {
        Error::Io { path, source } if !stuck.is_empty() => {
            let message = format!("{source}; {}", stuck.join("; "));
            Error::Io { path, source: std::io::Error::new(source.kind(), message) }
        }
        error => error,
    }
}
