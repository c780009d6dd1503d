//! The messages of an Arrow file or stream: a schema, dictionaries, and batches of rows.
//!
//! ```text
//! stream:  [FFFFFFFF, i32 size of the metadata, metadata (a FlatBuffer), body] ...  FFFFFFFF 00000000
//! file:    ARROW1 00 00, a stream, a footer (a FlatBuffer), i32 its size, ARROW1
//! ```
//!
//! A stream is read from front to back, and a file by its footer, which has the schema and lists dictionaries and batches:
//! not every program writes a file as a whole stream, with dictionaries before the batches that use them.
//!
//! Apache Arrow, "Arrow columnar format", section "Serialization and interprocess communication"; `Message.fbs`,
//! `Schema.fbs`, `File.fbs`.

use super::flat::{Result, Table};
use crate::npy_header::Kind as Number;

/// The first and the last bytes of a file; a stream has the other mark before each message.
pub(crate) const MAGIC: &[u8] = b"ARROW1";
pub(crate) const MARK: &[u8] = &[0xff; 4];

/// How deep columns may lie in each other.
const DEEPEST: usize = 63;

/// What a message brings.
pub(super) enum Message<'a> {
    Schema(Vec<Field>),
    Dictionary {
        id: i64,
        /// Whether it goes on with what is known of the dictionary.
        delta: bool,
        batch: Batch<'a>,
    },
    Batch(Batch<'a>),
}

/// Some rows, or the values of a dictionary.
pub(super) struct Batch<'a> {
    pub(super) rows: usize,
    /// One per column, those within other columns after these: how many values it has, and how many of them are null.
    pub(super) nodes: Vec<(i64, i64)>,
    /// Where each chunk of a column is in the body, and how long it is.
    pub(super) buffers: Vec<(i64, i64)>,
    /// How many chunks hold the texts of each column of views.
    pub(super) views: Vec<i64>,
    pub(super) codec: Option<Codec>,
    pub(super) body: &'a [u8],
}

/// How the chunks of a batch are packed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Codec {
    Lz4,
    Zstd,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    /// What its values are; those of its dictionary, if it has one.
    pub(super) kind: Kind,
    /// The number of the dictionary, and what the places in it are.
    pub(super) dictionary: Option<(i64, Kind)>,
    pub(super) children: Vec<Field>,
}

/// The values of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Numbers of so many bytes.
    Number(Number, usize),
    /// One bit each.
    Bool,
    /// One after the other, told apart by offsets of so many bytes.
    Text(usize),
    /// Short ones in place, long ones elsewhere.
    View,
    /// Integers of 16 bytes, to be divided by this power of ten.
    Decimal(i32),
    /// Lists, told apart by offsets of so many bytes into what lies within.
    List(usize),
    /// Lists of so many values each.
    FixedList(usize),
    /// What is not read: what it holds, in words, and in how many chunks.
    Other(&'static str, usize),
    /// What is not read, in views.
    OtherView,
}

/// What is said of dates and times.
pub(super) const DATES: &str = "holds dates or times, which are not numbers";

impl Field {
    /// What the numbers of its vectors are, and how many bytes they have, if it holds vectors of numbers.
    pub(super) fn vector(&self) -> Option<(Number, usize)> {
        match (self.kind, &self.children[..]) {
            (Kind::List(_) | Kind::FixedList(1..), [entry]) if self.dictionary.is_none() => match entry.kind {
                Kind::Number(number, size) if entry.dictionary.is_none() => Some((number, size)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// All messages of a file or a stream, dictionaries before what uses them.
pub(super) fn messages(bytes: &[u8]) -> Result<Vec<Message<'_>>> {
    if bytes.starts_with(MAGIC) {
        return of_file(bytes);
    }
    let (mut found, mut rest) = (Vec::new(), bytes);
    while let Some((message, size)) = next(rest)? {
        found.push(message);
        rest = &rest[size..];
    }
    Ok(found)
}

/// What the footer of a file lists.
fn of_file(bytes: &[u8]) -> Result<Vec<Message<'_>>> {
    let cut = "it does not end as such files do, it may be cut short";
    let rest = bytes.strip_suffix(MAGIC).filter(|rest| rest.len() >= 12).ok_or(cut)?;
    let (rest, size) = rest.split_last_chunk().ok_or(cut)?;
    let start = usize::try_from(i32::from_le_bytes(*size)).ok().and_then(|size| rest.len().checked_sub(size));
    let start = start.filter(|&start| start >= 8).ok_or("its footer has no room")?;
    let footer = Table::root(&rest[start..])?;
    let mut found = vec![Message::Schema(schema(footer.table(1)?.ok_or("its footer has no schema")?)?)];
    let mut total = 0;
    for (list, are_batches) in [(2, false), (3, true)] {
        for block in footer.items(list, 24)?.chunks_exact(24) {
            let at = usize::try_from(long(block)).ok().filter(|&at| at < start);
            let lost = "a batch is not where its footer says";
            let (message, size) = next(&rest[at.ok_or(lost)?..start])?.ok_or(lost)?;
            total += size;
            // Each has its own bytes, so that they cannot be more than the file.
            if total > start || are_batches != matches!(message, Message::Batch(_)) {
                return Err(lost.into());
            }
            found.push(message);
        }
    }
    Ok(found)
}

/// The message that some bytes begin with, and how many of them it has; nothing at the end of a stream.
fn next(bytes: &[u8]) -> Result<Option<(Message<'_>, usize)>> {
    if bytes.is_empty() {
        return Ok(None);
    }
    // Before 2019 messages began with their size at once.
    let rest = bytes.strip_prefix(MARK).unwrap_or(bytes);
    let (size, rest) = rest.split_first_chunk().ok_or("it is cut short")?;
    let size = usize::try_from(i32::from_le_bytes(*size)).map_err(|_| "a message has a negative size")?;
    if size == 0 {
        return Ok(None);
    }
    let table = Table::root(rest.get(..size).ok_or("it is cut short")?)?;
    let length = usize::try_from(table.i64(3)?).map_err(|_| "a message has a body of a negative size")?;
    let body = rest[size..].get(..length).ok_or("it is cut short")?;
    let header = table.table(2)?.ok_or("a message has no header")?;
    let message = match table.u8(1)? {
        1 => Message::Schema(schema(header)?),
        2 => {
            let batch = batch(header.table(1)?.ok_or("a dictionary has no values")?, body)?;
            Message::Dictionary { id: header.i64(0)?, delta: header.u8(2)? != 0, batch }
        }
        3 => Message::Batch(batch(header, body)?),
        _ => return Err("it holds tensors, not a table".into()),
    };
    Ok(Some((message, bytes.len() - rest.len() + size + length)))
}

/// The number of eight bytes that some bytes begin with.
fn long(bytes: &[u8]) -> i64 {
    bytes.first_chunk().map_or(0, |eight| i64::from_le_bytes(*eight))
}

fn schema(table: Table) -> Result<Vec<Field>> {
    if table.i16(0)? != 0 {
        return Err("its numbers begin with their largest byte".into());
    }
    table.tables(1)?.into_iter().map(|field| self::field(field, 0)).collect()
}

fn field(table: Table, depth: usize) -> Result<Field> {
    if depth > DEEPEST {
        return Err(format!("its columns are more than {DEEPEST} levels deep"));
    }
    let kind = kind(table.u8(2)?, table.table(3)?)?;
    let dictionary = match table.table(4)? {
        Some(encoding) => Some((
            encoding.i64(0)?,
            match encoding.table(1)? {
                Some(index) => integer(index)?,
                None => Kind::Number(Number::Int, 4),
            },
        )),
        None => None,
    };
    let children = table.tables(5)?.into_iter().map(|child| field(child, depth + 1)).collect::<Result<_>>()?;
    Ok(Field { name: table.text(0)?, kind, dictionary, children })
}

fn integer(table: Table) -> Result<Kind> {
    let number = if table.u8(1)? != 0 { Number::Int } else { Number::Uint };
    match table.i32(0)? {
        bits @ (8 | 16 | 32 | 64) => Ok(Kind::Number(number, bits as usize / 8)),
        bits => Err(format!("it has integers of {bits} bits")),
    }
}

/// The kind of a column, by its number in `Schema.fbs`, with the number of chunks it is in.
fn kind(number: u8, table: Option<Table>) -> Result<Kind> {
    Ok(match (number, table) {
        (2, Some(table)) => integer(table)?,
        (3, Some(table)) => match table.i16(0)? {
            0 => Kind::Number(Number::Float, 2),
            1 => Kind::Number(Number::Float, 4),
            _ => Kind::Number(Number::Float, 8),
        },
        (5, _) => Kind::Text(4),
        (20, _) => Kind::Text(8),
        (24, _) => Kind::View,
        (6, _) => Kind::Bool,
        (1, _) => Kind::Other("holds nothing but nulls", 0),
        (4 | 19, _) => Kind::Other("holds bytes, not numbers", 3),
        (23, _) => Kind::OtherView,
        (7, Some(table)) => match table.number_or(2, 128)? {
            128 => Kind::Decimal(table.i32(1)?),
            _ => Kind::Other("holds decimals of another size than 128 bits", 2),
        },
        (8..=11 | 18, _) => Kind::Other(DATES, 2),
        (12, _) => Kind::List(4),
        (21, _) => Kind::List(8),
        (16, Some(table)) => {
            Kind::FixedList(usize::try_from(table.i32(0)?).map_err(|_| "its lists have a negative size")?)
        }
        (17, _) => Kind::Other("holds maps, not one value a row", 2),
        (25 | 26, _) => Kind::Other("holds views of lists, which are not read", 3),
        (13, _) => Kind::Other("holds records, not one value a row", 1),
        (15, _) => Kind::Other("holds bytes, not numbers", 2),
        (14, Some(table)) => {
            let dense = table.i16(0)? == 1;
            Kind::Other("holds values of several types", 1 + usize::from(dense))
        }
        (22, _) => Kind::Other("holds runs of values, which are not read", 0),
        _ => return Err(format!("it has a column of type {number}, which is not known")),
    })
}

fn batch<'a>(table: Table<'a>, body: &'a [u8]) -> Result<Batch<'a>> {
    let rows = usize::try_from(table.i64(0)?).map_err(|_| "a batch has a negative number of rows")?;
    let pair = |bytes: &[u8]| (long(&bytes[..8]), long(&bytes[8..]));
    let codec = match table.table(3)? {
        None => None,
        Some(packed) => match packed.u8(0)? {
            0 => Some(Codec::Lz4),
            1 => Some(Codec::Zstd),
            other => return Err(format!("it is packed by codec {other}, which is not known")),
        },
    };
    Ok(Batch {
        rows,
        nodes: table.items(1, 16)?.chunks_exact(16).map(pair).collect(),
        buffers: table.items(2, 16)?.chunks_exact(16).map(pair).collect(),
        views: table.items(4, 8)?.chunks_exact(8).map(long).collect(),
        codec,
        body,
    })
}
