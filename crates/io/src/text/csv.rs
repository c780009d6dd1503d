//! Tables as text: comma, tab, semicolon or spaces between the values, with or without a header.
//!
//! Rows that hold no quote are read in parallel, a chunk of the file each; a cell that is not a number stops the
//! reading with its row, its line and its column.

use crate::columns::carried::Cells;
use crate::columns::{Columns, Gone, Role, Roles, Want, place};
use crate::numbers::Numbers;
use crate::sheet::{Extent, Sheet};
use crate::text::dialect;
use crate::text::dialect::{Dialect, SPACES};
use crate::text::quotes;
use crate::write::{Column, Outgoing};
use crate::{ReadOptions, check_memory, format_error, is_unusable, room_for};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

/// The bytes that one task reads, and about the bytes that one task writes.
const CHUNK: usize = 1 << 20;
/// The chunks of each thread that are read before they go into the table.
const PIECES_AT_ONCE: usize = 4;

/// How the rows of a text are read, as its first rows show.
pub(crate) struct Plan {
    pub(crate) columns: Columns,
    pub(crate) roles: Roles,
    pub(crate) delimiter: u8,
    /// The note about an uncertain header.
    note: Option<String>,
    /// Where the first row of data begins.
    pub(crate) first_row: usize,
}

impl Plan {
    /// The plan of a text that begins with a row, in this line of its file counted from 1.
    pub(crate) fn of(
        path: &Path,
        text: &[u8],
        line: usize,
        delimiter: u8,
        options: &ReadOptions,
        want: Want,
    ) -> Result<Plan> {
        let Dialect { header, width, note, .. } = Dialect::of(path, text, line, delimiter, options)?;
        let first_row = if header.is_some() { end_of_first_row(text, delimiter) } else { 0 };
        let columns = header.map_or(Columns::counted(width), Columns::named);
        let columns = if options.header.is_none() { columns.detected() } else { columns };
        let roles = columns.roles(path, options, want)?;
        Ok(Plan { columns, roles, delimiter, note, first_row })
    }

    /// Reads the rows of a text from a byte on; `line` lines are above the text.
    pub(crate) fn rows(
        &self,
        path: &Path,
        (whole, from): (&[u8], usize),
        line: usize,
        options: &ReadOptions,
        extent: Extent,
    ) -> Result<Rows> {
        let Plan { columns, roles, delimiter, .. } = self;
        let layout = Layout { delimiter: *delimiter, roles: &roles.of, options };
        let text = &whole[from..];
        // A small text is one chunk.
        let count = if text.len() > CHUNK { (lines_in(text) + 1) * roles.count(Role::Data) } else { 0 };
        read_chunks(&layout, text, room_for(path, count)?).map_err(|problem| {
            let line = line + line_of(whole, from + problem.byte);
            let problem = Problem { row: extent.above + problem.row, ..problem };
            let lenient = ReadOptions { missing: true, ..options.clone() };
            let lenient = Layout { options: &lenient, ..layout };
            let all = || read_chunks(&lenient, text, Vec::new());
            let gone = || match extent.partial {
                true => Gone::default(),
                false => all().map_or(Gone::default(), |rows| Gone::of(&rows.values, roles.count(Role::Data))),
            };
            describe(path, columns, roles, options, &problem, line, &gone)
        })
    }

    /// The sheet of these rows; with what is noted about the file, if they are the first.
    pub(crate) fn sheet(&self, path: &Path, rows: Rows, options: &ReadOptions, extent: Extent) -> Sheet {
        let note = self.note.iter().filter(|_| extent.above == 0);
        let notes = note.map(|note| format!("{}: {note}", path.display())).collect();
        let (carried, width) = (self.roles.count(Role::Carried), self.roles.count(Role::Data));
        let carried = separated(rows.texts, carried).into_iter().map(|texts| options.cells(texts)).collect();
        let (columns, roles, missing) = (self.columns.clone(), self.roles.clone(), options.missing);
        Sheet {
            columns,
            roles,
            values: Numbers::Double(rows.values),
            width,
            carried,
            rows: rows.count,
            notes,
            missing,
            extent,
        }
    }
}

/// The byte between two values of a text that begins with a row: the one that the options name, or `named`, or the one that
/// the first rows show.
pub(crate) fn delimiter_of(path: &Path, text: &[u8], named: Option<u8>, options: &ReadOptions) -> Result<u8> {
    let detected = || dialect::delimiter_of(text, options.has_decimal_comma());
    let delimiter = options.delimiter.or(named).unwrap_or_else(detected);
    options.check_decimal(path, delimiter)?;
    Ok(delimiter)
}

/// Reads a table from the bytes of a text file; `delimiter` is that of the extension.
pub(crate) fn read(
    path: &Path,
    bytes: &[u8],
    delimiter: Option<u8>,
    options: &ReadOptions,
    want: Want,
) -> Result<Sheet> {
    dialect::check_text(path, bytes)?;
    let start = dialect::start_of_table(bytes);
    let skipped = lines_in(&bytes[..start]);
    let mut text = Cow::Borrowed(&bytes[start..]);
    let delimiter = delimiter_of(path, &text, delimiter, options)?;
    if delimiter == SPACES {
        text = Cow::Owned(dialect::squeeze(&text));
    }
    if let Some(fault) = quotes::fault(&text, delimiter) {
        return Err(unclosed(path, &fault, skipped));
    }
    let plan = Plan::of(path, &text, skipped + 1, delimiter, options, want)?;
    check_room(path, bytes.len(), &text, &plan.roles, options)?;
    let extent = Extent::default();
    let rows = plan.rows(path, (&text, plan.first_row), skipped, options, extent)?;
    let mut counting = Counting::new(&plan);
    counting.pass(&rows);
    counting.refuse(path)?;
    Ok(plan.sheet(path, rows, options, extent))
}

/// The columns of cells that lie row by row.
fn separated(cells: Vec<String>, width: usize) -> Vec<Vec<String>> {
    let mut columns = vec![Vec::with_capacity(cells.len().checked_div(width).unwrap_or(0)); width];
    for (at, cell) in cells.into_iter().enumerate() {
        columns[at % width].push(cell);
    }
    columns
}

/// The error of a text in which a quote is not closed, since it would take the rows below it for one cell; `skipped` lines are
/// above the text.
pub(crate) fn unclosed(path: &Path, fault: &quotes::Fault, skipped: usize) -> Error {
    let (fact, way_out) = match fault {
        quotes::Fault::Open(line) => {
            (format!("the quote that opens in line {} is never closed", skipped + line), "close it or remove it")
        }
        quotes::Fault::Followed(opened, line) => {
            let (opened, line) = (skipped + opened, skipped + line);
            let fact = format!("the quote that opens in line {opened} closes within a cell in line {line}");
            (fact, "close it where its cell ends, and double quotes inside a cell")
        }
    };
    format_error(path, fact, way_out)
}

/// Refuses a table that exceeds the memory limit together with its text.
fn check_room(path: &Path, held: usize, text: &[u8], roles: &Roles, options: &ReadOptions) -> Result<()> {
    let (data, carried) = (roles.count(Role::Data) as u64, roles.count(Role::Carried) as u64);
    let rows = lines_in(text) + 1;
    // What is carried is a text of its own.
    let table = (rows as u64).saturating_mul(8 * data + 40 * carried);
    check_memory(path, held as u64 + table, options.memory)
}

/// How to read a row.
#[derive(Clone, Copy)]
struct Layout<'a> {
    delimiter: u8,
    roles: &'a [Role],
    options: &'a ReadOptions,
}

impl Layout<'_> {
    /// The number in a cell, NaN where it may be missing and is; nothing if it cannot be used.
    fn number(&self, cell: &[u8]) -> Option<f64> {
        let options = self.options;
        if !options.na.is_empty() && options.is_marked(cell) {
            return options.missing.then_some(f64::NAN);
        }
        match options.parse(cell).filter(|&value| !is_unusable(value, options)) {
            None if options.missing && dialect::is_missing(cell.trim_ascii()) => Some(f64::NAN),
            found => found,
        }
    }
}

/// The values of some rows.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) count: usize,
    values: Vec<f64>,
    /// The cells of carried columns, row by row.
    texts: Vec<String>,
}

/// Why a row cannot be read.
struct Problem {
    /// Counted from 1.
    row: usize,
    /// Where the row begins in the text.
    byte: usize,
    fault: Fault,
}

enum Fault {
    /// The number of values, which is not the right one.
    Count(usize),
    /// A data cell that is not a usable number: its column and its text.
    Cell(usize, String),
    /// A byte order mark before the row, as where files were joined.
    Mark,
}

/// Reads all rows of a text that has no header, into `room`.
fn read_chunks(layout: &Layout, text: &[u8], room: Vec<f64>) -> std::result::Result<Rows, Problem> {
    let mut bounds = vec![0];
    // A quoted value may hold a line end, and then only reading from the start tells where rows begin.
    if !text.contains(&b'"') {
        while text.len() - bounds[bounds.len() - 1] > CHUNK {
            let from = bounds[bounds.len() - 1] + CHUNK;
            match text[from..].iter().position(|&b| b == b'\n') {
                Some(end) => bounds.push(from + end + 1),
                None => break,
            }
        }
    }
    bounds.push(text.len());
    let chunks: Vec<&[u8]> = bounds.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect();
    let mut all = Rows { values: room, ..Rows::default() };
    // A few chunks at a time: beside the text and the table that it makes, no more than they are in memory.
    let some = PIECES_AT_ONCE * rayon::current_num_threads();
    for (group, start) in chunks.chunks(some).zip((0..).step_by(some)) {
        let read = parallel::collect(group.len(), |at| read_rows(layout, group[at]));
        for (chunk, at) in read.into_iter().zip(start..) {
            let chunk = chunk.map_err(|problem| Problem {
                row: all.count + problem.row,
                byte: bounds[at] + problem.byte,
                fault: problem.fault,
            })?;
            if chunks.len() == 1 {
                return Ok(chunk);
            }
            all.count += chunk.count;
            all.values.extend_from_slice(&chunk.values);
            all.texts.extend(chunk.texts);
        }
    }
    Ok(all)
}

/// Reads the rows of one chunk.
fn read_rows(layout: &Layout, text: &[u8]) -> std::result::Result<Rows, Problem> {
    // The reader would skip it silently, with the rest of its line.
    if text.starts_with(b"\xef\xbb\xbf") {
        return Err(Problem { row: 1, byte: 0, fault: Fault::Mark });
    }
    let width = layout.roles.len();
    let mut rows = Rows::default();
    let mut reader = dialect::rows_of(text, layout.delimiter);
    let mut record = ::csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).unwrap_or(false) {
        let problem = |fault| {
            let byte = record.position().map_or(0, |position| position.byte() as usize);
            Err(Problem { row: rows.count + 1, byte, fault })
        };
        let trailing = record.len() == width + 1 && record[width].trim_ascii().is_empty();
        if record.len() != width && !trailing {
            // A blank line is not a row.
            if record.len() == 1 && record[0].trim_ascii().is_empty() {
                continue;
            }
            return problem(Fault::Count(record.len()));
        }
        for (column, (cell, role)) in record.iter().zip(layout.roles).enumerate() {
            match role {
                Role::Ignored => {}
                Role::Carried => rows.texts.push(String::from_utf8_lossy(cell.trim_ascii()).into_owned()),
                Role::Data => match layout.number(cell) {
                    Some(value) => rows.values.push(value),
                    None => return problem(Fault::Cell(column, String::from_utf8_lossy(cell.trim_ascii()).into())),
                },
            }
        }
        rows.count += 1;
    }
    Ok(rows)
}

/// The message of a row that cannot be read; `gone` counts what is missing of the table.
fn describe(
    path: &Path,
    columns: &Columns,
    roles: &Roles,
    options: &ReadOptions,
    problem: &Problem,
    line: usize,
    gone: &dyn Fn() -> Gone,
) -> Error {
    let at = place(problem.row, Some(line));
    let (column, text) = match &problem.fault {
        Fault::Count(count) => {
            let expected = roles.of.len();
            let way_out = "give every row the same number, or name the delimiter";
            return format_error(path, format!("{at} has {count} values and the first has {expected}"), way_out)
                .at_row(problem.row - 1);
        }
        Fault::Cell(column, text) => (*column, text),
        Fault::Mark => {
            let fact = format!("{at} begins with a byte order mark, as where files were joined");
            return format_error(path, fact, "remove it").at_row(problem.row - 1);
        }
    };
    let is_missing = options.is_missing(text.as_bytes());
    if let Some(value) = options.parse(text.as_bytes()).filter(|value| !value.is_nan() && !is_missing) {
        return columns.bad_number(path, problem.row, Some(line), column, value);
    }
    let (title, flag) = (columns.title(column), columns.flag(column));
    let shown: String = text.chars().take(40).collect();
    let (fact, way_out) = if is_missing {
        let what = if text.is_empty() { "is empty".into() } else { format!("is missing ({shown:?})") };
        return columns.missing(path, &at, column, &what, gone()).at_row(problem.row - 1);
    } else if dialect::is_date(text) {
        let fact = format!("{title} holds dates or times ({shown:?} in {at}), which are not numbers");
        (fact, format!("use `ignore` {flag}, or write numbers, such as days since the first of them"))
    } else if options.has_decimal_comma() && dialect::parse(text.as_bytes()).is_some() {
        let fact = format!("{at}, {title} holds {shown:?}, and `decimal` , is used");
        (fact, "write all decimals with a comma, or leave it out".into())
    } else if dialect::parse(text.replace(',', ".").as_bytes()).is_some() {
        let fact = format!("{at}, {title} holds {shown:?}, a decimal comma");
        (fact, "use `decimal` , or write decimals with a point".into())
    } else {
        let label = if roles.label.is_some() { String::new() } else { format!("`label` {flag}, ") };
        let header = columns.header_way_out(problem.row);
        let way_out = format!("correct the cell, or use {label}`one-hot` {flag} or `ignore` {flag}{header}");
        (format!("{title} holds text ({shown:?} in {at})"), way_out)
    };
    format_error(path, fact, way_out).at_row(problem.row - 1).at_column(column)
}

/// Finds out whether the first column has no name and only counts the rows, as pandas and R write it: it is not data.
pub(crate) struct Counting {
    /// How many data columns there are.
    width: usize,
    seen: usize,
    /// Whether all rows until now have their number, counted from 0 and from 1.
    from: [bool; 2],
}

impl Counting {
    pub(crate) fn new(plan: &Plan) -> Counting {
        let names = plan.columns.data_names(&plan.roles).unwrap_or_default();
        let possible = plan.roles.of[0] == Role::Data && names.len() > 1 && names[0].is_empty();
        Counting { width: names.len(), seen: 0, from: [possible; 2] }
    }

    /// Passes further rows.
    pub(crate) fn pass(&mut self, rows: &Rows) {
        if self.from != [false; 2] {
            let firsts = || rows.values.chunks_exact(self.width).map(|row| row[0]).zip(self.seen..);
            self.from[0] &= firsts().all(|(value, i)| value == i as f64);
            self.from[1] &= firsts().all(|(value, i)| value == (i + 1) as f64);
        }
        self.seen += rows.count;
    }

    /// The error, when all rows have passed.
    pub(crate) fn refuse(&self, path: &Path) -> Result<()> {
        match self.seen > 1 && self.from != [false; 2] {
            true => Err(format_error(path, "column 1 has no name and only counts the rows", "use `ignore` 1")),
            false => Ok(()),
        }
    }
}

/// Where the second row begins.
fn end_of_first_row(text: &[u8], delimiter: u8) -> usize {
    let mut reader = dialect::rows_of(text, delimiter);
    let _ = reader.read_byte_record(&mut ::csv::ByteRecord::new());
    (reader.position().byte() as usize).min(text.len())
}

/// The line, counted from 1, of the row that begins at `byte`, past any empty lines.
fn line_of(text: &[u8], byte: usize) -> usize {
    let byte = byte.min(text.len());
    let blank = text[byte..].iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
    1 + lines_in(&text[..byte + blank])
}

/// The number of line ends; `\r\n` is one.
pub(crate) fn lines_in(text: &[u8]) -> usize {
    let ends = |end: u8| text.iter().filter(|&&byte| byte == end).count();
    let both = if text.contains(&b'\r') { text.windows(2).filter(|two| two == b"\r\n").count() } else { 0 };
    ends(b'\n') + ends(b'\r') - both
}

/// Writes a header and the rows; missing cells are empty.
pub(crate) fn write(out: &mut dyn Write, delimiter: u8, outgoing: &Outgoing) -> std::io::Result<()> {
    write_header(out, delimiter, outgoing)?;
    write_rows(out, delimiter, outgoing)
}

/// Writes the names of the columns.
pub(crate) fn write_header(out: &mut dyn Write, delimiter: u8, outgoing: &Outgoing) -> std::io::Result<()> {
    let names: Vec<Vec<u8>> = outgoing.columns.iter().map(|(name, _)| quoted(name, delimiter)).collect();
    out.write_all(&names.join(&delimiter))?;
    out.write_all(b"\n")
}

/// Writes the rows alone.
pub(crate) fn write_rows(out: &mut dyn Write, delimiter: u8, outgoing: &Outgoing) -> std::io::Result<()> {
    let columns = &outgoing.columns;
    let step = (CHUNK / (20 * columns.len())).max(1);
    let alone = columns.len() == 1;
    let text_of = |start: usize| {
        let mut text = Vec::with_capacity(CHUNK);
        for i in start..(start + step).min(outgoing.rows) {
            for (c, (_, column)) in columns.iter().enumerate() {
                if c > 0 {
                    text.push(delimiter);
                }
                match column {
                    Column::Carried(Cells::Texts(texts)) => text.extend(quoted(&texts[i], delimiter)),
                    // An empty line would not be a row.
                    column if column.number(i).is_nan() && alone => text.extend_from_slice(b"\"\""),
                    column if column.number(i).is_nan() => {}
                    column => push_number(&mut text, column.number(i)),
                }
            }
            text.push(b'\n');
        }
        text
    };
    // A few chunks at a time, so that the text of a large table is never in memory whole.
    let starts: Vec<usize> = (0..outgoing.rows).step_by(step).collect();
    for group in starts.chunks(16) {
        let texts = parallel::collect(group.len(), |at| text_of(group[at]));
        texts.iter().try_for_each(|text| out.write_all(text))?;
    }
    Ok(())
}

/// A name as a CSV cell, in quotes where it must be.
fn quoted(name: &str, delimiter: u8) -> Vec<u8> {
    let plain = !name.bytes().any(|b| b == delimiter || matches!(b, b'"' | b'\n' | b'\r' | b'#'));
    if plain { name.into() } else { format!("\"{}\"", name.replace('"', "\"\"")).into() }
}

/// The shortest text that reads back as the same number.
pub(crate) fn number(value: f64) -> String {
    let mut text = Vec::new();
    push_number(&mut text, value);
    String::from_utf8_lossy(&text).into_owned()
}

fn push_number(text: &mut Vec<u8>, value: f64) {
    let size = value.abs();
    // Writing to memory does not fail.
    let _ =
        if size != 0.0 && !(1e-5..1e16).contains(&size) { write!(text, "{value:e}") } else { write!(text, "{value}") };
}
