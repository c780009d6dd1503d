//! All files of one command, or none.
//!
//! Every output is tried before the work starts ([`check`]), written under a temporary name in its own
//! directory when it is ready ([`Outputs::stage`]), and all are renamed at the end ([`Outputs::commit`]). Standard
//! output and devices cannot be renamed: they are written first of all at the end, when everything else has succeeded.

use eigenfold::error::{Error, Result};
use eigenfold::io::write_error;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Writes one output to the name it is given.
type Writer<'a> = Box<dyn FnOnce(&str) -> Result<()> + 'a>;

/// Writes something small of the right kind, to see whether a name and its place will do.
pub(crate) type Trial = fn(&str) -> Result<()>;

/// The outputs of one command.
#[derive(Default)]
pub(crate) struct Outputs<'a> {
    staged: Vec<Staged>,
    direct: Vec<(String, Writer<'a>)>,
}

/// An output that is complete but has not got its name yet.
struct Staged {
    place: PathBuf,
    temporary: PathBuf,
    /// Holds the temporary file, and removes what is left of it.
    _directory: TempDir,
}

/// One output as it was asked for.
pub(crate) struct Wanted<'a> {
    /// The flag that named it.
    pub(crate) flag: &'static str,
    /// The name.
    pub(crate) target: &'a str,
    /// How to try it.
    pub(crate) trial: Trial,
}

/// Makes sure that the outputs can be written and are different files from each other and from the inputs.
pub(crate) fn check(inputs: &[&str], wanted: &[Wanted]) -> Result<()> {
    for (i, output) in wanted.iter().enumerate() {
        let same = |other: &str| place_of(other).is_some() && place_of(other) == place_of(output.target);
        if let Some(other) = wanted[..i].iter().find(|o| o.target == output.target || same(o.target)) {
            let what = if output.target == "-" { "standard output" } else { output.target };
            return Err(Error::Parameter(format!(
                "{what} is asked for by both {} and {}; give each its own file",
                other.flag, output.flag
            )));
        }
        if inputs.iter().any(|input| same(input)) {
            return Err(Error::Parameter(format!(
                "{} {} would replace the input; choose another name",
                output.flag, output.target
            )));
        }
        if let Some(place) = place_of(output.target) {
            Staged::written(output.target, &place, output.trial)?;
        }
    }
    Ok(())
}

impl<'a> Outputs<'a> {
    /// Writes one output under a temporary name, or keeps it for the end if it is standard output or a device.
    pub(crate) fn stage(&mut self, target: &str, write: impl FnOnce(&str) -> Result<()> + 'a) -> Result<()> {
        match place_of(target) {
            Some(place) => self.staged.push(Staged::written(target, &place, write)?),
            None => self.direct.push((target.to_string(), Box::new(write))),
        }
        Ok(())
    }

    /// Gives every output its name.
    pub(crate) fn commit(self) -> Result<()> {
        for (target, write) in self.direct {
            match write(&target) {
                // Whoever reads our output has seen enough of it.
                Err(Error::Io { source, .. }) if source.kind() == ErrorKind::BrokenPipe => {}
                result => result?,
            }
        }
        for staged in &self.staged {
            std::fs::rename(&staged.temporary, &staged.place).map_err(|source| write_error(&staged.place, source))?;
        }
        Ok(())
    }
}

impl Staged {
    fn written(target: &str, place: &Path, write: impl FnOnce(&str) -> Result<()>) -> Result<Staged> {
        let existing = std::fs::metadata(place).ok();
        if existing.as_ref().is_some_and(|m| m.is_dir()) {
            return Err(write_error(target, ErrorKind::IsADirectory.into()));
        }
        if existing.as_ref().is_some_and(|m| m.permissions().readonly()) {
            return Err(write_error(target, ErrorKind::PermissionDenied.into()));
        }
        let parent = place.parent().unwrap_or(Path::new("."));
        let directory = tempfile::Builder::new()
            .prefix(".eigenfold-")
            .tempdir_in(parent)
            .map_err(|source| write_error(target, source))?;
        let temporary = directory.path().join(place.file_name().unwrap_or_default());
        let name = temporary.to_str().ok_or_else(|| Error::Parameter(not_unicode(target)))?;
        write(name).map_err(|error| renamed(error, target))?;
        if let Some(metadata) = existing {
            let kept = std::fs::set_permissions(&temporary, metadata.permissions());
            kept.map_err(|source| write_error(target, source))?;
        }
        Ok(Staged { place: place.to_path_buf(), temporary, _directory: directory })
    }
}

fn not_unicode(target: &str) -> String {
    format!("{target}: the directory's name is not Unicode; write to another one")
}

/// The file that `target` names, links followed; nothing for standard output, devices and pipes.
fn place_of(target: &str) -> Option<PathBuf> {
    let path = Path::new(target);
    if target == "-" || path.starts_with("/dev") || path.starts_with("/proc") {
        return None;
    }
    if let Ok(place) = std::fs::canonicalize(path) {
        let special = std::fs::metadata(&place).is_ok_and(|m| !m.is_file() && !m.is_dir());
        return (!special).then_some(place);
    }
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let parent = std::fs::canonicalize(parent).unwrap_or_else(|_| parent.to_path_buf());
    Some(parent.join(path.file_name().unwrap_or_default()))
}

/// The same error about the name that the user knows.
fn renamed(error: Error, target: &str) -> Error {
    match error {
        Error::Format { message, .. } => Error::Format { path: target.into(), message },
        Error::Io { source, .. } => Error::Io { path: target.into(), source },
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn save(name: &str) -> Result<()> {
        std::fs::write(name, "new").map_err(|source| write_error(name, source))
    }

    #[test]
    fn nothing_appears_before_all_are_ready() {
        let directory = tempfile::tempdir().unwrap();
        let name = |file: &str| directory.path().join(file).to_str().unwrap().to_string();
        let mut outputs = Outputs::default();
        outputs.stage(&name("a"), save).unwrap();
        assert!(!Path::new(&name("a")).exists());
        assert!(outputs.stage(&name("b"), |_| Err(Error::Stopped)).is_err());
        drop(outputs);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        let mut outputs = Outputs::default();
        outputs.stage(&name("a"), save).unwrap();
        outputs.stage(&name("b"), save).unwrap();
        outputs.commit().unwrap();
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
    }

    #[test]
    fn one_file_cannot_be_two_outputs_or_an_input() {
        let directory = tempfile::tempdir().unwrap();
        let a = directory.path().join("a").to_str().unwrap().to_string();
        let dotted = directory.path().join("./a").to_str().unwrap().to_string();
        let both =
            [Wanted { flag: "-o", target: &a, trial: save }, Wanted { flag: "--json", target: &dotted, trial: save }];
        let message = check(&[], &both).unwrap_err().to_string();
        assert!(message.contains("asked for by both -o and --json"), "{message}");
        std::fs::write(&a, "old").unwrap();
        assert!(check(&[&dotted], &both[..1]).is_err());
        assert_eq!(std::fs::read_to_string(&a).unwrap(), "old");
    }
}
