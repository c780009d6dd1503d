//! Checks a Parquet file before the `parquet` crate reads it.
//!
//! The crate (60.1) rejects lists that are longer than the file. It still allocates by the number of children in the schema,
//! of entries in a dictionary and of lengths in delta encodings, recurses as deep as the schema goes, and decompresses gzip
//! and Brotli without an end, so that a few hundred bytes could take all memory or overflow the stack. Here the same bytes
//! are walked without allocating by their claims: the schema (its depth, and the number of its members), and the headers of
//! the pages (their sizes lie within the file and the limit, and their rows sum up to what the footer claims).
//!
//! Apache Parquet, "File format" and "parquet.thrift"; Apache Thrift, "Thrift compact protocol".

use super::shapes::{FOOTER, Shape};
use ::parquet::basic::Compression;
use ::parquet::errors::ParquetError;
use std::io::{Read, Seek, SeekFrom};

type Result<T> = std::result::Result<T, ParquetError>;

/// The deepest nesting of structures, in the schema and in its encoding.
const DEEPEST: usize = 64;
/// The bytes that the reader may need for one byte of the footer.
const BESIDE: u64 = 64;
/// The bytes of an entry of a dictionary in memory, at most.
const ENTRY: u64 = 40;
/// Encodings of text whose counts lie within compressed pages: the two delta encodings.
const UNBOUNDED: [i64; 2] = [6, 7];

fn wrong<T>(what: impl Into<String>) -> Result<T> {
    Err(ParquetError::General(what.into()))
}

/// Walks through the footer of a file of `length` bytes; `limit` is the memory that there is.
pub(crate) fn check_footer(file: &mut (impl Read + Seek), length: u64, limit: u64) -> Result<()> {
    let mut tail = [0; 8];
    if length < 12 {
        return wrong("it is shorter than the shortest file");
    }
    file.seek(SeekFrom::End(-8))?;
    file.read_exact(&mut tail)?;
    let size = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    if &tail[4..] != b"PAR1" {
        return wrong("it does not end as such files do, it may be cut short");
    }
    if size > length - 12 || size.saturating_mul(BESIDE) > limit {
        return wrong(format!("its footer of {size} bytes exceeds the file or the memory limit"));
    }
    file.seek(SeekFrom::End(-8 - size as i64))?;
    let mut footer = vec![0; size as usize];
    file.read_exact(&mut footer)?;
    Walk { bytes: &footer, at: 0 }.value(FOOTER, STRUCT, 0)?;
    let mut walk = Walk { bytes: &footer, at: 0 };
    let mut children = Vec::new();
    walk.fields(0, |walk, id, kind| {
        if id != 2 {
            return walk.skip(kind, 0);
        }
        for _ in 0..walk.list(STRUCT)? {
            let mut count = 0;
            walk.fields(1, |walk, id, kind| match id {
                5 => walk.number(kind).map(|number| count = number),
                _ => walk.skip(kind, 1),
            })?;
            children.push(count);
        }
        Ok(())
    })?;
    check_schema(&children)
}

/// Refuses a schema whose groups claim another number of members than they have, or are nested too deeply.
fn check_schema(children: &[i64]) -> Result<()> {
    let mut open: Vec<i64> = vec![1];
    for (at, &count) in children.iter().enumerate() {
        while open.last() == Some(&0) {
            open.pop();
        }
        let left = (children.len() - at - 1) as i64;
        match open.last_mut() {
            Some(missing) if (0..=left).contains(&count) => *missing -= 1,
            _ => return wrong("its schema has other members than it says"),
        }
        if count > 0 {
            open.push(count);
        }
        if open.len() > DEEPEST {
            return wrong(format!("its schema is more than {} levels deep", DEEPEST - 1));
        }
    }
    Ok(())
}

/// A column of one row group, as the footer describes it.
pub(crate) struct Chunk {
    /// Where it begins in the file.
    pub(crate) start: u64,
    /// How many bytes it has there.
    pub(crate) size: u64,
    /// How many values it should have, those that are null included.
    pub(crate) values: u64,
    /// The fewest bytes of a value in a dictionary.
    pub(crate) least: u64,
    /// Whether it holds text.
    pub(crate) text: bool,
    /// How its pages are compressed.
    pub(crate) codec: Compression,
}

/// Walks through the pages of a column, which lies within the file.
pub(crate) fn check_pages(file: &mut (impl Read + Seek), chunk: &Chunk, limit: u64) -> Result<()> {
    if chunk.size > limit {
        return wrong(format!("a column of {} bytes exceeds the memory limit", chunk.size));
    }
    file.seek(SeekFrom::Start(chunk.start))?;
    let mut bytes = vec![0; chunk.size as usize];
    file.read_exact(&mut bytes)?;
    let mut walk = Walk { bytes: &bytes, at: 0 };
    let mut held = 0u64;
    // Also behind the last value: the reader looks at every page.
    while walk.at < bytes.len() {
        let page = Page::read(&mut walk)?;
        let (Ok(decompressed), Ok(size)) = (u64::try_from(page.decompressed), usize::try_from(page.size)) else {
            return wrong("a page has a negative size");
        };
        if size > bytes.len() - walk.at || decompressed > limit {
            return wrong(format!(
                "a page of {decompressed} bytes, {size} in the file, exceeds the file or the memory limit"
            ));
        }
        let compressed = &bytes[walk.at..walk.at + size];
        walk.at += size;
        check_decompressed(chunk.codec, compressed.get(page.levels()..).unwrap_or_default(), decompressed, limit)?;
        match (page.dictionary, page.values) {
            (Some(count), _) if count < 0 || (count as u64).saturating_mul(chunk.least) > decompressed => {
                return wrong(format!("a dictionary of {decompressed} bytes cannot have {count} entries"));
            }
            (Some(count), _) if (count as u64).saturating_mul(ENTRY) > limit => {
                return wrong(format!("a dictionary of {count} entries exceeds the memory limit"));
            }
            (None, Some(count)) if count < 0 => return wrong("a page has a negative number of values"),
            (None, Some(count)) => held = held.saturating_add(count as u64),
            _ => {}
        }
        if chunk.text && UNBOUNDED.contains(&page.encoding) {
            return wrong("text in delta encoding is not read here");
        }
    }
    if held != chunk.values {
        return wrong(format!("it claims {} values in a column whose pages hold {held}", chunk.values));
    }
    Ok(())
}

/// Refuses a page that decompresses to more than it claims, if the codec of the crate has no limit. A byte of gzip is no more
/// than 1032 bytes; of Brotli it may be millions.
fn check_decompressed(codec: Compression, compressed: &[u8], says: u64, limit: u64) -> Result<()> {
    let most = says.saturating_add(1);
    let counted = match codec {
        Compression::BROTLI(_) => {
            let decoder = brotli_decompressor::Decompressor::new(compressed, 1 << 16);
            std::io::copy(&mut decoder.take(most), &mut std::io::sink())
        }
        Compression::GZIP(_) if (compressed.len() as u64).saturating_mul(1032) > limit => {
            let decoder = flate2::read::MultiGzDecoder::new(compressed);
            std::io::copy(&mut decoder.take(most), &mut std::io::sink())
        }
        _ => return Ok(()),
    };
    match counted {
        Ok(count) if count > says => wrong(format!("a page of {says} bytes decompresses to more")),
        // The crate reports what is damaged.
        _ => Ok(()),
    }
}

/// The fields of a page header that are checked.
#[derive(Default)]
struct Page {
    decompressed: i64,
    size: i64,
    /// The values of a page of data.
    values: Option<i64>,
    /// The entries of a dictionary.
    dictionary: Option<i64>,
    encoding: i64,
    /// The bytes of both kinds of levels before what is compressed.
    levels: [i64; 2],
}

impl Page {
    /// Where what is compressed begins.
    fn levels(&self) -> usize {
        let [first, second] = self.levels.map(|length| usize::try_from(length).unwrap_or(0));
        first.saturating_add(second)
    }

    fn read(walk: &mut Walk) -> Result<Page> {
        let mut page = Page::default();
        walk.fields(0, |walk, id, kind| {
            match id {
                1 | 4 => drop(walk.number(kind)?),
                2 => page.decompressed = walk.number(kind)?,
                3 => page.size = walk.number(kind)?,
                5 | 7 | 8 if kind == STRUCT => {
                    // The encoding comes after the values, and in the second version after nulls and rows too.
                    let encoding = if id == 8 { 4 } else { 2 };
                    // The last field that is a number; a truth value follows, and statistics, which are skipped.
                    let last = [4, 2, 6][[5, 7, 8].iter().position(|own| *own == id).unwrap_or(0)];
                    let mut values = 0;
                    walk.fields(1, |walk, field, kind| {
                        match field {
                            1 => values = walk.number(kind)?,
                            _ if field == encoding => page.encoding = walk.number(kind)?,
                            5 | 6 if id == 8 => page.levels[field as usize - 5] = walk.number(kind)?,
                            _ if field <= last => drop(walk.number(kind)?),
                            _ if field == last + 1 && id != 5 => walk.value(Shape::Bool, kind, 1)?,
                            _ => walk.skip(kind, 1)?,
                        }
                        Ok(())
                    })?;
                    if id == 7 { page.dictionary = Some(values) } else { page.values = Some(values) }
                }
                5..=8 if kind != STRUCT => return wrong(OTHER_TYPE),
                6 => walk.value(Shape::Struct(&[]), kind, 0)?,
                _ => walk.skip(kind, 0)?,
            }
            Ok(())
        })?;
        Ok(page)
    }
}

/// The error of a field that is declared with another type than `parquet.thrift` has.
const OTHER_TYPE: &str = "a field has another type than it should have";

/// The types of values in Thrift's compact protocol that hold others.
const LIST: [u8; 2] = [9, 10];
const MAP: u8 = 11;
const STRUCT: u8 = 12;

/// A walk through bytes in Thrift's compact protocol.
struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Walk<'_> {
    fn byte(&mut self) -> Result<u8> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte.ok_or_else(|| ParquetError::EOF("a structure is cut short".into()))
    }

    fn pass(&mut self, count: u64) -> Result<()> {
        if count > self.bytes.len().saturating_sub(self.at) as u64 {
            return wrong("a structure is cut short");
        }
        self.at += count as usize;
        Ok(())
    }

    /// A number of seven bits per byte, the least first.
    fn variable(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        wrong("a number has too many bytes")
    }

    /// An integer field, whose sign is its last bit.
    fn number(&mut self, kind: u8) -> Result<i64> {
        match kind {
            4..=6 => {
                let value = self.variable().map(|value| (value >> 1) as i64 ^ -((value & 1) as i64))?;
                // The crate would truncate a larger number.
                let fits = [i16::try_from(value).is_ok(), i32::try_from(value).is_ok(), true][kind as usize - 4];
                if fits { Ok(value) } else { wrong("a number is too large for its kind") }
            }
            _ => wrong(OTHER_TYPE),
        }
    }

    /// The length of a list of this kind.
    fn list(&mut self, wanted: u8) -> Result<u64> {
        match self.list_of_any()? {
            (kind, count) if kind == wanted || count == 0 => Ok(count),
            _ => wrong("a list is of something else"),
        }
    }

    fn list_of_any(&mut self) -> Result<(u8, u64)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.variable()? } else { u64::from(head >> 4) };
        Ok((head & 15, count))
    }

    /// Hands every field of a structure, its number and its kind, to `visit`, which skips its value.
    fn fields(&mut self, depth: usize, mut visit: impl FnMut(&mut Self, i64, u8) -> Result<()>) -> Result<()> {
        if depth > DEEPEST {
            return wrong("its structures lie too deep in each other");
        }
        let mut id = 0i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            id = if head >> 4 == 0 { self.number(4)? } else { id + i64::from(head >> 4) };
            if !(1..=i64::from(i16::MAX)).contains(&id) {
                return wrong("a field has an impossible number");
            }
            visit(self, id, head & 15)?;
        }
    }

    /// Skips a value that must be of this type.
    fn value(&mut self, shape: Shape, kind: u8, depth: usize) -> Result<()> {
        match shape {
            Shape::Simple(4..=6) if matches!(shape, Shape::Simple(wanted) if wanted == kind) => {
                self.number(kind).map(|_| ())
            }
            Shape::Simple(wanted) if wanted == kind => self.skip(kind, depth),
            Shape::Bool if kind == 1 || kind == 2 => Ok(()),
            Shape::List(of) if kind == LIST[0] => {
                let (kind, count) = self.list_of_any()?;
                (0..count).try_for_each(|_| self.value(*of, kind, depth + 1))
            }
            Shape::Struct(known) if kind == STRUCT => {
                self.fields(depth + 1, |walk, id, kind| match known.iter().find(|(number, _)| *number == id) {
                    Some((_, shape)) => walk.value(*shape, kind, depth + 1),
                    None => walk.skip(kind, depth + 1),
                })
            }
            _ => wrong(OTHER_TYPE),
        }
    }

    /// Skips a value of any type.
    fn skip(&mut self, kind: u8, depth: usize) -> Result<()> {
        match kind {
            // A truth value is in its field's kind.
            1 | 2 => Ok(()),
            3 => self.pass(1),
            4..=6 => self.variable().map(|_| ()),
            7 => self.pass(8),
            8 => {
                let length = self.variable()?;
                self.pass(length)
            }
            13 => self.pass(16),
            STRUCT => self.fields(depth + 1, |walk, _, kind| walk.skip(kind, depth + 1)),
            kind if LIST.contains(&kind) => {
                let (kind, count) = self.list_of_any()?;
                (0..count).try_for_each(|_| self.skip_item(kind, depth + 1))
            }
            MAP => {
                let count = self.variable()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                (0..count).try_for_each(|_| {
                    self.skip_item(kinds >> 4, depth + 1)?;
                    self.skip_item(kinds & 15, depth + 1)
                })
            }
            _ => wrong("a value is of no known kind"),
        }
    }

    /// Skips an item of a list, where a truth value has a byte of its own.
    fn skip_item(&mut self, kind: u8, depth: usize) -> Result<()> {
        match kind {
            _ if depth > DEEPEST => wrong("its structures lie too deep in each other"),
            1 | 2 => self.pass(1),
            kind => self.skip(kind, depth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_as_wide_and_as_deep_as_they_say() {
        assert!(check_schema(&[2, 0, 0]).is_ok());
        assert!(check_schema(&[1, 1, 1, 0]).is_ok());
        assert!(check_schema(&[0]).is_ok());
        for bad in [&[3, 0, 0][..], &[2_000_000_000, 0], &[-1], &[1, 0, 0], &[0, 0]] {
            assert!(check_schema(bad).is_err(), "{bad:?}");
        }
        let deep: Vec<i64> = vec![1; 20_000].into_iter().chain([0]).collect();
        assert!(check_schema(&deep).unwrap_err().to_string().contains("63 levels deep"));
    }

    /// A page header: uncompressed and compressed size, then in field 5 (data) or 7 (dictionary) the count of values.
    fn page(size: u8, field: u8, count: &[u8]) -> Vec<u8> {
        let mut page = vec![0x15, 0x00, 0x15, 2 * size, 0x15, 2 * size, ((field - 3) << 4) | STRUCT, 0x15];
        page.extend(count);
        page.extend([0, 0]);
        page.extend(vec![0; size as usize]);
        page
    }

    #[test]
    fn pages_hold_what_the_footer_says_and_no_dictionary_more_than_its_bytes() {
        const ABSURD: [u8; 5] = [0xfe, 0xff, 0xff, 0xff, 0x0f];
        let check = |pages: &[Vec<u8>], values: u64| {
            let bytes = pages.concat();
            let chunk = Chunk {
                start: 0,
                size: bytes.len() as u64,
                values,
                least: 8,
                text: false,
                codec: Compression::UNCOMPRESSED,
            };
            check_pages(&mut std::io::Cursor::new(bytes), &chunk, 1_000_000).map_err(|error| error.to_string())
        };
        let data = page(16, 5, &[4]);
        assert_eq!(check(&[page(16, 7, &[4]), data.clone(), data.clone()], 4), Ok(()));
        for values in [3, 5] {
            let message = check(&[data.clone(), data.clone()], values).unwrap_err();
            assert!(message.ends_with(&format!("claims {values} values in a column whose pages hold 4")), "{message}");
        }
        for place in [0, 1] {
            let mut pages = vec![data.clone()];
            pages.insert(place, page(16, 7, &ABSURD));
            let message = check(&pages, 2).unwrap_err();
            assert!(message.contains("a dictionary of 16 bytes cannot have 2147483647 entries"), "{message}");
        }
        // What is called a map is read as a number by a reader that goes by the field alone.
        let mut confused = page(16, 7, &ABSURD);
        confused[0] = 0x1b;
        assert!(check(&[confused, data.clone()], 2).unwrap_err().contains("another type"));
        assert!(check(&[page(16, 5, &[3])], 0).unwrap_err().contains("negative"));
        assert!(check(&[data[..20].to_vec()], 2).unwrap_err().contains("exceeds the file"));
    }

    #[test]
    fn a_page_unpacks_to_no_more_than_it_says() {
        use std::io::Write;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(&[0; 1_000_000]).unwrap();
        let gzip = gzip.finish().unwrap();
        // A thousand zeros, as pyarrow compresses them.
        let brotli = [0x1b, 0xe7, 0x03, 0x00, 0x24, 0x00, 0xa2, 0xb1, 0x40, 0x42, 0x03, 0x11];
        let (pages, levels) =
            ([Compression::GZIP(Default::default()), Compression::BROTLI(Default::default())], 100_000);
        for (codec, compressed, length) in [(pages[0], &gzip[..], 1_000_000), (pages[1], &brotli, 1_000)] {
            assert!(check_decompressed(codec, compressed, length, levels).is_ok(), "{codec:?}");
            let message = check_decompressed(codec, compressed, length - 1, levels).unwrap_err().to_string();
            assert!(message.contains(&format!("a page of {} bytes decompresses to more", length - 1)), "{message}");
        }
    }

    #[test]
    fn numbers_lists_and_structures_end_where_the_bytes_do() {
        let walk = |bytes: &'static [u8]| Walk { bytes, at: 0 };
        assert_eq!(walk(&[0x80, 0x01]).variable().unwrap(), 128);
        assert_eq!(walk(&[0x03]).number(5).unwrap(), -2);
        assert!(walk(&[0xff; 12]).variable().is_err());
        assert!(walk(&[0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f]).skip(9, 0).is_err());
        assert!(walk(&[0x19]).skip(STRUCT, 0).is_err());
        // Structures in structures without end.
        let deep: &'static [u8] = Box::leak(vec![0x1c; 100_000].into_boxed_slice());
        assert!(walk(deep).skip(STRUCT, 0).unwrap_err().to_string().contains("too deep"));
        let lists: &'static [u8] = Box::leak(vec![0x19; 100_000].into_boxed_slice());
        assert!(walk(lists).skip(9, 0).unwrap_err().to_string().contains("too deep"));
    }
}
