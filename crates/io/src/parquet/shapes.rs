//! The fields of a Parquet footer that the `parquet` crate reads, with their types in `parquet.thrift` of Apache Parquet.
//!
//! The crate reads a field by its number and ignores the type that the file declares. With another type, the bytes would mean
//! one thing to the check and another to the crate, so they are refused. Fields that are not listed are skipped by both.

/// The type of a value.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    /// One of the simple types, by its number in Thrift's compact protocol.
    Simple(u8),
    /// True or false.
    Bool,
    List(&'static Shape),
    /// The fields that are read.
    Struct(&'static [(i64, Shape)]),
}

use Shape::{Bool, List, Simple, Struct};

const BYTE: Shape = Simple(3);
const I16: Shape = Simple(4);
const I32: Shape = Simple(5);
const I64: Shape = Simple(6);
const DOUBLE: Shape = Simple(7);
const BYTES: Shape = Simple(8);
const EMPTY: Shape = Struct(&[]);

const STATISTICS: Shape =
    Struct(&[(1, BYTES), (2, BYTES), (3, I64), (4, I64), (5, BYTES), (6, BYTES), (7, Bool), (8, Bool), (9, I64)]);
const KEY_VALUE: Shape = Struct(&[(1, BYTES), (2, BYTES)]);
const UNIT: Shape = Struct(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)]);
const INSTANT: Shape = Struct(&[(1, Bool), (2, UNIT)]);
const MEANING: Shape = Struct(&[
    (1, EMPTY),
    (2, EMPTY),
    (3, EMPTY),
    (4, EMPTY),
    (5, Struct(&[(1, I32), (2, I32)])),
    (6, EMPTY),
    (7, INSTANT),
    (8, INSTANT),
    (10, Struct(&[(1, BYTE), (2, Bool)])),
    (11, EMPTY),
    (12, EMPTY),
    (13, EMPTY),
    (14, EMPTY),
    (15, EMPTY),
    (16, Struct(&[(1, BYTE)])),
    (17, Struct(&[(1, BYTES)])),
    (18, Struct(&[(1, BYTES), (2, I32)])),
]);
const SCHEMA_ELEMENT: Shape = Struct(&[
    (1, I32),
    (2, I32),
    (3, I32),
    (4, BYTES),
    (5, I32),
    (6, I32),
    (7, I32),
    (8, I32),
    (9, I32),
    (10, MEANING),
]);
const BOX: Shape =
    Struct(&[(1, DOUBLE), (2, DOUBLE), (3, DOUBLE), (4, DOUBLE), (5, DOUBLE), (6, DOUBLE), (7, DOUBLE), (8, DOUBLE)]);
const COLUMN: Shape = Struct(&[
    (1, I32),
    (2, List(&I32)),
    (4, I32),
    (5, I64),
    (6, I64),
    (7, I64),
    (9, I64),
    (10, I64),
    (11, I64),
    (12, STATISTICS),
    (13, List(&Struct(&[(1, I32), (2, I32), (3, I32)]))),
    (14, I64),
    (15, I32),
    (16, Struct(&[(1, I64), (2, List(&I64)), (3, List(&I64))])),
    (17, Struct(&[(1, BOX), (2, List(&I32))])),
]);
const CHUNK: Shape = Struct(&[(1, BYTES), (2, I64), (3, COLUMN), (4, I64), (5, I32), (6, I64), (7, I32)]);
const ROW_GROUP: Shape = Struct(&[
    (1, List(&CHUNK)),
    (2, I64),
    (3, I64),
    (4, List(&Struct(&[(1, I32), (2, Bool), (3, Bool)]))),
    (5, I64),
    (7, I16),
]);

/// FileMetaData, the footer.
pub(crate) const FOOTER: Shape = Struct(&[
    (1, I32),
    (2, List(&SCHEMA_ELEMENT)),
    (3, I64),
    (4, List(&ROW_GROUP)),
    (5, List(&KEY_VALUE)),
    (6, BYTES),
    (7, List(&Struct(&[(1, EMPTY), (2, EMPTY)]))),
]);
