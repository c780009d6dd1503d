//! Writing a file whole or not at all.
//!
//! The bytes go to a temporary file in the same directory, which is renamed when it is complete and removed when
//! anything fails. Devices and pipes cannot be renamed over: they are written directly.

use crate::error::{Error, Result};
use std::fs::{Metadata, OpenOptions};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Enough that the system call's cost does not show.
const BUFFER: usize = 1 << 18;

/// Writes a file through `fill`, so that the file is complete or is not there; `-` is standard output.
///
/// A file that exists keeps its permissions and is replaced only after `fill` succeeded. Devices, pipes and the
/// program's own open files (`/dev/stdout`, `/dev/fd/3`) are written directly.
///
/// # Errors
///
/// The error of `fill`, or the system's refusal; in both cases nothing is left behind.
pub fn write_bytes_atomically(path: impl AsRef<Path>, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let path = path.as_ref();
    let fail = |source| write_error(path, source);
    if path.as_os_str() == "-" {
        return fill_and_flush(path, std::io::stdout().lock(), fill);
    }
    let existing = std::fs::metadata(path).ok();
    if existing.as_ref().is_some_and(Metadata::is_dir) {
        return Err(fail(ErrorKind::IsADirectory.into()));
    }
    // These are the program's own open files, even where they lead to a regular one.
    let own = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"].iter().any(|prefix| path.starts_with(prefix));
    if own || existing.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        let file = OpenOptions::new().write(true).open(path).map_err(fail)?;
        return fill_and_flush(path, file, fill);
    }
    if existing.as_ref().is_some_and(|metadata| metadata.permissions().readonly()) {
        return Err(fail(ErrorKind::PermissionDenied.into()));
    }
    // A link stays a link: what it points to is replaced.
    let place = std::fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    let temporary = temporary_beside(&place, existing.as_ref()).map_err(fail)?;
    fill_and_flush(path, temporary.as_file(), fill)?;
    temporary.persist(&place).map_err(|error| fail(error.error))?;
    Ok(())
}

/// The error of a failed write to `path`: what the system says, and the way out where there is a common one.
///
/// For the closures of [`write_bytes_atomically`].
pub fn write_error(path: impl AsRef<Path>, source: std::io::Error) -> Error {
    let path = path.as_ref();
    let message = match source.kind() {
        ErrorKind::StorageFull => "the disk is full; free some space or write elsewhere".into(),
        ErrorKind::IsADirectory => "is a directory; name a file in it".into(),
        ErrorKind::PermissionDenied => "writing is not permitted; change the permissions or write elsewhere".into(),
        ErrorKind::NotFound | ErrorKind::NotADirectory => match path.parent() {
            Some(parent) if !parent.is_dir() && parent != Path::new("") => {
                format!("there is no directory {}; create it first or write elsewhere", parent.display())
            }
            _ => source.to_string(),
        },
        _ => source.to_string(),
    };
    let path = if path.as_os_str() == "-" { "standard output".into() } else { path.into() };
    Error::Io { path, source: std::io::Error::new(source.kind(), message) }
}

/// A new file in the directory of `place`, with the permissions that `place` has or would have.
fn temporary_beside(place: &Path, existing: Option<&Metadata>) -> std::io::Result<tempfile::NamedTempFile> {
    let parent = place.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".eigenfold-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The system takes the user's mask off, as for any new file.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let temporary = builder.tempfile_in(parent)?;
    if let Some(metadata) = existing {
        temporary.as_file().set_permissions(metadata.permissions())?;
    }
    Ok(temporary)
}

fn fill_and_flush(path: &Path, out: impl Write, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut out = BufWriter::with_capacity(BUFFER, out);
    fill(&mut out)?;
    out.flush().map_err(|source| write_error(path, source))
}

#[cfg(test)]
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
