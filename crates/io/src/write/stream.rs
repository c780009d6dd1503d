//! Writes a table batch by batch: a file is complete or is not there, and a pipe gets whole rows.
//!
//! The bytes are those of [`write()`](crate::write()) with all rows at once. The number of rows of an NPY file is written when
//! it is known: before the first row, or at the end into the header, which a compressed file or a pipe does not allow.

use crate::compress::Compression;
use crate::text::csv;
use crate::write::Outgoing;
use crate::write::atomic::{BUFFER, check_replaceable, put_in_place, temporary_beside};
use crate::write::target::Target;
use crate::{Carried, Format, KNOWN, by_extension, format_error, npy, write_error};
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A table that is being written.
pub struct Writer {
    path: PathBuf,
    columns: Vec<String>,
    body: Body,
    /// The number of rows that was announced, and those that were written.
    announced: Option<usize>,
    rows: usize,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("path", &self.path).field("rows", &self.rows).finish_non_exhaustive()
    }
}

/// The format of a table, and where its bytes go.
enum Body {
    Text(u8, Out),
    Npy(Out),
    #[cfg(feature = "parquet")]
    Parquet(Box<crate::parquet::Rows<Out>>),
    #[cfg(feature = "arrow")]
    Arrow(Box<crate::arrow::Rows<Out>>),
}

/// What compresses the bytes.
enum Out {
    Plain(BufWriter<Raw>),
    #[cfg(feature = "compressed")]
    Gzip(Box<flate2::write::GzEncoder<BufWriter<Raw>>>),
    #[cfg(feature = "compressed")]
    Zstd(Box<zstd::stream::write::Encoder<'static, BufWriter<Raw>>>),
}

/// Where bytes go.
enum Raw {
    /// A temporary file, and its final name.
    Temporary(tempfile::NamedTempFile, PathBuf),
    Standard(std::io::Stdout),
    /// A device, a pipe or an open file.
    Direct(File),
}

impl Write for Raw {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Raw::Temporary(file, _) => file.write(bytes),
            Raw::Standard(out) => out.write(bytes),
            Raw::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Raw::Temporary(file, _) => file.flush(),
            Raw::Standard(out) => out.flush(),
            Raw::Direct(file) => file.flush(),
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Out::Plain(out) => out.write(bytes),
            #[cfg(feature = "compressed")]
            Out::Gzip(out) => out.write(bytes),
            #[cfg(feature = "compressed")]
            Out::Zstd(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Out::Plain(out) => out.flush(),
            #[cfg(feature = "compressed")]
            Out::Gzip(out) => out.flush(),
            #[cfg(feature = "compressed")]
            Out::Zstd(out) => out.flush(),
        }
    }
}

impl Out {
    fn of(raw: Raw, compression: Option<Compression>) -> std::io::Result<Out> {
        let out = BufWriter::with_capacity(BUFFER, raw);
        #[cfg(feature = "compressed")]
        match compression {
            None => {}
            Some(Compression::Gzip) => {
                let encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
                return Ok(Out::Gzip(Box::new(encoder)));
            }
            Some(Compression::Zstd) => {
                let mut encoder = zstd::stream::write::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                encoder.include_checksum(true)?;
                return Ok(Out::Zstd(Box::new(encoder)));
            }
        }
        #[cfg(not(feature = "compressed"))]
        if let Some(compression) = compression {
            compression.compress(&mut std::io::sink(), |_| Ok(()))?;
        }
        Ok(Out::Plain(out))
    }

    /// Whether rows reach a reader as they are written.
    fn is_direct(&self) -> bool {
        matches!(self, Out::Plain(out) if !matches!(out.get_ref(), Raw::Temporary(..)))
    }

    /// Whether the bytes at the start can be changed at the end.
    fn is_seekable(&self) -> bool {
        matches!(self, Out::Plain(out) if matches!(out.get_ref(), Raw::Temporary(..)))
    }

    /// What is below, when all bytes have passed.
    fn end(self) -> std::io::Result<Raw> {
        let buffer = match self {
            Out::Plain(out) => out,
            #[cfg(feature = "compressed")]
            Out::Gzip(out) => out.finish()?,
            #[cfg(feature = "compressed")]
            Out::Zstd(out) => out.finish()?,
        };
        let mut raw = buffer.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        raw.flush()?;
        Ok(raw)
    }
}

impl Writer {
    /// Opens an output, as [`write()`](crate::write()) names it, for tables with columns of these names and further columns that
    /// go with the points; `rows` is the number of all rows, if it is known.
    ///
    /// # Errors
    ///
    /// If the extension is unknown, if the format needs what is not known, or if the system refuses.
    pub fn open(target: impl AsRef<Path>, columns: &[String], carries: bool, rows: Option<usize>) -> Result<Writer> {
        let path = target.as_ref();
        let fail = |source| write_error(path, source);
        let target = Target::of(path)?;
        let device = !matches!(target, Target::File(_));
        let (compression, stem) = Compression::named(path);
        let Some(format) = by_extension(&stem).or(device.then_some(Format::Text(None))) else {
            let fact = "the extension is not that of a known format";
            return Err(match path.is_dir() {
                true => format_error(path, "is a directory", "name a file in it"),
                false => format_error(path, fact, format!("use {KNOWN}")),
            });
        };
        if format == Format::Npy && carries {
            let fact = "an NPY file holds coordinates and no other columns";
            return Err(format_error(path, fact, "write .csv, .tsv, .parquet or .arrow"));
        }
        let raw = match target {
            Target::Open(1) => Raw::Standard(std::io::stdout()),
            Target::Open(number) => {
                Raw::Direct(OpenOptions::new().append(true).open(format!("/dev/fd/{number}")).map_err(fail)?)
            }
            Target::Special(device) => Raw::Direct(OpenOptions::new().write(true).open(device).map_err(fail)?),
            Target::File(place) => {
                check_replaceable(&place, std::fs::metadata(&place).ok().as_ref()).map_err(fail)?;
                Raw::Temporary(temporary_beside(&place).map_err(fail)?, place)
            }
        };
        let mut out = Out::of(raw, compression).map_err(fail)?;
        let body = match format {
            Format::Text(delimiter) => Body::Text(delimiter.unwrap_or(b','), out),
            Format::Npy => {
                if rows.is_none() && !out.is_seekable() {
                    let fact = "an NPY file begins with its number of rows, which is not known yet";
                    return Err(format_error(path, fact, "write .csv, or a file that is not compressed"));
                }
                npy::write_header(&mut out, rows.unwrap_or(0), columns.len()).map_err(fail)?;
                Body::Npy(out)
            }
            #[cfg(feature = "parquet")]
            Format::Parquet => Body::Parquet(Box::new(crate::parquet::Rows::new(out))),
            #[cfg(not(feature = "parquet"))]
            Format::Parquet => return Err(crate::no_parquet(path)),
            #[cfg(feature = "arrow")]
            Format::Arrow => Body::Arrow(Box::new(crate::arrow::Rows::new(out))),
            #[cfg(not(feature = "arrow"))]
            Format::Arrow => return Err(crate::no_arrow(path)),
            Format::Npz => return Err(format_error(path, "an archive of arrays is not written", "write .npy")),
        };
        Ok(Writer { path: path.into(), columns: columns.to_vec(), body, announced: rows, rows: 0 })
    }

    /// Whether columns keep their types and whether cells may be missing from the first batch on: those of Parquet and Arrow
    /// are written before the rows.
    pub fn is_typed(target: impl AsRef<Path>) -> bool {
        let (_, stem) = Compression::named(target.as_ref());
        matches!(by_extension(&stem), Some(Format::Parquet | Format::Arrow))
    }

    /// Whether the bytes are those of [`write()`](crate::write()) only if all rows are written at once: a compressor cuts what
    /// it is given as a whole otherwise.
    pub fn is_whole(target: impl AsRef<Path>) -> bool {
        Writer::is_typed(&target) && Compression::named(target.as_ref()).0.is_some()
    }

    /// Whether the number of rows must be known before the first row.
    pub fn needs_rows(target: impl AsRef<Path>) -> bool {
        let path = target.as_ref();
        let (compression, stem) = Compression::named(path);
        let direct = !matches!(Target::of(path), Ok(Target::File(_)));
        by_extension(&stem) == Some(Format::Npy) && (compression.is_some() || direct)
    }

    /// Writes further rows.
    ///
    /// # Errors
    ///
    /// If the names or the cells do not fit the points, if a batch has other types than the first in a format with types, or
    /// if the system refuses.
    pub fn write(&mut self, points: &Points, carried: &[Carried]) -> Result<()> {
        let outgoing = Outgoing::of_points(&self.columns, points, carried)?;
        let path = &self.path;
        let fail = |source| write_error(path, source);
        let first = self.rows == 0;
        self.rows += points.rows();
        match &mut self.body {
            Body::Text(delimiter, out) => {
                if first {
                    csv::write_header(out, *delimiter, &outgoing).map_err(fail)?;
                }
                csv::write_rows(out, *delimiter, &outgoing).map_err(fail)?;
                if out.is_direct() { out.flush().map_err(fail) } else { Ok(()) }
            }
            Body::Npy(out) => npy::write_rows(out, &outgoing).map_err(fail),
            #[cfg(feature = "parquet")]
            Body::Parquet(rows) => rows.write(path, &outgoing),
            #[cfg(feature = "arrow")]
            Body::Arrow(rows) => rows.write(path, &outgoing),
        }
    }

    /// Completes the table, and gives a file its final name.
    ///
    /// # Errors
    ///
    /// If another number of rows was announced than was written, or if the system refuses.
    pub fn finish(self) -> Result<()> {
        let Writer { path, columns, body, announced, rows } = self;
        let fail = |source| write_error(&path, source);
        if announced.is_some_and(|announced| announced != rows) {
            let announced = announced.unwrap_or_default();
            let fact = format!("{rows} rows were written, and {announced} were announced");
            return Err(Error::mismatch("rows", (rows, announced), fact, "announce the right number"));
        }
        let is_npy = matches!(body, Body::Npy(_));
        let out = match body {
            Body::Text(_, out) | Body::Npy(out) => out,
            #[cfg(feature = "parquet")]
            Body::Parquet(rows) => rows.end(&path)?,
            #[cfg(feature = "arrow")]
            Body::Arrow(rows) => rows.end(&path)?,
        };
        let mut raw = out.end().map_err(fail)?;
        if let (Raw::Temporary(file, _), true, None) = (&mut raw, is_npy, announced) {
            let mut header = Vec::new();
            npy::write_header(&mut header, rows, columns.len()).map_err(fail)?;
            file.as_file_mut().seek(SeekFrom::Start(0)).and_then(|_| file.write_all(&header)).map_err(fail)?;
        }
        match raw {
            Raw::Temporary(file, place) => put_in_place(&path, file, &place),
            Raw::Standard(_) | Raw::Direct(_) => Ok(()),
        }
    }
}
