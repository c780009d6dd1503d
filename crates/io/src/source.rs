//! Opens an input: its bytes, and their format.
//!
//! The extension decides the format, in any case of letters; without one the first bytes do. The first bytes
//! alone show whether a file is compressed. Pipes and compressed files are read into memory as a whole, since most formats
//! are not read from front to back.

use crate::compress::Compression;
use crate::text::dialect;
use crate::{Format, by_extension, contents, format_error, is_standard, open, read_error};
use eigenfold_linalg::error::Result;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

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
