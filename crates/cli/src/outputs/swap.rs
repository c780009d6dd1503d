//! Several files are renamed to their final names together, or none is.
//!
//! ```text
//! 1. keep      an old file gets a second name in the scratch directory beside it (a hard link, else a copy)
//! 2. rename    every new file gets its final name
//! 3. sync      the directories, so that the new names outlast a power failure
//! ```
//!
//! If a step fails, all names get their old files back. A kill between two renames leaves some files old and some new; no
//! file is ever half of each. Two runs with the same outputs rename them one after the other ([`locked`]), so that all
//! files come from one run.

use super::scratch::{OLD, Scratch};
use super::{Staged, system};
use eigenfold::{
    Error, Result,
    io::{keep_owner_and_permissions, sync_directory, write_error},
};
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Locked while files are renamed, so that no signal ends the program in between.
static RENAMING: Mutex<()> = Mutex::new(());
/// Set when all outputs have their final names.
static DONE: AtomicBool = AtomicBool::new(false);

/// How long to wait for another run; a few renames take milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// Waits for renames that are under way, and prevents others; false if all outputs have their final names already.
pub(super) fn stop() -> bool {
    // Never unlocked: the program ends.
    std::mem::forget(RENAMING.lock().unwrap_or_else(PoisonError::into_inner));
    !DONE.load(Ordering::Relaxed)
}

/// One file that is being renamed.
struct Swap {
    staged: Staged,
    /// The second name of the old file, if there was one.
    old: Option<PathBuf>,
    /// Whether the new file has its final name.
    done: bool,
}

/// Gives all files their final names, or none.
pub(super) fn all(staged: Vec<Staged>) -> Result<()> {
    let parents: BTreeSet<PathBuf> =
        staged.iter().filter_map(|file| Some(file.place.parent()?.to_path_buf())).collect();
    let _locked = locked(&parents);
    let _renaming = RENAMING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut swaps = Vec::new();
    for staged in staged {
        let old = kept(&staged.place, &staged.scratch).map_err(|source| write_error(&staged.place, source))?;
        swaps.push(Swap { staged, old, done: false });
    }
    match renamed(&mut swaps, &parents) {
        Ok(()) => {
            DONE.store(true, Ordering::Relaxed);
            Ok(())
        }
        Err(error) => Err(undone(swaps, error)),
    }
}

fn renamed(swaps: &mut [Swap], parents: &BTreeSet<PathBuf>) -> Result<()> {
    for Swap { staged: Staged { place, temporary, .. }, done, .. } in swaps {
        system::call(|| fs::rename(&temporary, &place)).map_err(|source| write_error(&place, source))?;
        *done = true;
    }
    for parent in parents {
        system::call(|| sync_directory(parent)).map_err(|source| write_error(parent, source))?;
    }
    Ok(())
}

/// Locks the directories in which files are renamed against other runs, in the order of their names. If there are no locks,
/// or another run keeps one for long, it goes on without.
fn locked(parents: &BTreeSet<PathBuf>) -> Vec<File> {
    let deadline = Instant::now() + PATIENCE;
    let locked = parents.iter().filter_map(|parent| {
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

/// Gives an old file a second name, which is returned; on file systems without links, a copy of it.
fn kept(place: &Path, scratch: &Scratch) -> std::io::Result<Option<PathBuf>> {
    let existing = match fs::symlink_metadata(place) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        existing => existing?,
    };
    let old = scratch.path().join(OLD).join(place.file_name().unwrap_or_default());
    system::call(|| fs::create_dir(scratch.path().join(OLD)))?;
    if system::call(|| fs::hard_link(place, &old)).is_err() {
        system::call(|| fs::copy(place, &old))?;
        system::call(|| keep_owner_and_permissions(&File::open(&old)?, &existing))?;
    }
    Ok(Some(old))
}

/// Gives all names their old files back; the error, with what could not be undone.
fn undone(swaps: Vec<Swap>, error: Error) -> Error {
    let mut stuck = Vec::new();
    for Swap { staged, old, .. } in swaps.into_iter().rev().filter(|swap| swap.done) {
        let place = staged.place.display();
        match &old {
            Some(old) if system::call(|| fs::rename(old, &staged.place)).is_err() => stuck.push(format!(
                "the old content of {place} could not be restored and is now in {}",
                staged.scratch.keep().display()
            )),
            None if system::call(|| fs::remove_file(&staged.place)).is_err() => {
                stuck.push(format!("{place} is new and could not be removed"));
            }
            _ => {}
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
