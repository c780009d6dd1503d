//! Arrow files as they are written: float64 columns, int64 for indices, text for texts; not packed.
//!
//! The metadata are FlatBuffers from front to back: a table stands before what it points at, and every field takes eight bytes,
//! so that all numbers are where they may be.

use super::message::{MAGIC, MARK};
use crate::Cells;
use crate::outgoing::{Column, Outgoing};
use std::ops::Range;

/// The rows of a batch.
const GROUP: usize = 1 << 17;
/// What the columns are aligned to, in bytes.
const ALIGNED: usize = 64;

/// Numbers of `Schema.fbs` and `Message.fbs`: the version, what a message brings, and kinds of columns.
const VERSION: u64 = 4;
const SCHEMA: u64 = 1;
const BATCH: u64 = 3;
const INT: u64 = 2;
const FLOAT: u64 = 3;
const LARGE_TEXT: u64 = 20;

/// The bytes of a file.
pub(crate) fn encoded(outgoing: &Outgoing) -> Vec<u8> {
    let mut file = [MAGIC, &[0, 0]].concat();
    push_message(&mut file, SCHEMA, 0, |flat| schema(flat, outgoing));
    let mut blocks = Vec::new();
    for start in (0..outgoing.rows).step_by(GROUP) {
        let rows = start..(start + GROUP).min(outgoing.rows);
        let body = Body::new(outgoing, rows.clone());
        let at = file.len();
        push_message(&mut file, BATCH, body.bytes.len(), |flat| batch(flat, rows.len(), &body));
        blocks.push((at, file.len() - at, body.bytes.len()));
        file.extend(body.bytes);
    }
    file.extend([MARK, &[0; 4]].concat());
    let mut footer = Flat::new();
    let table = footer.table(&[VERSION, 0, 0, 0].map(Some));
    footer.point(table[1]);
    schema(&mut footer, outgoing);
    footer.vector(table[2], &[]);
    let longs = |&(at, metadata, body): &(usize, usize, usize)| [at as u64, metadata as u64, body as u64];
    footer.structs(table[3], blocks.len(), &blocks.iter().flat_map(longs).collect::<Vec<u64>>());
    file.extend(&footer.0);
    file.extend((footer.0.len() as u32).to_le_bytes());
    file.extend(MAGIC);
    file
}

/// A message without its body.
fn push_message(file: &mut Vec<u8>, kind: u64, body: usize, header: impl FnOnce(&mut Flat)) {
    let mut flat = Flat::new();
    let table = flat.table(&[VERSION, kind, 0, body as u64].map(Some));
    flat.point(table[2]);
    header(&mut flat);
    flat.align();
    file.extend(MARK);
    file.extend((flat.0.len() as u32).to_le_bytes());
    file.extend(flat.0);
}

/// The names and the kinds of the columns.
fn schema(flat: &mut Flat, outgoing: &Outgoing) {
    let table = flat.table(&[Some(0), Some(0)]);
    let places = flat.vector(table[1], &vec![0; outgoing.columns.len()]);
    for ((name, column), place) in outgoing.columns.iter().zip(places) {
        let kind = match column {
            Column::Indices(_) => INT,
            Column::Carried(Cells::Texts(_)) => LARGE_TEXT,
            Column::Of(..) | Column::Numbers(_) | Column::Carried(_) => FLOAT,
        };
        flat.point(place);
        let may_be_null = u64::from(column.may_be_missing());
        let field = flat.table(&[Some(0), Some(may_be_null), Some(kind), Some(0), None, Some(0)]);
        flat.text(field[0], name);
        flat.point(field[3]);
        match kind {
            INT => flat.table(&[Some(64), Some(1)]),
            FLOAT => flat.table(&[Some(2)]),
            _ => flat.table(&[]),
        };
        flat.vector(field[5], &[]);
    }
}

/// Where the chunks of a batch are.
fn batch(flat: &mut Flat, rows: usize, body: &Body) {
    let table = flat.table(&[rows as u64, 0, 0].map(Some));
    let nodes: Vec<u64> = body.nulls.iter().flat_map(|&nulls| [rows as u64, nulls]).collect();
    flat.structs(table[1], body.nulls.len(), &nodes);
    flat.structs(table[2], body.chunks.len(), &body.chunks.concat());
}

/// The columns of some rows, one chunk after the other.
#[derive(Default)]
struct Body {
    bytes: Vec<u8>,
    /// Where each chunk begins, and how long it is.
    chunks: Vec<[u64; 2]>,
    /// How many cells of each column are not there.
    nulls: Vec<u64>,
}

impl Body {
    fn new(outgoing: &Outgoing, rows: Range<usize>) -> Body {
        let mut body = Body::default();
        for (_, column) in &outgoing.columns {
            let is_there = |i: usize| match column {
                Column::Carried(Cells::Texts(texts)) => !texts[i].is_empty(),
                column if column.may_be_missing() => !column.number(i).is_nan(),
                _ => true,
            };
            let nulls = rows.clone().filter(|&i| !is_there(i)).count() as u64;
            body.nulls.push(nulls);
            let mut valid = vec![0u8; if nulls > 0 { rows.len().div_ceil(8) } else { 0 }];
            for (at, byte) in valid.iter_mut().enumerate() {
                let eight = rows.clone().skip(8 * at).take(8).enumerate();
                *byte = eight.map(|(bit, i)| u8::from(is_there(i)) << bit).sum();
            }
            body.push(valid);
            match column {
                Column::Carried(Cells::Texts(texts)) => {
                    let texts = &texts[rows.clone()];
                    let mut end = 0u64;
                    let ends = texts.iter().map(|text| {
                        end += text.len() as u64;
                        end
                    });
                    body.push([0].into_iter().chain(ends).flat_map(u64::to_le_bytes).collect());
                    body.push(texts.concat().into_bytes());
                }
                Column::Indices(indices) => {
                    body.push(indices[rows.clone()].iter().flat_map(|&index| u64::from(index).to_le_bytes()).collect());
                }
                column => body.push(rows.clone().flat_map(|i| column.number(i).to_le_bytes()).collect()),
            }
        }
        body
    }

    fn push(&mut self, chunk: Vec<u8>) {
        self.chunks.push([self.bytes.len() as u64, chunk.len() as u64]);
        self.bytes.extend(chunk);
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNED), 0);
    }
}

/// A FlatBuffer on its way.
struct Flat(Vec<u8>);

impl Flat {
    /// One that is about what comes next.
    fn new() -> Flat {
        let mut flat = Flat(vec![0; 4]);
        flat.point(0);
        flat
    }

    fn align(&mut self) {
        self.0.resize(self.0.len().next_multiple_of(8), 0);
    }

    /// Makes the offset at a place point at what comes next, which is aligned.
    fn point(&mut self, place: usize) {
        self.align();
        let offset = (self.0.len() - place) as u32;
        self.0[place..place + 4].copy_from_slice(&offset.to_le_bytes());
    }

    /// A table with these fields, as far as they are there; where they are, for offsets are filled in later.
    fn table(&mut self, fields: &[Option<u64>]) -> Vec<usize> {
        let at = self.0.len();
        let vtable = at + 8 + 8 * fields.len();
        self.0.extend((at as i32 - vtable as i32).to_le_bytes());
        self.0.extend([0; 4]);
        self.0.extend(fields.iter().flat_map(|field| field.unwrap_or(0).to_le_bytes()));
        self.0.extend((4 + 2 * fields.len() as u16).to_le_bytes());
        self.0.extend((8 + 8 * fields.len() as u16).to_le_bytes());
        let place = |(i, field): (usize, &Option<u64>)| field.map_or(0, |_| 8 + 8 * i as u16);
        self.0.extend(fields.iter().enumerate().map(place).flat_map(u16::to_le_bytes));
        (0..fields.len()).map(|i| at + 8 + 8 * i).collect()
    }

    /// A vector of offsets to be filled in; where they are.
    fn vector(&mut self, place: usize, items: &[u32]) -> Vec<usize> {
        self.point(place);
        self.0.extend((items.len() as u32).to_le_bytes());
        let at = self.0.len();
        self.0.extend(items.iter().flat_map(|item| item.to_le_bytes()));
        (0..items.len()).map(|i| at + 4 * i).collect()
    }

    /// A vector of structures, each of which is made of numbers of eight bytes.
    fn structs(&mut self, place: usize, count: usize, numbers: &[u64]) {
        // The count stands before what must be aligned.
        self.align();
        self.0.extend([0; 4]);
        let offset = (self.0.len() - place) as u32;
        self.0[place..place + 4].copy_from_slice(&offset.to_le_bytes());
        self.0.extend((count as u32).to_le_bytes());
        self.0.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }

    fn text(&mut self, place: usize, text: &str) {
        self.point(place);
        self.0.extend((text.len() as u32).to_le_bytes());
        self.0.extend(text.bytes());
        self.0.push(0);
    }
}
