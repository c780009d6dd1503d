//! Zip archives, as far as NumPy writes them: files that are stored or deflated, found by the central directory.
//!
//! ```text
//! [local header, name, extra, data] ...  [central header, name, extra, comment] ...  end: counts, size and place
//! ```
//!
//! What the archive claims is checked before it is believed: every file lies within the archive, is no larger than deflate
//! could make it, and is what its checksum says.
//!
//! PKWARE, ".ZIP file format specification", version 6.3.10, sections 4.3 and 4.4.

use flate2::Crc;
use flate2::read::DeflateDecoder;
use std::collections::BTreeSet;
use std::io::{Read, Seek, SeekFrom, Take};

type Result<T> = std::result::Result<T, String>;

/// The lengths of the headers without what varies, and of the longest comment at the end.
const LOCAL: usize = 30;
const CENTRAL: usize = 46;
const END: usize = 22;
const COMMENT: usize = 65_535;
/// Deflate makes at most so many bytes of one.
const MOST: u64 = 1032;
/// Sizes that stand elsewhere, in the extra field of numbers of 64 bits.
const ELSEWHERE: u32 = u32::MAX;

/// A file in an archive.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    pub(super) name: String,
    /// Its length when it is unpacked.
    pub(super) length: u64,
    packed: u64,
    deflated: bool,
    crc: u32,
    /// Where its local header is.
    at: u64,
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |two| u16::from_le_bytes([two[0], two[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

fn read_at(file: &mut (impl Read + Seek), at: u64, length: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut bytes));
    read.map(|()| bytes).map_err(|error| error.to_string())
}

/// The files of an archive of `length` bytes, in the order of its directory.
pub(super) fn members(file: &mut (impl Read + Seek), length: u64) -> Result<Vec<Member>> {
    let tail_length = length.min((END + COMMENT) as u64) as usize;
    let tail = read_at(file, length - tail_length as u64, tail_length)?;
    // The last mark whose comment ends where the archive does.
    let fits = |&at: &usize| {
        tail[at..].starts_with(b"PK\x05\x06") && at + END + usize::from(u16_at(&tail, at + 20)) == tail.len()
    };
    let end = (0..=tail.len().saturating_sub(END)).rev().find(fits).filter(|_| tail.len() >= END);
    let end = end.ok_or("it has no directory at its end, it may be cut short")?;
    let (count, size, at) = (u16_at(&tail, end + 10), u32_at(&tail, end + 12), u32_at(&tail, end + 16));
    if u16_at(&tail, end + 4) != 0 || u16_at(&tail, end + 8) != count {
        return Err("it is one of several parts".into());
    }
    if at == ELSEWHERE || count == u16::MAX {
        return Err("it is larger than 4 GB".into());
    }
    if u64::from(at) + u64::from(size) > length {
        return Err("its directory does not lie within it".into());
    }
    let directory = read_at(file, at.into(), size as usize)?;
    let (mut found, mut names, mut rest) = (Vec::new(), BTreeSet::new(), &directory[..]);
    for _ in 0..count {
        let (member, after) = central(rest)?;
        if member.at + LOCAL as u64 + member.packed > u64::from(at) {
            return Err(format!("{:?} does not lie within it", member.name));
        }
        if !names.insert(member.name.clone()) {
            return Err(format!("two of its files are called {:?}", member.name));
        }
        found.push(member);
        rest = after;
    }
    Ok(found)
}

/// One entry of the directory, and what follows it.
fn central(bytes: &[u8]) -> Result<(Member, &[u8])> {
    let lengths = [28, 30, 32].map(|at| usize::from(u16_at(bytes, at)));
    let end = CENTRAL + lengths.iter().sum::<usize>();
    if !bytes.starts_with(b"PK\x01\x02") || bytes.len() < end {
        return Err("its directory has fewer entries than it says".into());
    }
    let name = String::from_utf8_lossy(&bytes[CENTRAL..CENTRAL + lengths[0]]).into_owned();
    if u16_at(bytes, 8) & 1 != 0 {
        return Err(format!("{name:?} is encrypted"));
    }
    let deflated = match u16_at(bytes, 10) {
        0 => false,
        8 => true,
        other => return Err(format!("{name:?} is packed by method {other}, not stored or deflated")),
    };
    let mut large = large_numbers(&bytes[CENTRAL + lengths[0]..][..lengths[1]]);
    let mut number = |at: usize| match u32_at(bytes, at) {
        ELSEWHERE => large.next().ok_or(format!("{name:?} has no length")),
        number => Ok(u64::from(number)),
    };
    let (length, packed, at) = (number(24)?, number(20)?, number(42)?);
    let possible = if deflated { length <= packed.saturating_mul(MOST) } else { length == packed };
    if !possible || at.checked_add(packed).is_none_or(|end| end > u64::MAX / 2) {
        return Err(format!("{name:?} claims {length} bytes and has {packed}"));
    }
    Ok((Member { name, length, packed, deflated, crc: u32_at(bytes, 16), at }, &bytes[end..]))
}

/// The numbers of 64 bits in an extra field: length, packed length and place, as far as they stand there.
fn large_numbers(mut extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut numbers = Vec::new();
    while extra.len() >= 4 {
        let (kind, size) = (u16_at(extra, 0), usize::from(u16_at(extra, 2)));
        let Some(field) = extra.get(4..4 + size) else { break };
        if kind == 1 {
            let (eights, _) = field.as_chunks::<8>();
            numbers = eights.iter().map(|eight| u64::from_le_bytes(*eight)).collect();
        }
        extra = &extra[4 + size..];
    }
    numbers.into_iter()
}

/// Reads a file of the archive, and knows at its end whether it was right.
pub(super) struct Unpacking<R: Read> {
    from: From<R>,
    crc: Crc,
    member: Member,
}

enum From<R: Read> {
    Stored(Take<R>),
    Deflated(Box<DeflateDecoder<Take<R>>>),
}

impl Member {
    /// The file itself, from its start.
    pub(super) fn open<R: Read + Seek>(&self, mut archive: R) -> Result<Unpacking<R>> {
        let header = read_at(&mut archive, self.at, LOCAL)?;
        let (name, extra) = (usize::from(u16_at(&header, 26)), usize::from(u16_at(&header, 28)));
        let own = read_at(&mut archive, self.at + LOCAL as u64, name)?;
        if !header.starts_with(b"PK\x03\x04") || own != self.name.as_bytes() {
            return Err(format!("{:?} is not where its directory says", self.name));
        }
        archive.seek(SeekFrom::Current(extra as i64)).map_err(|error| error.to_string())?;
        let packed = archive.take(self.packed);
        let from = match self.deflated {
            true => From::Deflated(Box::new(DeflateDecoder::new(packed))),
            false => From::Stored(packed),
        };
        Ok(Unpacking { from, crc: Crc::new(), member: self.clone() })
    }
}

impl<R: Read> Read for Unpacking<R> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let count = match &mut self.from {
            From::Stored(from) => from.read(bytes)?,
            From::Deflated(from) => from.read(bytes)?,
        };
        self.crc.update(&bytes[..count]);
        Ok(count)
    }
}

impl<R: Read> Unpacking<R> {
    /// Whether all was read, and is what was packed.
    pub(super) fn check_end(mut self) -> Result<()> {
        let more = self.read(&mut [0; 1]).map_err(|error| error.to_string())?;
        let Member { name, length, crc, .. } = &self.member;
        if more > 0 || u64::from(self.crc.amount()) != length % (1 << 32) {
            return Err(format!("{name:?} has another length than it says"));
        }
        if self.crc.sum() != *crc {
            return Err(format!("{name:?} is not what its checksum says"));
        }
        Ok(())
    }
}
