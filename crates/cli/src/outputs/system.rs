//! The system calls by which outputs get their names. In tests any of them can be made to fail.

use eigenfold::io;
use std::fs;
use std::io::Result;
use std::path::Path;

fn call() -> Result<()> {
    #[cfg(test)]
    fault::call()?;
    Ok(())
}

pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    call()?;
    fs::rename(from, to)
}

pub(super) fn hard_link(from: &Path, to: &Path) -> Result<()> {
    call()?;
    fs::hard_link(from, to)
}

pub(super) fn create_dir(path: &Path) -> Result<()> {
    call()?;
    fs::create_dir(path)
}

pub(super) fn remove_file(path: &Path) -> Result<()> {
    call()?;
    fs::remove_file(path)
}

pub(super) fn keep_owner_and_permissions(path: &Path, existing: &fs::Metadata) -> Result<()> {
    call()?;
    io::keep_owner_and_permissions(&fs::File::open(path)?, existing)
}

pub(super) fn sync_directory(path: &Path) -> Result<()> {
    call()?;
    io::sync_directory(path)
}

pub(super) fn temporary_directory(builder: &tempfile::Builder, parent: &Path) -> Result<tempfile::TempDir> {
    call()?;
    builder.tempdir_in(parent)
}

#[cfg(test)]
pub(super) mod fault {
    use std::cell::Cell;

    thread_local! {
        /// How many calls succeed before some fail, and how many then do.
        static FAILING: Cell<(usize, usize)> = const { Cell::new((usize::MAX, 0)) };
    }

    /// Lets `some` calls of this thread fail after the next `after`.
    pub(in super::super) fn set(after: usize, some: usize) {
        FAILING.set((after, some));
    }

    /// Whether the failures that were set have all happened; none does from here on.
    pub(in super::super) fn is_over() -> bool {
        FAILING.replace((usize::MAX, 0)).1 == 0
    }

    /// One more call.
    pub(super) fn call() -> std::io::Result<()> {
        match FAILING.get() {
            (0, 0) => Ok(()),
            (0, some) => {
                FAILING.set((0, some - 1));
                // EIO, as a broken disk answers.
                Err(std::io::Error::from_raw_os_error(5))
            }
            (after, some) => {
                FAILING.set((after - 1, some));
                Ok(())
            }
        }
    }
}
