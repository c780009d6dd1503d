//! The contract of a method: everything that a method outside of this library is written with.
//!
//! A method is a struct of parameters with a [`Table`] and an implementation of [`Build`], which turns a [`Site`] (the
//! data, the graph, the number of coordinates) into what it [`Built`]: the [`Task`] of stage 3 and the [`Rule`] that embeds
//! new points. [`Method::own`](crate::Method::own) makes a recipe of it. A new rule implements [`Extension`].
//! `examples/own-method` is a method of this kind.

pub use crate::coordinates::{Map, map};
pub use crate::extend::{Batch, Extension, Known, Newcomer, Rule, Sizes, Traits, TransformFn};
pub use crate::field::{
    Affinity, Boxed, Build, Built, CoordinateScale, Descend, Energy, Field, Nearest, Regraph, Site, Solved, Task, Way,
};
pub use crate::fit::budget::MemoryBudget;
pub use crate::parameter::{
    Access, Applies, Auto, Choice, FieldValue, Kind, Named, Parameter, Parameters, Table, Value,
};
pub use eigenfold_linalg::optimize::{Emphasized, Fixed, Metric as Preconditioner, Momentum};
pub use eigenfold_linalg::{Operator, Root, SparseSymmetric};
