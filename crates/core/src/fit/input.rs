//! What a fit may be given beside its input.

use crate::ground::Ground;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};

/// What is given of the points beside the input itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Beside<'a> {
    /// Where a descent is to start, one row per point; methods that do not descend refuse it.
    pub start: Option<&'a Points>,
    /// The class of every point, nothing where it is not known; only a method that is told to looks at them.
    pub labels: Option<&'a [Option<u32>]>,
    /// What the columns of points are called, for messages and [`Model::names`](crate::Model::names).
    pub names: Option<&'a [String]>,
}

impl Beside<'_> {
    /// Whether there is one label per point.
    pub(crate) fn check(&self, ground: Ground<'_>) -> Result<()> {
        match self.labels.filter(|labels| labels.len() != ground.len()) {
            Some(labels) => {
                let fact = format!("there are {} labels for {} points", labels.len(), ground.len());
                Err(Error::data(format!("{fact}; give one per point")))
            }
            None => Ok(()),
        }
    }
}
