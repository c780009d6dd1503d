//! The columns, prepared as the flags ask for it, and what is told of it.

use crate::flags::{Preparing, ScaleName, with_flags};
use crate::report::Chosen;
use crate::request::word;
use crate::warn;
use eigenfold::error::Result;
use eigenfold::preparation::{Log, Preparation};
use eigenfold::schema::{Column, Role};
use eigenfold::{Model, Points};
use serde_json::{Value, json};

/// Points prepared as it is asked for, for commands that keep no model; what is to be known of it is said.
pub(crate) fn prepared(asked: &Preparation, points: Points, names: Option<&[String]>, quiet: bool) -> Result<Points> {
    if asked.is_none() {
        return Ok(points);
    }
    let (prepared, notes) = asked.learn(&points, names)?;
    notes.iter().for_each(|note| warn(quiet, &with_flags(note)));
    prepared.apply(&points, names)
}

/// What was asked for and what was done, if either is anything.
pub(crate) fn parameters(flags: &Preparing, done: &Preparation) -> Vec<Chosen> {
    let scale = if flags.standardize { Some(ScaleName::Unit) } else { flags.scale_columns };
    let (scale_asked, log_asked) = (scale.map(word), flags.log.map(word));
    let log = Chosen { name: "log".into(), asked: log_asked, used: done.log.map_or("none", Log::name).into() };
    let scale = Chosen { name: "scale-columns".into(), asked: scale_asked, used: done.scale.name().into() };
    [log, scale].into_iter().filter(|chosen| chosen.asked.is_some() || chosen.used != "none").collect()
}

/// What was done to every column, if anything was.
pub(crate) fn json(model: &Model) -> Option<Value> {
    let columns = model.prepared()?.columns().iter().enumerate();
    let name = |j: usize| model.names().and_then(|names| names.get(j));
    let one = |(j, column): (usize, &eigenfold::preparation::PreparedColumn)| {
        let log = column.log.map_or("none", Log::name);
        json!({"name": name(j), "log": log, "center": column.center, "scale": column.scale})
    };
    Some(json!({"columns": columns.map(one).collect::<Vec<_>>()}))
}

/// What every column of the table was for, of a model that knows it.
pub(crate) fn columns(model: &Model) -> Option<Value> {
    let one = |column: &Column| match &column.role {
        Role::Data => json!({"name": column.name, "role": "data"}),
        Role::Vector(width) => json!({"name": column.name, "role": "vector", "features": width}),
        Role::Label => json!({"name": column.name, "role": "label"}),
        Role::Ignored => json!({"name": column.name, "role": "ignored"}),
        Role::OneHot(levels) => json!({"name": column.name, "role": "category", "levels": levels}),
    };
    Some(model.schema()?.columns.iter().map(one).collect())
}
