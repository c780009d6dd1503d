//! Files compressed by gzip or Zstandard: `points.csv.gz`, `array.npy.zst`.
//!
//! The first bytes of an input show whether it is compressed; the name of an output decides. An input is decompressed into
//! memory, up to the memory limit: a few kilobytes can decompress to gigabytes.

use crate::format_error;
#[cfg(feature = "compressed")]
use crate::{SMALLER, gather::gathered, memory};
#[cfg(feature = "compressed")]
use eigenfold_linalg::error::bytes as shown_bytes;
use eigenfold_linalg::error::{Error, Result};
#[cfg(feature = "compressed")]
use std::io::ErrorKind;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The compression of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    /// The compression that the first bytes of a file show; a Zstandard file may begin with a frame to be skipped.
    pub(crate) fn of(head: &[u8]) -> Option<Compression> {
        match head {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zstd),
            _ => None,
        }
    }

    /// The compression that the last extension of a name requests, and the name without it.
    pub(crate) fn named(path: &Path) -> (Option<Compression>, PathBuf) {
        let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
        let compression = match extension.as_deref() {
            Some("gz") => Compression::Gzip,
            Some("zst") => Compression::Zstd,
            _ => return (None, path.into()),
        };
        (Some(compression), path.with_extension(""))
    }

    /// The program's name.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "Zstandard",
        }
    }
}

#[cfg(feature = "compressed")]
impl Compression {
    /// Decompresses all members or frames of a file, up to the memory limit.
    pub(crate) fn decompress(self, path: &Path, input: &mut dyn Read, limit: Option<u64>) -> Result<Vec<u8>> {
        let most = limit.unwrap_or_else(memory::available);
        let title = self.title();
        let gathered = match self {
            Compression::Gzip => gathered(&mut flate2::read::MultiGzDecoder::new(input), most),
            Compression::Zstd => zstd::stream::read::Decoder::new(input).and_then(|mut decoder| {
                // A frame names the window that it needs in memory: 8 MB is usual, 128 MB the most.
                decoder.window_log_max(most.max(1).ilog2().clamp(23, 27))?;
                gathered(&mut decoder, most)
            }),
        };
        match gathered {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => {
                let fact =
                    format!("is larger than the limit of {} when it is decompressed by {title}", shown_bytes(most));
                Err(format_error(path, fact, SMALLER))
            }
            Err(error) if error.kind() == ErrorKind::OutOfMemory => {
                let fact = format!("memory is too small to decompress it by {title}");
                Err(format_error(path, fact, SMALLER))
            }
            Err(error) => Err(self.fault(path, &error)),
        }
    }

    /// Compresses what `fill` writes; the same content gives the same bytes.
    pub(crate) fn compress(
        self,
        out: &mut dyn Write,
        fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        match self {
            Compression::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
                fill(&mut encoder)?;
                encoder.finish().map(|_| ())
            }
            Compression::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                encoder.include_checksum(true)?;
                fill(&mut encoder)?;
                encoder.finish().map(|_| ())
            }
        }
    }
}

/// What decompresses an input as it is read.
pub(crate) type Unpacked = Box<dyn Read + Send>;

#[cfg(feature = "compressed")]
impl Compression {
    /// Decompresses all members or frames of a file as they are read.
    pub(crate) fn reader(self, path: &Path, input: Unpacked) -> Result<Unpacked> {
        Ok(match self {
            Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(input)),
            Compression::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::new(input).map_err(|error| self.fault(path, &error))?;
                decoder.window_log_max(27).map_err(|error| self.fault(path, &error))?;
                Box::new(decoder)
            }
        })
    }

    /// The error of a file that cannot be decompressed.
    pub(crate) fn fault(self, path: &Path, error: &std::io::Error) -> Error {
        let reason = error.to_string().replace('\n', " ");
        let fact = format!("cannot be decompressed by {} ({reason})", self.title());
        format_error(path, fact, "it is damaged or cut short, get it again")
    }
}

#[cfg(not(feature = "compressed"))]
impl Compression {
    pub(crate) fn reader(self, path: &Path, _input: Unpacked) -> Result<Unpacked> {
        let (fact, way_out) = (format!("is compressed by {}, {}", self.title(), WITHOUT.0), WITHOUT.1);
        Err(format_error(path, fact, format!("{way_out}, or decompress it first")))
    }

    pub(crate) fn fault(self, path: &Path, error: &std::io::Error) -> Error {
        format_error(path, format!("cannot be decompressed by {} ({error})", self.title()), WITHOUT.1)
    }
}

#[cfg(not(feature = "compressed"))]
const WITHOUT: (&str, &str) = ("and this build does not include that", "build with `--features compressed`");

#[cfg(not(feature = "compressed"))]
impl Compression {
    pub(crate) fn decompress(self, path: &Path, _input: &mut dyn Read, _limit: Option<u64>) -> Result<Vec<u8>> {
        let (fact, way_out) = (format!("is compressed by {}, {}", self.title(), WITHOUT.0), WITHOUT.1);
        Err(format_error(path, fact, format!("{way_out}, or decompress it first")))
    }

    pub(crate) fn compress(
        self,
        _out: &mut dyn Write,
        _fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        Err(std::io::Error::other(format!("it would be compressed by {}, {}; {}", self.title(), WITHOUT.0, WITHOUT.1)))
    }
}

#[cfg(feature = "compressed")]
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn compressed(compression: Compression, content: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        compression.compress(&mut out, |out| out.write_all(content)).unwrap();
        out
    }

    fn decompressed(compression: Compression, packed: &[u8], limit: u64) -> std::result::Result<Vec<u8>, String> {
        compression.decompress(Path::new("a.gz"), &mut &packed[..], Some(limit)).map_err(|error| error.to_string())
    }

    #[test]
    fn several_members_are_one_file_and_whatever_is_broken_is_refused() {
        for compression in [Compression::Gzip, Compression::Zstd] {
            let (one, two) = (compressed(compression, b"1,2\n"), compressed(compression, b"3,4\n"));
            assert_eq!(Compression::of(&one), Some(compression));
            let both = [one.clone(), two.clone()].concat();
            assert_eq!(decompressed(compression, &both, 1000).unwrap(), b"1,2\n3,4\n");
            assert_eq!(one, compressed(compression, b"1,2\n"));
            for length in 1..both.len() {
                let cut = decompressed(compression, &both[..length], 1000);
                assert!(cut.is_err() || length == one.len(), "{compression:?} cut after {length} bytes");
            }
            for garbage in [&b"x"[..], b"more", b"1,2\n3,4\n5,6\n"] {
                let message = decompressed(compression, &[&one[..], garbage].concat(), 1000).unwrap_err();
                assert!(message.starts_with("a.gz: cannot be decompressed by "), "{message}");
            }
            let mut damaged = compressed(compression, &[b'7'; 1000]);
            let at = damaged.len() - 5;
            damaged[at] ^= 1;
            assert!(decompressed(compression, &damaged, 10_000).is_err());
        }
    }

    #[test]
    fn a_bomb_is_refused_when_the_limit_is_reached() {
        for compression in [Compression::Gzip, Compression::Zstd] {
            let bomb = compressed(compression, &vec![b'0'; 30_000_000]);
            assert!(bomb.len() < 60_000);
            let message = decompressed(compression, &bomb, 1_000_000).unwrap_err();
            assert!(message.contains("is larger than the limit of 1 MB when it is decompressed by "), "{message}");
        }
    }

    #[test]
    fn names_choose_the_compression_of_outputs() {
        let named = |name: &str| {
            let (compression, stem) = Compression::named(Path::new(name));
            (compression, stem.to_str().unwrap().to_string())
        };
        assert_eq!(named("a/b.csv.GZ"), (Some(Compression::Gzip), "a/b.csv".into()));
        assert_eq!(named("b.npy.zst"), (Some(Compression::Zstd), "b.npy".into()));
        assert_eq!(named("b.csv"), (None, "b.csv".into()));
    }
}
