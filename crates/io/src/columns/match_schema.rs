//! Matches the columns of new rows to the columns that a model was fitted to.
//!
//! If both have names, columns are matched by name: another order is corrected, and unknown columns are left out; both are
//! reported. A missing column is an error. Without names, columns are matched by position.

use crate::columns::vectors::listed;
use crate::columns::{Columns, Role, Roles};
use crate::schema::{self, Schema};
use crate::{ReadOptions, format_error};
use eigenfold_linalg::error::{Error, Result};
use std::borrow::Cow;
use std::path::Path;

impl Columns {
    /// The role of each column, as in the table of the model; nothing if the options alone decide.
    pub(crate) fn roles_like(
        &self,
        path: &Path,
        like: &Schema,
        options: &ReadOptions,
        kept: Vec<usize>,
    ) -> Result<Option<Roles>> {
        let Some(names) = self.names().filter(|_| like.is_named()) else {
            return Ok(self.roles_by_place(&like.unfolded(), options, kept));
        };
        let like = self.folded_as_here(like, options);
        if !like.has_one_block() {
            return Err(Error::parameter(
                "schema",
                "the columns of a model are a vector and others",
                "give one or the other",
            ));
        }
        if options.vector.is_some() && like.vector().is_none() {
            return Ok(None);
        }
        // Of several columns of one name, the first goes with the first.
        let mut taken = vec![false; names.len()];
        let mut take = |name: &str| {
            let at = (0..names.len()).find(|&c| !taken[c] && names[c] == name)?;
            taken[at] = true;
            Some(at)
        };
        let (mut data, mut one_hot, mut label, mut absent) = (Vec::new(), Vec::new(), None, Vec::new());
        let mut vector = None;
        for column in &like.columns {
            let name = column.name.as_deref().unwrap_or_default();
            match (&column.role, take(name)) {
                (schema::Role::Vector(_), Some(at)) if !self.is_vector(at) => return Err(self.no_vector(path, at)),
                (schema::Role::Vector(_), Some(at)) => vector = Some(at),
                (schema::Role::Data, Some(at)) => data.push(at),
                (schema::Role::OneHot(_), Some(at)) => one_hot.push(at),
                (schema::Role::Label, at) => label = at,
                (schema::Role::Ignored, _) => {}
                (schema::Role::Data | schema::Role::OneHot(_) | schema::Role::Vector(_), None) => {
                    absent.push(name.to_string());
                }
            }
        }
        data.extend(vector);
        if let Some(label_name) = &options.label {
            label = Some(self.find_one(path, "`label`", label_name)?);
        }
        if let [first, others @ ..] = absent.as_slice() {
            let more = if others.is_empty() { String::new() } else { format!(" (and {} others)", others.len()) };
            let fact = format!("column {first:?}{more} of the model is missing");
            let call = "call the column that it is by this name";
            let call = if like.vector().is_some() { "use `vector` with the column that it is" } else { call };
            return Err(format_error(path, fact, format!("add it, or {call}")));
        }
        let twice = |&&c: &&usize| data.contains(&c) || one_hot.contains(&c);
        if let Some(&column) = label.iter().chain(&kept).find(twice) {
            let title = self.title(column);
            let fact = format!("{title} is a feature of the model and cannot be a label or be kept, too");
            return Err(format_error(path, fact, "leave out `label` and `keep` of it").at_column(column));
        }
        let mut of = vec![Role::Ignored; self.count()];
        data.iter().for_each(|&column| of[column] = Role::Data);
        let carried = one_hot.iter().chain(&label).chain(&kept);
        carried.for_each(|&column| of[column] = Role::Carried);
        let mut notes = Vec::new();
        if !data.is_sorted() {
            notes.push("the columns are in another order than those of the model; they were put in its order".into());
        }
        let extra = |&c: &usize| !taken[c] && of[c] == Role::Ignored && !self.is_left_out(c, options);
        let extra: Vec<String> = (0..names.len()).filter(extra).map(|c| names[c].clone()).collect();
        if !extra.is_empty() {
            let one = extra.len() == 1;
            let (what, verb, them) = if one { ("column", "was", "it") } else { ("columns", "were", "them") };
            notes.push(format!("{what} {} {verb} left out: the model does not use {them}", listed(&extra)));
        }
        Ok(Some(Roles { of, label, kept, one_hot, order: Some(data), vector, notes }))
    }

    /// The columns of a model as this file has them: a vector by its entries where there are columns of these names, entries
    /// as a vector where there is one; and a vector by another name if the options name it.
    fn folded_as_here<'a>(&self, like: &'a Schema, options: &ReadOptions) -> Cow<'a, Schema> {
        let is_here = |name: &str| self.names().is_some_and(|names| names.iter().any(|own| own == name));
        let Some(vector) = like.vector().and_then(|column| column.name.as_deref()) else {
            let vectors = (0..self.count()).filter(|&c| self.is_vector(c)).map(|c| self.carried_name(c));
            let folded = vectors.filter(|_| options.vector.is_none()).find_map(|name| like.folded(&name));
            return folded.map_or(Cow::Borrowed(like), Cow::Owned);
        };
        let called = options.vector.clone().unwrap_or_else(|| vector.to_string());
        if called == vector {
            let entries = !is_here(vector) && is_here(&schema::entry(vector, 0));
            return if entries { Cow::Owned(like.unfolded()) } else { Cow::Borrowed(like) };
        }
        let renamed = |column: &schema::Column| match &column.role {
            schema::Role::Vector(_) => schema::Column { name: Some(called.clone()), role: column.role.clone() },
            _ => column.clone(),
        };
        Cow::Owned(Schema { columns: like.columns.iter().map(renamed).collect() })
    }

    /// Whether the options leave this column out, so that it needs no note.
    fn is_left_out(&self, column: usize, options: &ReadOptions) -> bool {
        let found = |wanted: &String| self.find_all(Path::new(""), "", wanted).is_ok_and(|all| all.contains(&column));
        options.ignore.iter().any(found)
    }

    /// The same by position: all columns of the table of the model, or its features alone.
    fn roles_by_place(&self, like: &Schema, options: &ReadOptions, kept: Vec<usize>) -> Option<Roles> {
        let named = options.label.is_some() || !options.ignore.is_empty();
        let is_feature = |role: &schema::Role| matches!(role, schema::Role::Data | schema::Role::OneHot(_));
        let is_category = |column: &schema::Column| matches!(column.role, schema::Role::OneHot(_));
        if (0..self.count()).any(|c| self.is_vector(c)) {
            return None;
        }
        // The options have priority, but they do not have the levels.
        if named && !like.columns.iter().any(is_category) {
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
        Some(Roles { of, label, kept, one_hot, order: None, vector: None, notes: Vec::new() })
    }
}
