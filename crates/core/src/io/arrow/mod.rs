//! Arrow files and streams (Feather, version 2): columns of numbers in, columns of float64 out.
//!
//! Flat tables only, as with Parquet. The format is read and written here, since the crates that do so are many
//! (`docs/decisions/0090-arrow-by-hand.md`).

mod column;
mod flat;
mod message;
mod write;

pub(super) use message::{MAGIC, MARK};
pub(super) use write::encoded;

use crate::error::{Error, Result};
use crate::io::columns::{Columns, Role, Roles, Want};
use crate::io::sheet::{Gathered, Sheet};
use crate::io::{ReadOptions, check_memory, format_error};
use crate::memory;
use column::{Cells, Passed, Values};
use message::{Batch, Field, Kind, Message, messages};
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
    let reading = Reading { fields, roles: &roles, limit };
    let gathered = reading.gathered(batches).map_err(fail)?;
    Sheet::of_columns(path, columns, roles, rows, gathered, options)
}

/// Refuses more rows than there is room for beside the file.
fn check_room(path: &Path, rows: usize, held: u64, roles: &Roles, options: &ReadOptions) -> Result<()> {
    let (data, carried) = (roles.count(Role::Data) as u64, roles.count(Role::Carried) as u64);
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
        (_, Kind::Other(what, _)) => refuse(what),
        (_, Kind::OtherView) => refuse("holds bytes, not numbers"),
        (_, Kind::Number(..) | Kind::Bool | Kind::Text(_) | Kind::View) => Ok(()),
    }
}

/// What batches are read for.
struct Reading<'a> {
    fields: &'a [Field],
    roles: &'a Roles,
    /// The bytes that all texts, or a piece of a column, may take.
    limit: u64,
}

impl Reading<'_> {
    /// The wanted columns, in the order of the file.
    fn gathered(&self, messages: &[Message]) -> flat::Result<Vec<Gathered>> {
        let wanted = || (0..self.fields.len()).filter(|&c| self.roles.of[c] != Role::Ignored);
        let mut gathered: Vec<Gathered> = wanted().map(|_| Gathered::default()).collect();
        let mut dictionaries: BTreeMap<i64, Values> = BTreeMap::new();
        for message in messages {
            match message {
                Message::Schema(_) => return Err("it has two schemas".into()),
                Message::Dictionary { id, delta, batch } => {
                    let used = wanted().find(|&c| self.fields[c].dictionary.is_some_and(|(own, _)| own == *id));
                    let Some(c) = used else { continue };
                    let exact = self.roles.of[c] == Role::Carried;
                    let values = Passed::default().read(self.fields[c].kind, batch, exact, self.limit)?;
                    match dictionaries.get_mut(id).filter(|_| *delta) {
                        Some(known) => known.append(values)?,
                        None => drop(dictionaries.insert(*id, values)),
                    }
                }
                Message::Batch(batch) => self.batch(batch, &dictionaries, &mut gathered)?,
            }
        }
        Ok(gathered)
    }

    /// Adds the rows of a batch to the columns.
    fn batch(&self, batch: &Batch, known: &BTreeMap<i64, Values>, gathered: &mut [Gathered]) -> flat::Result<()> {
        let (mut passed, mut next) = (Passed::default(), gathered.iter_mut());
        for (field, role) in self.fields.iter().zip(&self.roles.of) {
            let Some(column) = (if *role == Role::Ignored { None } else { next.next() }) else {
                passed.skip(field, batch)?;
                continue;
            };
            let values = match field.dictionary {
                None => passed.read(field.kind, batch, *role == Role::Carried, self.limit)?,
                Some((id, places)) => {
                    let places = passed.read(places, batch, false, self.limit)?;
                    let known = known.get(&id).ok_or("a dictionary is used before it is there")?;
                    known.at(&places.cells, self.limit)?
                }
            };
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
                return Err("its texts have no room".into());
            }
        }
        Ok(())
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
