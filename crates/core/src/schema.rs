//! What the columns of a table were for, as a model remembers it, so that the columns of new rows can be told by their names.

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
    /// What the table calls it, if it names its columns.
    pub name: Option<String>,
    /// What it was for.
    pub role: Role,
}

/// What a column is for.
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
}

impl Schema {
    /// A table of features of these names and nothing else.
    pub fn of_features(names: &[String]) -> Schema {
        let column = |name: &String| Column { name: Some(name.clone()), role: Role::Data };
        Schema { columns: names.iter().map(column).collect() }
    }

    /// Whether it could be that of a table with so many features.
    pub(crate) fn is_sound(&self, features: usize) -> bool {
        self.features() == features && self.levels().all(|levels| levels.is_sorted_by(|a, b| a < b))
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
        let data = self.columns.iter().filter(|column| column.role == Role::Data).count();
        data + self.levels().map(<[String]>::len).sum::<usize>()
    }

    fn levels(&self) -> impl Iterator<Item = &[String]> {
        self.columns.iter().filter_map(|column| match &column.role {
            Role::OneHot(levels) => Some(levels.as_slice()),
            _ => None,
        })
    }
}
