//! The columns of new rows, told by those that a model was made from.
//!
//! Where both have names, columns go by them: another order is put right, and what the model does not know is left out; both
//! are said. A column that is missing is an error. Without names, columns go by their places.

use super::columns::{Columns, Role, Roles, quoted};
use super::{ReadOptions, format_error};
use crate::error::Result;
use crate::schema::{self, Schema};
use std::path::Path;

/// The names that a message lists.
const LISTED: usize = 5;

impl Columns {
    /// What each column is for, as it was in the table of the model; nothing if that has to be told by the options alone.
    pub(super) fn roles_like(
        &self,
        path: &Path,
        like: &Schema,
        options: &ReadOptions,
        kept: Vec<usize>,
    ) -> Result<Option<Roles>> {
        let Some(names) = self.names().filter(|_| like.is_named()) else {
            return Ok(self.roles_by_place(like, options, kept));
        };
        // Of several columns of one name, the first goes with the first.
        let mut taken = vec![false; names.len()];
        let mut take = |name: &str| {
            let at = (0..names.len()).find(|&c| !taken[c] && names[c] == name)?;
            taken[at] = true;
            Some(at)
        };
        let (mut data, mut one_hot, mut label, mut absent) = (Vec::new(), Vec::new(), None, Vec::new());
        for column in &like.columns {
            let name = column.name.as_deref().unwrap_or_default();
            match (&column.role, take(name)) {
                (schema::Role::Data, Some(at)) => data.push(at),
                (schema::Role::OneHot(_), Some(at)) => one_hot.push(at),
                (schema::Role::Label, at) => label = at,
                (schema::Role::Ignored, _) => {}
                (schema::Role::Data | schema::Role::OneHot(_), None) => absent.push(name.to_string()),
            }
        }
        if let Some(asked) = &options.label {
            label = Some(self.find_one(path, "`label`", asked)?);
        }
        if let [first, others @ ..] = absent.as_slice() {
            let more = if others.is_empty() { String::new() } else { format!(" (nor {} others)", others.len()) };
            let fact = format!("there is no column {first:?}{more}, which the model was made from");
            return Err(format_error(path, format!("{fact}; add it, or call the column that it is by this name")));
        }
        let twice = |&&c: &&usize| data.contains(&c) || one_hot.contains(&c);
        if let Some(&column) = label.iter().chain(&kept).find(twice) {
            let title = self.title(column);
            let fact = format!("{title} is a feature of the model and cannot be a label or be kept, too");
            return Err(format_error(path, format!("{fact}; leave out `label` and `keep` of it")));
        }
        let mut of = vec![Role::Ignored; self.count()];
        data.iter().for_each(|&column| of[column] = Role::Data);
        let carried = one_hot.iter().chain(&label).chain(&kept);
        carried.for_each(|&column| of[column] = Role::Carried);
        let mut notes = Vec::new();
        if !data.is_sorted() {
            notes.push("the columns stand in another order than those of the model; they were put in its order".into());
        }
        let extra = |&c: &usize| !taken[c] && of[c] == Role::Ignored && !self.is_left_out(c, options);
        let extra: Vec<String> = (0..names.len()).filter(extra).map(|c| names[c].clone()).collect();
        if !extra.is_empty() {
            let one = extra.len() == 1;
            let (what, verb, them) = if one { ("column", "was", "it") } else { ("columns", "were", "them") };
            let listed = quoted(&extra[..extra.len().min(LISTED)]);
            let more = extra.len().saturating_sub(LISTED);
            let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
            notes.push(format!("{what} {listed}{rest} {verb} left out: the model does not know {them}"));
        }
        Ok(Some(Roles { of, label, kept, one_hot, order: Some(data), notes }))
    }

    /// Whether the options leave this column out, so that nothing has to be said of it.
    fn is_left_out(&self, column: usize, options: &ReadOptions) -> bool {
        let found = |wanted: &String| self.find_all(Path::new(""), "", wanted).is_ok_and(|all| all.contains(&column));
        options.ignore.iter().any(found)
    }

    /// The same by places: all columns of the table of the model, or its features alone.
    fn roles_by_place(&self, like: &Schema, options: &ReadOptions, kept: Vec<usize>) -> Option<Roles> {
        let told = options.label.is_some() || !options.ignore.is_empty();
        let is_feature = |role: &schema::Role| matches!(role, schema::Role::Data | schema::Role::OneHot(_));
        let is_category = |column: &schema::Column| matches!(column.role, schema::Role::OneHot(_));
        // What the options say of columns goes first, but they cannot say what the levels were.
        if told && !like.columns.iter().any(is_category) {
            return None;
        }
        let mut roles: Vec<&schema::Role> = like.columns.iter().map(|column| &column.role).collect();
        if roles.len() != self.count() {
            roles.retain(|role| is_feature(role));
        }
        if roles.len() != self.count() {
            return None;
        }
        let of = |(c, role): (usize, &&schema::Role)| match role {
            schema::Role::Data if !kept.contains(&c) => Role::Data,
            schema::Role::Ignored if !kept.contains(&c) => Role::Ignored,
            _ => Role::Carried,
        };
        let one_hot = (0..roles.len()).filter(|&c| matches!(roles[c], schema::Role::OneHot(_))).collect();
        let label = roles.iter().position(|role| **role == schema::Role::Label);
        let of = roles.iter().enumerate().map(of).collect();
        Some(Roles { of, label, kept, one_hot, order: None, notes: Vec::new() })
    }
}
