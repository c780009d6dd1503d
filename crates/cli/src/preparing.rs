//! The preparation of the columns, and its report.

use crate::flags::{Preparing, ScaleName, with_flags};
use crate::report::EffectiveParameter;
use crate::request::word;
use crate::warn;
use eigenfold::{
    Log, Model, Points, Preparation, Result,
    io::schema::{Column, Role},
};
use serde_json::{Value, json};

/// Prepared points, for commands that keep no model; notes about them are printed.
pub(crate) fn prepared(
    preparation: &Preparation,
    points: Points,
    names: Option<&[String]>,
    quiet: bool,
) -> Result<Points> {
    if preparation.is_none() {
        return Ok(points);
    }
    let (prepared, notes) = preparation.learn(&points, names)?;
    notes.iter().for_each(|note| warn(quiet, &with_flags(note)));
    prepared.apply(&points, names)
}

/// The requested and the actual preparation, if there is any.
pub(crate) fn parameters(flags: &Preparing, done: &Preparation) -> Vec<EffectiveParameter> {
    let scale = if flags.standardize { Some(ScaleName::Unit) } else { flags.scale_columns };
    let (scale_requested, log_requested) = (scale.map(word), flags.log.map(word));
    let log = EffectiveParameter {
        name: "log".into(),
        requested: log_requested,
        used: done.log.map_or("none", Log::name).into(),
    };
    let scale =
        EffectiveParameter { name: "scale-columns".into(), requested: scale_requested, used: done.scale.name().into() };
    [log, scale].into_iter().filter(|one| one.requested.is_some() || one.used != "none").collect()
}

/// What was done to every column, if anything was.
pub(crate) fn json(model: &Model) -> Option<Value> {
    let columns = model.prepared()?.columns().iter().enumerate();
    let name = |j: usize| model.names().and_then(|names| names.get(j));
    let one = |(j, column): (usize, &eigenfold::PreparedColumn)| {
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
