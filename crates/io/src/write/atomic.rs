//! Writes a file completely or not at all.
//!
//! The bytes go to a temporary file in the same directory, which is renamed when it is complete and removed when
//! anything fails. Devices, pipes and the program's own open files cannot be renamed over: they are written directly.

use crate::write::target::{Target, parent_of};
use eigenfold_linalg::error::{Error, Result};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;

/// Large enough that the cost of system calls is negligible.
pub(crate) const BUFFER: usize = 1 << 18;

/// Writes a file through `fill`, so that the file is complete or is not there; `-` is standard output.
///
/// A file that exists is replaced only after `fill` succeeded, and keeps its permissions, and its owner and group where
/// the system allows it. A link stays a link: what it leads to is replaced. Devices, pipes and the program's own open
/// files (`/dev/stdout`, `/dev/fd/3`) are written directly; the latter at their end. The bytes are on the disk when this
/// returns.
///
/// # Errors
///
/// The error of `fill`, or the system's refusal; in both cases nothing is left behind.
pub fn write_bytes_atomically(path: impl AsRef<Path>, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let path = path.as_ref();
    let fail = |source| write_error(path, source);
    let place = match Target::of(path)? {
        Target::Open(1) => return fill_and_flush(path, std::io::stdout().lock(), fill),
        // The file is opened again, and appended to so that its content is kept.
        Target::Open(number) => {
            let open = OpenOptions::new().append(true).open(format!("/dev/fd/{number}")).map_err(fail)?;
            return fill_and_flush(path, open, fill);
        }
        Target::Special(device) => {
            let device = OpenOptions::new().write(true).open(device).map_err(fail)?;
            return fill_and_flush(path, device, fill);
        }
        Target::File(place) => place,
    };
    let existing = std::fs::metadata(&place).ok();
    check_replaceable(&place, existing.as_ref()).map_err(fail)?;
    let temporary = temporary_beside(&place).map_err(fail)?;
    fill_and_flush(path, temporary.as_file(), fill)?;
    put_in_place(path, temporary, &place)
}

/// Gives a complete file its final name, with the permissions of the file that it replaces.
pub(crate) fn put_in_place(path: &Path, temporary: tempfile::NamedTempFile, place: &Path) -> Result<()> {
    let fail = |source| write_error(path, source);
    if let Ok(existing) = std::fs::metadata(place) {
        keep_owner_and_permissions(temporary.as_file(), &existing).map_err(fail)?;
    }
    temporary.as_file().sync_all().map_err(fail)?;
    temporary.persist(place).map_err(|error| fail(error.error))?;
    sync_directory(parent_of(place)).map_err(fail)
}

/// Refuses to replace a directory, and a file that this user may not write, though its directory would allow it.
///
/// # Errors
///
/// The system's answer.
pub fn check_replaceable(place: &Path, existing: Option<&Metadata>) -> std::io::Result<()> {
    let Some(existing) = existing else { return Ok(()) };
    if existing.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    // Read-only files are kept even if the user is root.
    if existing.permissions().readonly() {
        return Err(ErrorKind::PermissionDenied.into());
    }
    OpenOptions::new().write(true).open(place).map(|_| ())
}

/// Gives a new file the owner, the group and the permissions of the one that it replaces. If this user may not change
/// the owner, the file stays the user's, without the set-user-ID and set-group-ID bits.
///
/// # Errors
///
/// The system's answer.
pub fn keep_owner_and_permissions(file: &File, existing: &Metadata) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
        let own = file.metadata()?;
        let mut kept = true;
        if own.gid() != existing.gid() {
            kept &= fchown(file, None, Some(existing.gid())).is_ok();
        }
        if own.uid() != existing.uid() {
            kept &= fchown(file, Some(existing.uid()), None).is_ok();
        }
        let mode = existing.permissions().mode() & if kept { 0o7777 } else { 0o777 };
        file.set_permissions(std::fs::Permissions::from_mode(mode))
    }
    #[cfg(not(unix))]
    file.set_permissions(existing.permissions())
}

/// Flushes a directory, so that renames outlast a power failure, if the file system can.
///
/// # Errors
///
/// If the disk fails; a file system without this ability is not an error.
pub fn sync_directory(directory: &Path) -> std::io::Result<()> {
    // A directory that may be written but not listed cannot be opened.
    let Ok(directory) = File::open(directory) else { return Ok(()) };
    match directory.sync_all() {
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        result => result,
    }
}

/// The error of a failed write to `path`: the message of the system, and the usual way out.
///
/// For the closures of [`write_bytes_atomically`].
pub fn write_error(path: impl AsRef<Path>, source: std::io::Error) -> Error {
    let path = path.as_ref();
    let message = match source.kind() {
        ErrorKind::StorageFull => "the disk is full; free some space or write elsewhere".into(),
        ErrorKind::QuotaExceeded => "your share of the disk is used up; free some space or write elsewhere".into(),
        ErrorKind::FileTooLarge => "the file would be larger than is allowed (ulimit -f); raise the limit".into(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only; write elsewhere".into(),
        ErrorKind::IsADirectory => "is a directory; name a file in it".into(),
        ErrorKind::PermissionDenied => "writing is not permitted; change the permissions or write elsewhere".into(),
        ErrorKind::NotFound | ErrorKind::NotADirectory => match path.parent() {
            Some(parent) if !parent.is_dir() && parent != Path::new("") => {
                format!("there is no directory {}; create it first or write elsewhere", parent.display())
            }
            _ => format!("{source}; write elsewhere"),
        },
        _ => format!("{source}; write elsewhere"),
    };
    let path = if path.as_os_str() == "-" { "standard output".into() } else { path.into() };
    Error::Io { path, source: std::io::Error::new(source.kind(), message) }
}

/// A new file in the directory of `place`, with the permissions of any new file.
pub(crate) fn temporary_beside(place: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".eigenfold-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The system takes the user's mask off, as for any new file.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(parent_of(place))
}

fn fill_and_flush(path: &Path, out: impl Write, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut out = BufWriter::with_capacity(BUFFER, out);
    fill(&mut out)?;
    out.flush().map_err(|source| write_error(path, source))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn names_in(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.csv");
        std::fs::write(&path, "old").unwrap();
        let result = write_bytes_atomically(&path, |out| {
            out.write_all(&[b'x'; 1 << 20]).map_err(|source| write_error(&path, source))?;
            Err(Error::Stopped)
        });
        assert!(matches!(result, Err(Error::Stopped)));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names_in(directory.path()), ["out.csv"]);
    }

    #[test]
    fn a_success_replaces_the_file_and_keeps_its_permissions_and_links() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let (path, link) = (directory.path().join("out.csv"), directory.path().join("link"));
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write_bytes_atomically(&link, |out| out.write_all(b"new").map_err(|e| write_error(&link, e))).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(link.is_symlink());
    }

    #[test]
    fn directories_missing_parents_and_full_disks_are_clear_errors() {
        let directory = tempfile::tempdir().unwrap();
        let message = |path: &Path| {
            write_bytes_atomically(path, |out| out.write_all(&[0; 1 << 20]).map_err(|e| write_error(path, e)))
                .unwrap_err()
                .to_string()
        };
        assert!(message(directory.path()).ends_with("is a directory; name a file in it"));
        let missing = message(&directory.path().join("no/out.csv"));
        assert!(missing.contains("there is no directory") && missing.contains("create it first"), "{missing}");
        assert!(message(Path::new("/dev/full")).starts_with("/dev/full: the disk is full; free some space"));
        assert!(names_in(directory.path()).is_empty());
    }
}
