//! The roles of the columns of a table, which a model saves to match the columns of new rows by name.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The columns of a table, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    /// One entry per column.
    pub columns: Vec<Column>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its name, if the table names its columns.
    pub name: Option<String>,
    /// Its role.
    pub role: Role,
}

/// The role of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// A feature.
    Data,
    /// It labels the points.
    Label,
    /// It is left out.
    Ignored,
    /// A category with these levels: a feature of 0 and 1 for each of them, after all other features.
    OneHot(Vec<String>),
    /// A vector in every row, with this number of features.
    Vector(usize),
}

impl Schema {
    /// A table of features of these names and nothing else.
    pub fn of_features(names: &[String]) -> Schema {
        let column = |name: &String| Column { name: Some(name.clone()), role: Role::Data };
        Schema { columns: names.iter().map(column).collect() }
    }

    /// Whether it can be the schema of a table with this number of features.
    pub fn is_sound(&self, features: usize) -> bool {
        let sorted = self.levels().all(|levels| levels.is_sorted_by(|a, b| a < b));
        self.features() == features && sorted && self.has_one_block()
    }

    /// Whether the features are columns or one vector, and not both.
    pub(crate) fn has_one_block(&self) -> bool {
        let is_block = |column: &&Column| matches!(column.role, Role::Data | Role::Vector(_));
        self.vector().is_none() || self.columns.iter().filter(is_block).count() == 1
    }

    /// Whether the columns have names.
    pub fn is_named(&self) -> bool {
        self.columns.iter().all(|column| column.name.is_some())
    }

    /// The names of all columns, if they have names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().filter_map(|column| column.name.as_deref())
    }

    /// The features that are indicators of levels: the last ones.
    pub fn indicators(&self) -> Range<usize> {
        let features = self.features();
        features - self.levels().map(<[String]>::len).sum::<usize>()..features
    }

    /// How many features they make.
    pub fn features(&self) -> usize {
        let of = |column: &Column| match &column.role {
            Role::Data => 1,
            Role::Vector(width) => *width,
            Role::OneHot(levels) => levels.len(),
            Role::Label | Role::Ignored => 0,
        };
        // A damaged model may claim any width.
        self.columns.iter().map(of).fold(0, usize::saturating_add)
    }

    /// The column of vectors among them.
    pub(crate) fn vector(&self) -> Option<&Column> {
        self.columns.iter().find(|column| matches!(column.role, Role::Vector(_)))
    }

    /// The length of its vector.
    pub(crate) fn vector_length(&self) -> Option<usize> {
        self.columns.iter().find_map(|column| if let Role::Vector(length) = column.role { Some(length) } else { None })
    }

    /// The same with a feature per entry in place of a vector.
    pub(crate) fn unfolded(&self) -> Schema {
        let of = |column: &Column| match (&column.role, &column.name) {
            (Role::Vector(width), name) => {
                let name = |at: usize| name.as_ref().map(|name| entry(name, at));
                (0..*width).map(|at| Column { name: name(at), role: Role::Data }).collect()
            }
            _ => vec![column.clone()],
        };
        Schema { columns: self.columns.iter().flat_map(of).collect() }
    }

    /// The same with one vector of this name in place of the features of its entries, if they are all there, in order.
    pub(crate) fn folded(&self, name: &str) -> Option<Schema> {
        let features = || self.columns.iter().filter(|column| column.role == Role::Data);
        let width = features().count();
        let entries = features().enumerate().all(|(at, column)| column.name.as_deref() == Some(&entry(name, at)));
        let others = self.columns.iter().filter(|column| column.role != Role::Data).cloned();
        let vector = Column { name: Some(name.into()), role: Role::Vector(width) };
        (width > 0 && entries).then(|| Schema { columns: std::iter::once(vector).chain(others).collect() })
    }

    fn levels(&self) -> impl Iterator<Item = &[String]> {
        self.columns.iter().filter_map(|column| match &column.role {
            Role::OneHot(levels) => Some(levels.as_slice()),
            _ => None,
        })
    }
}

/// The name of one entry of a column of vectors, counted from 0.
pub(crate) fn entry(vector: &str, at: usize) -> String {
    format!("{vector}[{at}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_as_many_features_as_it_has_entries() {
        let vector = Column { name: Some("v".into()), role: Role::Vector(3) };
        let label = Column { name: Some("kind".into()), role: Role::Label };
        let schema = Schema { columns: vec![vector, label] };
        assert_eq!((schema.features(), schema.indicators()), (3, 3..3));
        let unfolded = schema.unfolded();
        assert_eq!(unfolded.names().collect::<Vec<_>>(), ["v[0]", "v[1]", "v[2]", "kind"]);
        assert_eq!(unfolded.folded("v"), Some(schema.clone()));
        assert_eq!(unfolded.folded("w"), None);
        let both = Schema { columns: [schema.columns.clone(), unfolded.columns].concat() };
        assert!(schema.is_sound(3) && !both.is_sound(6));
        let endless = Column { name: None, role: Role::Vector(usize::MAX) };
        assert_eq!(Schema { columns: vec![endless.clone(), endless] }.features(), usize::MAX);
    }
}
