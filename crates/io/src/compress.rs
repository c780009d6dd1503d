//! Files that are packed by gzip or Zstandard: `points.csv.gz`, `array.npy.zst`.
//!
//! Whether a file is packed is known by its first bytes; its name says so for outputs. What is unpacked is held in memory,
//! and no more of it than the limit allows: a few kilobytes can be unpacked to gigabytes.

use crate::format_error;
#[cfg(feature = "compressed")]
use crate::{SMALLER, gather::gathered, memory};
use eigenfold_linalg::error::Result;
#[cfg(feature = "compressed")]
use eigenfold_linalg::error::bytes as shown_bytes;
#[cfg(feature = "compressed")]
use std::io::ErrorKind;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// What a file is packed by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    /// What the first bytes of a file say; a Zstandard file may begin with a frame to be skipped.
    pub(crate) fn of(head: &[u8]) -> Option<Packing> {
        match head {
            [0x1f, 0x8b, ..] => Some(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Packing::Zstd),
            _ => None,
        }
    }

    /// What the last extension of a name says, and the name without it.
    pub(crate) fn named(path: &Path) -> (Option<Packing>, PathBuf) {
        let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
        let packing = match extension.as_deref() {
            Some("gz") => Packing::Gzip,
            Some("zst") => Packing::Zstd,
            _ => return (None, path.into()),
        };
        (Some(packing), path.with_extension(""))
    }

    /// The program's name.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "Zstandard",
        }
    }
}

#[cfg(feature = "compressed")]
impl Packing {
    /// What was packed, all members or frames of it, if there is room.
    pub(crate) fn unpacked(self, path: &Path, packed: &mut dyn Read, limit: Option<u64>) -> Result<Vec<u8>> {
        let most = limit.unwrap_or_else(memory::available);
        let title = self.title();
        let gathered = match self {
            Packing::Gzip => gathered(&mut flate2::read::MultiGzDecoder::new(packed), most),
            Packing::Zstd => zstd::stream::read::Decoder::new(packed).and_then(|mut decoder| {
                // A frame says how far it looks back, and that much is held: 8 MB is usual, 128 MB the most.
                decoder.window_log_max(most.max(1).ilog2().clamp(23, 27))?;
                gathered(&mut decoder, most)
            }),
        };
        match gathered {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => {
                let fact = format!("is larger than the limit of {} when it is unpacked by {title}", shown_bytes(most));
                Err(format_error(path, format!("{fact}; {SMALLER}")))
            }
            Err(error) if error.kind() == ErrorKind::OutOfMemory => {
                let fact = format!("there is no room for what {title} unpacks of it");
                Err(format_error(path, format!("{fact}; {SMALLER}")))
            }
            Err(error) => {
                let reason = error.to_string().replace('\n', " ");
                let fact = format!("cannot be unpacked by {title} ({reason})");
                Err(format_error(path, format!("{fact}; it is damaged or cut short, get it again")))
            }
        }
    }

    /// Packs what `fill` writes; the same bytes for the same content.
    pub(crate) fn pack(
        self,
        out: &mut dyn Write,
        fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        match self {
            Packing::Gzip => {
                let mut packer = flate2::write::GzEncoder::new(out, flate2::Compression::default());
                fill(&mut packer)?;
                packer.finish().map(|_| ())
            }
            Packing::Zstd => {
                let mut packer = zstd::stream::write::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                packer.include_checksum(true)?;
                fill(&mut packer)?;
                packer.finish().map(|_| ())
            }
        }
    }
}

#[cfg(not(feature = "compressed"))]
const WITHOUT: &str = "and this build does not include that; build with `--features compressed`";

#[cfg(not(feature = "compressed"))]
impl Packing {
    pub(crate) fn unpacked(self, path: &Path, _packed: &mut dyn Read, _limit: Option<u64>) -> Result<Vec<u8>> {
        Err(format_error(path, format!("is compressed by {}, {WITHOUT}, or unpack it first", self.title())))
    }

    pub(crate) fn pack(
        self,
        _out: &mut dyn Write,
        _fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        Err(std::io::Error::other(format!("it would be compressed by {}, {WITHOUT}", self.title())))
    }
}

#[cfg(feature = "compressed")]
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn packed(packing: Packing, content: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        packing.pack(&mut out, |out| out.write_all(content)).unwrap();
        out
    }

    fn unpacked(packing: Packing, packed: &[u8], limit: u64) -> std::result::Result<Vec<u8>, String> {
        packing.unpacked(Path::new("a.gz"), &mut &packed[..], Some(limit)).map_err(|error| error.to_string())
    }

    #[test]
    fn several_members_are_one_file_and_whatever_is_broken_is_refused() {
        for packing in [Packing::Gzip, Packing::Zstd] {
            let (one, two) = (packed(packing, b"1,2\n"), packed(packing, b"3,4\n"));
            assert_eq!(Packing::of(&one), Some(packing));
            let both = [one.clone(), two.clone()].concat();
            assert_eq!(unpacked(packing, &both, 1000).unwrap(), b"1,2\n3,4\n");
            assert_eq!(one, packed(packing, b"1,2\n"));
            for length in 1..both.len() {
                let cut = unpacked(packing, &both[..length], 1000);
                assert!(cut.is_err() || length == one.len(), "{packing:?} cut after {length} bytes");
            }
            for garbage in [&b"x"[..], b"more", b"1,2\n3,4\n5,6\n"] {
                let message = unpacked(packing, &[&one[..], garbage].concat(), 1000).unwrap_err();
                assert!(message.starts_with("a.gz: cannot be unpacked by "), "{message}");
            }
            let mut damaged = packed(packing, &[b'7'; 1000]);
            let at = damaged.len() - 5;
            damaged[at] ^= 1;
            assert!(unpacked(packing, &damaged, 10_000).is_err());
        }
    }

    #[test]
    fn a_bomb_is_refused_when_the_limit_is_reached() {
        for packing in [Packing::Gzip, Packing::Zstd] {
            let bomb = packed(packing, &vec![b'0'; 30_000_000]);
            assert!(bomb.len() < 60_000);
            let message = unpacked(packing, &bomb, 1_000_000).unwrap_err();
            assert!(message.contains("is larger than the limit of 1 MB when it is unpacked by "), "{message}");
        }
    }

    #[test]
    fn names_say_what_outputs_are_packed_by() {
        let named = |name: &str| {
            let (packing, stem) = Packing::named(Path::new(name));
            (packing, stem.to_str().unwrap().to_string())
        };
        assert_eq!(named("a/b.csv.GZ"), (Some(Packing::Gzip), "a/b.csv".into()));
        assert_eq!(named("b.npy.zst"), (Some(Packing::Zstd), "b.npy".into()));
        assert_eq!(named("b.csv"), (None, "b.csv".into()));
    }
}
