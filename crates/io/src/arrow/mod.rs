//! Arrow files and streams (Feather, version 2): columns of numbers in, columns of float64 out.
//!
//! Flat tables and columns of vectors, as with Parquet. The format is read and written here, since the crates that do so are many
//! (`docs/decisions/0090-arrow-by-hand.md`).

mod column;
mod flat;
mod list;
mod message;
mod write;

pub(super) use message::{MAGIC, MARK};
pub(super) use write::encoded;

use crate::columns::{Columns, Role, Roles, Want};
use crate::sheet::{Gathered, Sheet};
use crate::vectors::Block;
use crate::{ReadOptions, check_memory, format_error};
use column::{Cells, Passed, Values};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::memory;
use message::{Batch, DATES, Field, Kind, Message, messages};
use std::collections::BTreeMap;
use std::path::Path;

/// The first bytes of Feather's first version, which was another format.
pub(super) const FIRST_VERSION: &[u8] = b"FEA1";

/// Reads a table from the bytes of a file or a stream.
pub(super) fn read(path: &Path, bytes: &[u8], options: &ReadOptions, want: Want) -> Result<Sheet> {
    let fail = |reason: String| unreadable(path, &reason);
    if bytes.starts_with(FIRST_VERSION) {
        return Err(format_error(path, "is Feather of version 1; write it again as version 2, or as .parquet"));
    }
    let messages = messages(bytes).map_err(fail)?;
    let Some((Message::Schema(fields), batches)) = messages.split_first() else {
        return Err(unreadable(path, "it does not begin with a schema"));
    };
    let columns = Columns::named(fields.iter().map(|field| field.name.clone()).collect());
    let columns = columns.with_vectors((0..fields.len()).filter(|&c| fields[c].vector().is_some()).collect());
    let roles = columns.roles(path, options, want)?;
    for (c, field) in fields.iter().enumerate() {
        check_kind(path, &columns, c, field, roles.of[c])?;
    }
    let rows = batches.iter().try_fold(0usize, |rows, message| match message {
        Message::Batch(batch) => rows.checked_add(batch.rows),
        _ => Some(rows),
    });
    let rows = rows.ok_or_else(|| unreadable(path, "it has more rows than memory"))?;
    check_room(path, rows, bytes.len() as u64, &roles, options)?;
    let limit = options.memory.unwrap_or_else(memory::available).saturating_sub(bytes.len() as u64);
    let held = (rows as u64).saturating_mul(40 * roles.count(Role::Carried) as u64).saturating_add(bytes.len() as u64);
    let vectors = roles.vector.map(|column| Block::new(path, &columns, column, (rows, held), options));
    let gathered = Reading { fields, roles: &roles, limit, fail: &fail, vectors }.gathered(batches)?;
    Sheet::of_columns(path, columns, roles, rows, gathered, options)
}

/// Refuses more rows than there is room for beside the file.
fn check_room(path: &Path, rows: usize, held: u64, roles: &Roles, options: &ReadOptions) -> Result<()> {
    let (data, carried) = (roles.count(Role::Data) as u64, roles.count(Role::Carried) as u64);
    // Vectors are seen to when their length is known.
    let data = if roles.vector.is_some() { 0 } else { data };
    // The columns are put together in the end, when all of them are there.
    let table = (rows as u64).saturating_mul(16 * data + 40 * carried);
    check_memory(path, table.saturating_add(held), options.memory)
}

/// Refuses a column that is wanted and cannot be read.
fn check_kind(path: &Path, columns: &Columns, c: usize, field: &Field, role: Role) -> Result<()> {
    let (title, flag) = (columns.title(c), columns.flag(c));
    let refuse = |what: &str| Err(format_error(path, format!("{title} {what}; use `ignore` {flag}")));
    match (role, field.kind) {
        (Role::Ignored, _) => Ok(()),
        (Role::Data, _) if field.name.contains("__index_level_") => refuse("is a row index that pandas wrote"),
        (Role::Data, Kind::Text(_) | Kind::View) => {
            Err(format_error(path, format!("{title} holds text; use `label` {flag} or `ignore` {flag}")))
        }
        (Role::Data, Kind::List(_) | Kind::FixedList(_)) if field.vector().is_some() => Ok(()),
        (Role::Carried, Kind::List(_) | Kind::FixedList(_)) => {
            Err(format_error(path, format!("{title} holds lists, not one value a row; name another column")))
        }
        (_, Kind::List(_) | Kind::FixedList(_)) => refuse(lists(field)),
        (_, Kind::Other(DATES, _)) => {
            let way_out = format!("use `ignore` {flag}, or write numbers, such as days since the first of them");
            Err(format_error(path, format!("{title} {DATES}; {way_out}")))
        }
        (_, Kind::Other(what, _)) => refuse(what),
        (_, Kind::OtherView) => refuse("holds bytes, not numbers"),
        (_, Kind::Number(..) | Kind::Bool | Kind::Text(_) | Kind::View | Kind::Decimal(_)) => Ok(()),
    }
}

/// What lists hold that are no vectors of numbers.
fn lists(field: &Field) -> &'static str {
    match field.children.first().map(|entry| entry.kind) {
        Some(Kind::List(_) | Kind::FixedList(_)) => "holds lists of lists, not vectors of numbers",
        Some(Kind::Text(_) | Kind::View) => "holds lists of texts, not vectors of numbers",
        _ => "holds lists, not vectors of numbers",
    }
}

/// What batches are read for.
struct Reading<'a> {
    fields: &'a [Field],
    roles: &'a Roles,
    /// The bytes that all texts, or a chunk of a column, may take.
    limit: u64,
    /// Makes an error of what is wrong with the file.
    fail: &'a dyn Fn(String) -> Error,
    /// The vectors, if the points are in a column of them.
    vectors: Option<Block<'a>>,
}

impl Reading<'_> {
    /// The wanted columns, in the order of the file.
    fn gathered(mut self, messages: &[Message]) -> Result<Vec<Gathered>> {
        let wanted: Vec<usize> = (0..self.fields.len()).filter(|&c| self.roles.of[c] != Role::Ignored).collect();
        let mut gathered: Vec<Gathered> = wanted.iter().map(|_| Gathered::default()).collect();
        let mut dictionaries: BTreeMap<i64, Values> = BTreeMap::new();
        for message in messages {
            match message {
                Message::Schema(_) => return Err((self.fail)("it has two schemas".into())),
                Message::Dictionary { id, delta, batch } => {
                    let used = wanted.iter().find(|&&c| self.fields[c].dictionary.is_some_and(|(own, _)| own == *id));
                    let Some(&c) = used else { continue };
                    let exact = self.roles.of[c] == Role::Carried;
                    let values = Passed::default().read(self.fields[c].kind, batch, exact, self.limit);
                    let values = values.map_err(self.fail)?;
                    match dictionaries.get_mut(id).filter(|_| *delta) {
                        Some(known) => known.append(values).map_err(self.fail)?,
                        None => drop(dictionaries.insert(*id, values)),
                    }
                }
                Message::Batch(batch) => self.batch(batch, &dictionaries, &mut gathered)?,
            }
        }
        if let Some(vectors) = self.vectors {
            let at = wanted.iter().position(|&c| c == vectors.column);
            if let Some(column) = at.and_then(|at| gathered.get_mut(at)) {
                *column = vectors.finished()?;
            }
        }
        Ok(gathered)
    }

    /// Adds the rows of a batch to the columns.
    fn batch(&mut self, batch: &Batch, known: &BTreeMap<i64, Values>, gathered: &mut [Gathered]) -> Result<()> {
        let (mut passed, mut next, fail) = (Passed::default(), gathered.iter_mut(), self.fail);
        for (c, (field, role)) in self.fields.iter().zip(&self.roles.of).enumerate() {
            let Some(column) = (if *role == Role::Ignored { None } else { next.next() }) else {
                passed.skip(field, batch).map_err(fail)?;
                continue;
            };
            if let Some(vectors) = self.vectors.as_mut().filter(|vectors| vectors.column == c) {
                passed.read_vectors(field, batch, self.limit, vectors, fail)?;
                continue;
            }
            let values = self.values(field, *role, batch, known, &mut passed).map_err(fail)?;
            let before = column.numbers.len() + column.texts.len();
            column.first_null = column.first_null.or(values.null.map(|null| before + null + 1));
            match values.cells {
                Cells::Numbers(numbers) => column.numbers.extend(numbers),
                Cells::Texts(texts) => {
                    column.length += texts.iter().map(|text| text.len() as u64).sum::<u64>();
                    column.texts.extend(texts);
                }
            }
            if column.length > self.limit {
                return Err(fail("its texts have no room".into()));
            }
        }
        Ok(())
    }

    /// What a batch holds of a column, by its dictionary if it has one.
    fn values(
        &self,
        field: &Field,
        role: Role,
        batch: &Batch,
        known: &BTreeMap<i64, Values>,
        passed: &mut Passed,
    ) -> flat::Result<Values> {
        match field.dictionary {
            None => passed.read(field.kind, batch, role == Role::Carried, self.limit),
            Some((id, places)) => {
                let places = passed.read(places, batch, false, self.limit)?;
                let known = known.get(&id).ok_or("a dictionary is used before it is there")?;
                known.at(&places.cells, self.limit)
            }
        }
    }
}

impl Values {
    /// Adds more values of a dictionary.
    fn append(&mut self, more: Values) -> flat::Result<()> {
        match (&mut self.cells, more.cells) {
            (Cells::Numbers(all), Cells::Numbers(more)) => all.extend(more),
            (Cells::Texts(all), Cells::Texts(more)) => all.extend(more),
            _ => return Err("a dictionary changes its type".into()),
        }
        Ok(())
    }

    /// The values at these places, null where the place or the value is.
    fn at(&self, places: &Cells, limit: u64) -> flat::Result<Values> {
        let Cells::Numbers(places) = places else { return Err("the places in a dictionary are texts".into()) };
        let length = match &self.cells {
            Cells::Numbers(values) => values.len(),
            Cells::Texts(values) => values.len(),
        };
        if places.iter().any(|place| !place.is_nan() && !(0.0..length as f64).contains(place)) {
            return Err("a dictionary has fewer values than are used".into());
        }
        let at = |place: &f64| (!place.is_nan()).then_some(*place as usize);
        Ok(match &self.cells {
            Cells::Numbers(values) => {
                let numbers: Vec<f64> =
                    places.iter().map(|place| at(place).map_or(f64::NAN, |at| values[at])).collect();
                Values { null: numbers.iter().position(|number| number.is_nan()), cells: Cells::Numbers(numbers) }
            }
            Cells::Texts(values) => {
                // A long text may be that of many rows.
                if places.iter().filter_map(at).map(|at| values[at].len() as u64).sum::<u64>() > limit {
                    return Err("its texts have no room".into());
                }
                let text = |place: &f64| at(place).map_or(String::new(), |at| values[at].clone());
                let null = places.iter().position(|place| place.is_nan());
                Values { cells: Cells::Texts(places.iter().map(text).collect()), null }
            }
        })
    }
}

/// The error of a file that cannot be read.
fn unreadable(path: &Path, reason: &str) -> Error {
    let reason = reason.replace('\n', " ");
    format_error(path, format!("cannot be read as Arrow ({reason}); write it again, or as .csv or .npy"))
}
