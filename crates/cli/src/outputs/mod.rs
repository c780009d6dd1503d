//! Writes all output files of a command, or none.
//!
//! Every output is tried before the work starts ([`check`]), written to a temporary file in the same directory when it is
//! ready ([`Outputs::stage`]), and all are renamed at the end ([`Outputs::commit`]), in two phases: first the old files get
//! a second name, then the new ones are renamed. If one rename fails, those before it are undone. Standard output, devices
//! and pipes cannot be undone: they are written before the first rename, when everything else has succeeded.

mod scratch;
mod swap;
mod system;

use crate::progress;
use eigenfold::{
    Error, Points, Result, io,
    io::{Carried, Target, check_replaceable, keep_owner_and_permissions, write_error},
};
use scratch::Scratch;
use std::fs::{File, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Writes one output to the name it is given.
type Writer<'a> = Box<dyn FnOnce(&Path) -> Result<()> + 'a>;

/// Writes a small file of the right format, to see whether the name and the directory can be used.
pub(crate) type Trial = fn(&Path) -> Result<()>;

/// The outputs of one command.
#[derive(Default)]
pub(crate) struct Outputs<'a> {
    staged: Vec<Staged>,
    direct: Vec<(PathBuf, Writer<'a>)>,
}

/// An output that is complete but does not have its final name yet.
struct Staged {
    /// The final name.
    place: PathBuf,
    temporary: PathBuf,
    /// The directory of the temporary file, removed with this value.
    scratch: Scratch,
}

/// One requested output.
pub(crate) struct Wanted<'a> {
    /// The flag that named it.
    pub(crate) flag: &'static str,
    /// The name.
    pub(crate) target: &'a Path,
    /// Tries to write it.
    pub(crate) trial: Trial,
}

/// The name of a flag without its dashes, as an error has it.
fn named(flag: &'static str) -> &'static str {
    if flag == "-o" { "output" } else { flag.trim_start_matches('-') }
}

/// Makes sure that the outputs can be written and are different files from each other and from the inputs.
pub(crate) fn check(inputs: &[&Path], wanted: &[Wanted]) -> Result<()> {
    let targets = wanted.iter().map(|output| Target::of(output.target)).collect::<Result<Vec<Target>>>()?;
    // Standard input may be a file too.
    let standard = |input: &&Path| *input == Path::new("-");
    let read = |input: &&Path| Target::of(if standard(input) { Path::new("/dev/stdin") } else { input }).ok();
    let read: Vec<Target> = inputs.iter().filter_map(read).collect();
    let same = |one: &Target, other: &Target| one == other || (one.file().is_some() && one.file() == other.file());
    for (i, output) in wanted.iter().enumerate() {
        if let Some(at) = (0..i).find(|&at| same(&targets[at], &targets[i])) {
            let what = if targets[i] == Target::Open(1) {
                "standard output".into()
            } else {
                output.target.display().to_string()
            };
            return Err(Error::parameter(
                named(output.flag),
                format!("{what} is requested by both {} and {}", wanted[at].flag, output.flag),
                "give each its own file",
            ));
        }
        if read.iter().any(|input| same(input, &targets[i])) {
            return Err(Error::parameter(
                named(output.flag),
                format!("{} {} would replace the input", output.flag, output.target.display()),
                "choose another name",
            ));
        }
        if let Target::File(place) = &targets[i] {
            Staged::written(output.target, place, output.trial)?;
        }
    }
    Ok(())
}

/// Removes all temporary files, because the program is about to end; false if all outputs have their final names. Waits for
/// renames that are under way.
pub(crate) fn abandon() -> bool {
    let unfinished = swap::stop();
    scratch::abandon();
    unfinished
}

impl<'a> Outputs<'a> {
    /// Writes one output to a temporary file, or keeps it for the end if it is standard output or a device.
    pub(crate) fn stage(
        &mut self,
        target: impl AsRef<Path>,
        write: impl FnOnce(&Path) -> Result<()> + 'a,
    ) -> Result<()> {
        let target = target.as_ref();
        match Target::of(target)? {
            Target::File(place) => self.staged.push(Staged::written(target, &place, write)?),
            Target::Open(_) | Target::Special(_) => self.direct.push((target.to_path_buf(), Box::new(write))),
        }
        Ok(())
    }

    /// Adds an output that was written batch by batch and is complete.
    pub(crate) fn finish(&mut self, stream: Streamed) -> Result<()> {
        let Streamed { target, writer, begun, closed } = stream;
        if closed {
            return Ok(());
        }
        let finished = writer.finish();
        match (begun, finished) {
            (None, Err(Error::Io { source, .. })) if source.kind() == ErrorKind::BrokenPipe => {}
            (None, finished) => finished?,
            (Some(begun), finished) => {
                finished.map_err(|error| renamed(error, &target))?;
                self.staged.push(begun.end(&target)?);
            }
        }
        Ok(())
    }

    /// Gives all outputs their final names, or none.
    pub(crate) fn commit(self) -> Result<()> {
        for (target, write) in self.direct {
            match write(&target) {
                // The reader of the pipe has closed it.
                Err(Error::Io { source, .. }) if source.kind() == ErrorKind::BrokenPipe => {}
                result => result?,
            }
        }
        swap::all(self.staged)
    }
}

impl Staged {
    fn written(target: &Path, place: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<Staged> {
        let begun = Begun::beside(target, place)?;
        write(&begun.temporary).map_err(|error| renamed(error, target))?;
        begun.end(target)
    }
}

/// A file that is being written under a temporary name.
struct Begun {
    place: PathBuf,
    temporary: PathBuf,
    scratch: Scratch,
    /// What it replaces.
    existing: Option<Metadata>,
}

impl Begun {
    fn beside(target: &Path, place: &Path) -> Result<Begun> {
        let fail = |source| if scratch::is_leaving(&source) { Error::Stopped } else { write_error(target, source) };
        let existing = std::fs::metadata(place).ok();
        check_replaceable(place, existing.as_ref()).map_err(fail)?;
        let parent = place.parent().unwrap_or(Path::new("."));
        let scratch = Scratch::beside(place).map_err(fail)?;
        if existing.as_ref().is_some_and(|existing| is_stuck(existing, parent, scratch.path())) {
            return Err(fail(ErrorKind::PermissionDenied.into()));
        }
        let temporary = scratch.path().join(place.file_name().unwrap_or_default());
        Ok(Begun { place: place.to_path_buf(), temporary, scratch, existing })
    }

    fn end(self, target: &Path) -> Result<Staged> {
        let fail = |source| if scratch::is_leaving(&source) { Error::Stopped } else { write_error(target, source) };
        let Begun { place, temporary, scratch, existing } = self;
        if let Some(existing) = &existing {
            system::call(|| keep_owner_and_permissions(&File::open(&temporary)?, existing)).map_err(fail)?;
        }
        Ok(Staged { place, temporary, scratch })
    }
}

/// An output that is written batch by batch: a file under a temporary name, a pipe or a device directly.
pub(crate) struct Streamed {
    target: PathBuf,
    writer: io::Writer,
    begun: Option<Begun>,
    /// Whether the reader of a pipe has closed it.
    closed: bool,
}

impl Streamed {
    /// Opens an output for points of these columns; `rows` is their number, if it is known.
    pub(crate) fn open(target: &Path, columns: &[String], carries: bool, rows: Option<usize>) -> Result<Streamed> {
        let begun = match Target::of(target)? {
            Target::File(place) => Some(Begun::beside(target, &place)?),
            Target::Open(_) | Target::Special(_) => None,
        };
        let name = begun.as_ref().map_or(target, |begun| &begun.temporary);
        let writer = io::Writer::open(name, columns, carries, rows).map_err(|error| renamed(error, target))?;
        Ok(Streamed { target: target.into(), writer, begun, closed: false })
    }

    /// Writes further rows, all of them or, to a pipe that is closed, none.
    pub(crate) fn write(&mut self, points: &Points, carried: &[Carried]) -> Result<()> {
        if self.closed {
            return Ok(());
        }
        match self.writer.write(points, carried) {
            Err(Error::Io { source, .. }) if self.begun.is_none() && source.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            result => result.map_err(|error| renamed(error, &self.target)),
        }
    }

    /// Whether nobody reads what is written.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }
}

/// Whether a file belongs to another user in a directory where only owners may replace files (the sticky bit, as in /tmp).
fn is_stuck(file: &Metadata, parent: &Path, own: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let (Ok(parent), Ok(own)) = (std::fs::metadata(parent), std::fs::metadata(own)) else { return false };
        let me = own.uid();
        parent.mode() & 0o1000 != 0 && me != 0 && file.uid() != me && parent.uid() != me
    }
    #[cfg(not(unix))]
    false
}

/// The same error with the final name, which the user knows.
fn renamed(error: Error, target: &Path) -> Error {
    match error {
        error @ Error::Format { .. } => error.in_file(target),
        // A temporary file that vanished was removed because of a signal.
        Error::Io { .. } if progress::is_leaving() => Error::Stopped,
        Error::Io { source, .. } => Error::Io { path: target.into(), source },
        error => error,
    }
}

#[cfg(test)]
mod tests;
