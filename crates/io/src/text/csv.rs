//! Tables as text: comma, tab, semicolon or spaces between the values, with or without a header.
//!
//! Rows that hold no quote are read in parallel, a chunk of the file each; a cell that is not a number stops the
//! reading with its row, its line and its column.

use crate::columns::carried::Cells;
use crate::columns::{Columns, Gone, Role, Roles, Want, place};
use crate::sheet::Sheet;
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
    let detected = || dialect::delimiter_of(&text, options.has_decimal_comma());
    let delimiter = options.delimiter.or(delimiter).unwrap_or_else(detected);
    options.check_decimal(path, delimiter)?;
    if delimiter == SPACES {
        text = Cow::Owned(dialect::squeeze(&text));
    }
    check_quotes(path, &text, delimiter, skipped)?;
    let Dialect { header, width, note, .. } = Dialect::of(path, &text, skipped + 1, delimiter, options)?;
    let (first_row, detected) = (if header.is_some() { end_of_first_row(&text, delimiter) } else { 0 }, options.header);
    let columns = header.map_or(Columns::counted(width), Columns::named);
    let columns = if detected.is_none() { columns.detected() } else { columns };
    let roles = columns.roles(path, options, want)?;
    let rows = check_room(path, bytes.len(), &text, &roles, options)?;
    // A small text is one chunk.
    let numbers = if text.len() > CHUNK { rows * roles.count(Role::Data) } else { 0 };

    let layout = Layout { delimiter, roles: &roles.of, options };
    let rows = read_chunks(&layout, &text[first_row..], room_for(path, numbers)?).map_err(|problem| {
        let line = skipped + line_of(&text, first_row + problem.byte);
        let lenient = ReadOptions { missing: true, ..options.clone() };
        let lenient = Layout { delimiter, roles: &roles.of, options: &lenient };
        let all = || read_chunks(&lenient, &text[first_row..], Vec::new());
        let gone = || all().map_or(Gone::default(), |rows| Gone::of(&rows.values, roles.count(Role::Data)));
        describe(path, &columns, &roles, options, &problem, line, &gone)
    })?;
    refuse_row_numbers(path, &columns, &roles, &rows)?;
    let notes = note.iter().map(|note| format!("{}: {note}", path.display())).collect();
    let carried =
        separated(rows.texts, roles.count(Role::Carried)).into_iter().map(|texts| options.cells(texts)).collect();
    let (missing, width) = (options.missing, roles.count(Role::Data));
    Ok(Sheet { columns, roles, values: rows.values, width, carried, rows: rows.count, notes, missing })
}

/// The columns of cells that lie row by row.
fn separated(cells: Vec<String>, width: usize) -> Vec<Vec<String>> {
    let mut columns = vec![Vec::with_capacity(cells.len().checked_div(width).unwrap_or(0)); width];
    for (at, cell) in cells.into_iter().enumerate() {
        columns[at % width].push(cell);
    }
    columns
}

/// Refuses a text in which a quote is not closed, since it would take the rows below it for one cell.
fn check_quotes(path: &Path, text: &[u8], delimiter: u8, skipped: usize) -> Result<()> {
    let (fact, way_out) = match quotes::fault(text, delimiter) {
        None => return Ok(()),
        Some(quotes::Fault::Open(line)) => {
            (format!("the quote that opens in line {} is never closed", skipped + line), "close it or remove it")
        }
        Some(quotes::Fault::Followed(opened, line)) => {
            let (opened, line) = (skipped + opened, skipped + line);
            let fact = format!("the quote that opens in line {opened} closes within a cell in line {line}");
            (fact, "close it where its cell ends, and double quotes inside a cell")
        }
    };
    Err(format_error(path, fact, way_out))
}

/// Refuses a table that exceeds the memory limit together with its text; the most rows that it may have.
fn check_room(path: &Path, held: usize, text: &[u8], roles: &Roles, options: &ReadOptions) -> Result<usize> {
    let (data, carried) = (roles.count(Role::Data) as u64, roles.count(Role::Carried) as u64);
    let rows = lines_in(text) + 1;
    // What is carried is a text of its own.
    let table = (rows as u64).saturating_mul(8 * data + 40 * carried);
    check_memory(path, held as u64 + table, options.memory)?;
    Ok(rows)
}

/// How to read a row.
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
struct Rows {
    count: usize,
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

/// Refuses a first column without a name that counts the rows, as pandas and R write it: it is not data.
fn refuse_row_numbers(path: &Path, columns: &Columns, roles: &Roles, rows: &Rows) -> Result<()> {
    let names = columns.data_names(roles).unwrap_or_default();
    if roles.of[0] != Role::Data || rows.count < 2 || names.len() < 2 || !names[0].is_empty() {
        return Ok(());
    }
    let firsts = || rows.values.chunks_exact(names.len()).map(|row| row[0]).enumerate();
    if firsts().all(|(i, value)| value == i as f64) || firsts().all(|(i, value)| value == (i + 1) as f64) {
        return Err(format_error(path, "column 1 has no name and only counts the rows", "use `ignore` 1"));
    }
    Ok(())
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
fn lines_in(text: &[u8]) -> usize {
    let ends = |end: u8| text.iter().filter(|&&byte| byte == end).count();
    let both = if text.contains(&b'\r') { text.windows(2).filter(|two| two == b"\r\n").count() } else { 0 };
    ends(b'\n') + ends(b'\r') - both
}

/// Writes a header and the rows; missing cells are empty.
pub(crate) fn write(out: &mut dyn Write, delimiter: u8, outgoing: &Outgoing) -> std::io::Result<()> {
    let columns = &outgoing.columns;
    let names: Vec<Vec<u8>> = columns.iter().map(|(name, _)| quoted(name, delimiter)).collect();
    out.write_all(&names.join(&delimiter))?;
    out.write_all(b"\n")?;
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
