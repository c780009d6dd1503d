//! Opens an input: its bytes, and their format.
//!
//! The extension decides the format, in any case of letters; without one the first bytes do. The first bytes
//! alone show whether a file is compressed. Pipes and compressed files are read into memory as a whole, since most formats
//! are not read from front to back.

use crate::compress::{Compression, Unpacked};
use crate::gather::gathered;
use crate::text::dialect;
use crate::{Format, SMALLER, by_extension, contents, format_error, is_standard, open, read_error};
use eigenfold_linalg::error::{Error, Result, bytes as shown_bytes};
use eigenfold_linalg::memory;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of bytes that format detection reads.
const HEAD: u64 = 8192;

/// The first bytes of an Arrow file, of a stream, and of Feather's first version, which was another format.
pub(super) const ARROW: &[u8] = b"ARROW1";
pub(super) const ARROW_STREAM: &[u8] = &[0xff; 4];
pub(super) const FEATHER_1: &[u8] = b"FEA1";

/// An input.
pub(super) struct Source {
    /// As messages name it.
    pub(super) path: PathBuf,
    pub(super) format: Format,
    pub(super) content: Content,
}

/// Where the bytes of an input are.
pub(super) enum Content {
    /// In a file of this length, from whose start it is read.
    File(File, u64),
    /// In memory.
    Bytes(Vec<u8>),
}

/// `x.npz:name` as the archive and the array in it; any other name as it is.
pub(super) fn array_in(path: &Path) -> (&Path, Option<&str>) {
    match path.to_str().and_then(|name| Some((name, name.rfind(".npz:")?))) {
        Some((name, at)) if !path.exists() => (Path::new(&name[..at + 4]), Some(&name[at + 5..])),
        _ => (path, None),
    }
}

/// A reader that can seek.
pub(super) trait Place: Read + Seek + Send {}

impl<T: Read + Seek + Send> Place for T {}

impl Source {
    /// Opens a file, or standard input (`-`).
    pub(super) fn open(name: &Path, memory: Option<u64>) -> Result<Source> {
        let standard = is_standard(name);
        let path = if standard { Path::new("standard input") } else { name };
        let mut content = if standard {
            Content::Bytes(contents(path, std::io::stdin().lock(), 0, memory)?)
        } else {
            let mut file = open(path)?;
            let length = file.metadata().map_err(|error| read_error(path, error))?.len();
            match file.seek(SeekFrom::Start(0)) {
                Ok(_) => Content::File(file, length),
                // A pipe cannot be rewound.
                Err(_) => Content::Bytes(contents(path, file, 0, memory)?),
            }
        };
        let mut head = content.head(path)?;
        let (named, stem) = Compression::named(path);
        if let Some(compression) = Compression::of(&head) {
            content = Content::Bytes(match content {
                Content::File(mut file, _) => compression.decompress(path, &mut file, memory)?,
                Content::Bytes(bytes) => compression.decompress(path, &mut &bytes[..], memory)?,
            });
            head = content.head(path)?;
        } else if let Some(compression) = named {
            let fact = format!("has the extension of {} but is not compressed by it", compression.title());
            return Err(format_error(path, fact, "give it its right name"));
        }
        let format = match by_extension(&stem) {
            Some(format) if !standard => format,
            _ => by_first_bytes(path, &head)?,
        };
        Ok(Source { path: path.into(), format, content })
    }
}

/// An input that is read from front to back.
pub(super) struct Stream {
    /// As messages name it.
    pub(super) path: PathBuf,
    pub(super) format: Format,
    /// Its bytes from the start, decompressed.
    pub(super) reader: Reader,
    /// The file and its length, if it can be read in any order and is not compressed.
    pub(super) file: Option<(File, u64)>,
}

/// Reads an input from front to back, and counts the bytes that were read of the file.
pub(super) struct Reader {
    inner: Unpacked,
    path: PathBuf,
    compression: Option<Compression>,
    passed: Arc<AtomicU64>,
    /// The length of the file, if it has one.
    length: Option<u64>,
}

impl Stream {
    /// Opens a file, or standard input (`-`).
    pub(super) fn open(name: &Path) -> Result<Stream> {
        let standard = is_standard(name);
        let path = if standard { Path::new("standard input") } else { name };
        let fail = |error| read_error(path, error);
        let (mut raw, file): (Unpacked, _) = match standard {
            true => (Box::new(std::io::stdin()), None),
            false => {
                let mut file = open(path)?;
                let length = file.metadata().map_err(fail)?.len();
                // A pipe cannot be rewound; some files of the system have no length.
                let seekable = file.seek(SeekFrom::Start(0)).is_ok() && length > 0;
                let other = file.try_clone().map_err(fail)?;
                (Box::new(file), seekable.then_some((other, length)))
            }
        };
        let mut head = Vec::new();
        (&mut raw).take(HEAD).read_to_end(&mut head).map_err(fail)?;
        let passed = Arc::new(AtomicU64::new(0));
        let (named, stem) = Compression::named(path);
        let compression = Compression::of(&head);
        if let Some(compression) = named.filter(|_| compression.is_none()) {
            let fact = format!("has the extension of {} but is not compressed by it", compression.title());
            return Err(format_error(path, fact, "give it its right name"));
        }
        let counted = Counted { inner: std::io::Cursor::new(head.clone()).chain(raw), passed: Arc::clone(&passed) };
        let mut inner: Unpacked = Box::new(counted);
        if let Some(compression) = compression {
            inner = compression.reader(path, inner)?;
            head.clear();
            (&mut inner).take(HEAD).read_to_end(&mut head).map_err(|error| compression.fault(path, &error))?;
            inner = Box::new(std::io::Cursor::new(head.clone()).chain(inner));
        }
        let format = match by_extension(&stem) {
            Some(format) if !standard => format,
            _ => by_first_bytes(path, &head)?,
        };
        let length = file.as_ref().map(|(_, length)| *length);
        let reader = Reader { inner, path: path.into(), compression, passed, length };
        Ok(Stream { path: path.into(), format, reader, file: file.filter(|_| compression.is_none()) })
    }
}

impl Reader {
    /// Reads up to this many bytes; fewer only at the end.
    pub(super) fn take_up_to(&mut self, count: usize, into: &mut Vec<u8>) -> Result<usize> {
        let read = (&mut self.inner).take(count as u64).read_to_end(into);
        read.map_err(|error| self.fault(error))
    }

    /// The same, with bytes that were read already.
    pub(super) fn after(self, bytes: Vec<u8>) -> Reader {
        Reader { inner: Box::new(std::io::Cursor::new(bytes).chain(self.inner)), ..self }
    }

    /// All that is left, up to the memory limit.
    pub(super) fn rest(mut self, memory: Option<u64>) -> Result<Vec<u8>> {
        let most = memory.unwrap_or_else(memory::available);
        match gathered(&mut self.inner, most) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => {
                let fact = format!("is larger than the limit of {}", shown_bytes(most));
                Err(format_error(&self.path, fact, SMALLER))
            }
            Err(error) => Err(self.fault(error)),
        }
    }

    fn fault(&self, error: std::io::Error) -> Error {
        match self.compression {
            Some(compression) => compression.fault(&self.path, &error),
            None => read_error(&self.path, error),
        }
    }

    /// How much of the file was read, if that is known.
    pub(super) fn fraction(&self) -> Option<f64> {
        Some(self.passed.load(Ordering::Relaxed) as f64 / self.length? as f64)
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.inner.read(buffer)
    }
}

/// Counts the bytes that are read.
struct Counted<R> {
    inner: R,
    passed: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.passed.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// The format that the first bytes show; text has none of its own.
fn by_first_bytes(path: &Path, head: &[u8]) -> Result<Format> {
    if head.starts_with(crate::npy::header::MAGIC) {
        Ok(Format::Npy)
    } else if head.starts_with(b"PAR1") {
        Ok(Format::Parquet)
    } else if head.starts_with(b"PK\x03\x04") {
        Ok(Format::Npz)
    } else if [ARROW, ARROW_STREAM, FEATHER_1].iter().any(|mark| head.starts_with(mark)) {
        Ok(Format::Arrow)
    } else {
        dialect::check_text(path, head)?;
        Ok(Format::Text(None))
    }
}

impl Content {
    /// The first bytes; reading goes on from the start.
    fn head(&mut self, path: &Path) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        match self {
            Content::Bytes(bytes) => head.extend(bytes.iter().take(HEAD as usize)),
            Content::File(file, _) => {
                file.take(HEAD).read_to_end(&mut head).map_err(|error| read_error(path, error))?;
                file.seek(SeekFrom::Start(0)).map_err(|error| read_error(path, error))?;
            }
        }
        Ok(head)
    }

    /// The number of bytes.
    pub(super) fn len(&self) -> u64 {
        match self {
            Content::File(_, length) => *length,
            Content::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// How many of them are in memory already.
    pub(super) fn in_memory(&self) -> u64 {
        match self {
            Content::File(..) => 0,
            Content::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// All bytes, in memory.
    pub(super) fn bytes(self, path: &Path, memory: Option<u64>) -> Result<Vec<u8>> {
        match self {
            Content::File(file, length) => contents(path, file, length, memory),
            Content::Bytes(bytes) => Ok(bytes),
        }
    }

    /// The bytes to be read in any order.
    pub(super) fn place(self) -> Box<dyn Place> {
        match self {
            Content::File(file, _) => Box::new(file),
            Content::Bytes(bytes) => Box::new(std::io::Cursor::new(bytes)),
        }
    }
}
