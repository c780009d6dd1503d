//! A recipe names the three stages; `fit.rs` runs them.

use crate::field::entropy::drill::Drill;
use crate::field::scaling::pca::Pca;
use crate::field::unfolding;
use crate::input::Data;
use crate::likelihood::Likelihood;
use crate::method::Method;
use crate::preparation::Preparation;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Disconnected, Metric, Neighbors, Search};
use eigenfold_linalg::error::{Error, Result, plural};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The share of true neighbors that will do where they may be missed for speed.
pub(crate) const ROUGH: f64 = 0.9;

/// The three stages, named.
///
/// ```
/// use eigenfold::{Isomap, Neighbors, Recipe, sample::Sample};
///
/// let roll = Sample::SwissRoll.draw(500, 0.0, 1)?;
/// let recipe = Recipe { neighbors: Neighbors::Nearest(8), method: Isomap::default().into(), ..Recipe::default() };
/// let model = recipe.fit(&roll.points, &eigenfold::Silent)?;
/// assert_eq!(model.embedding().cols(), 2);
/// # Ok::<(), eigenfold::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// Before all stages: what is done to the columns of points. Everything after it, a radius or a bandwidth too, is about the
    /// prepared columns. Saved models have it at their end.
    #[serde(skip)]
    pub preparation: Preparation,
    /// Stage 1: who counts as a neighbor.
    pub neighbors: Neighbors,
    /// Stage 1: how far apart two points are.
    pub metric: Metric,
    /// Stage 1: whether neighbors may be missed for speed, a tenth of them at most; if not given, as the method can do with
    /// ([`Method::recall`]).
    pub approximate: Option<bool>,
    /// Stage 1: what to do with a graph in several components.
    pub disconnected: Disconnected,
    /// Stage 1: which of those neighbors matter, as a sparse precision over the points tells them; all if absent.
    pub learned: Option<Drill>,
    /// Stage 2.
    pub method: Method,
    /// Stage 3: how many coordinates.
    pub dims: usize,
    /// The seed of every random choice.
    pub seed: u64,
    /// How many bytes may be allocated; if not given, most of what the machine has free.
    pub memory: Option<u64>,
    /// After stage 3: whether the likelihood of the points under the field is computed.
    pub likelihood: Likelihood,
    /// After stage 3: within how many of the first coordinates the lengths of the map are put right, as
    /// [`unfolding::Rescaling`] says; the coordinates stay the method's own if absent.
    pub rescale: Option<usize>,
    /// Stage 3: how many maps on the way of a descent are kept ([`Model::snapshots`](crate::Model::snapshots)), from its
    /// start to its end; one for every λ of a path of them, however many.
    pub snapshots: usize,
    /// After stage 3: whether the affinities that a method learns on its map are kept
    /// ([`Model::weights`](crate::Model::weights)); those of the edges of a graph always are.
    pub affinities: bool,
}

impl Default for Recipe {
    fn default() -> Recipe {
        Recipe {
            preparation: Preparation::default(),
            neighbors: Neighbors::default(),
            metric: Metric::default(),
            approximate: None,
            disconnected: Disconnected::default(),
            learned: None,
            method: Method::Pca(Pca::default()),
            dims: 2,
            seed: 0,
            memory: None,
            likelihood: Likelihood::default(),
            rescale: None,
            snapshots: 0,
            affinities: false,
        }
    }
}

impl Recipe {
    /// Whether the input and the parameters go together.
    pub(crate) fn check(&self, data: Data<'_>) -> Result<()> {
        let info = self.method.info();
        if !info.accepts.contains(&data.kind()) {
            let accepts: Vec<&str> = info.accepts.iter().map(|kind| kind.name()).collect();
            return Err(Error::input_kind(
                &accepts,
                format!("{} cannot start from {}", info.name, data.kind().name()),
                format!("it takes {}", accepts.join(", ")),
            ));
        }
        self.check_dims(data)?;
        self.check_rescale(data)
    }

    /// The metric of the recipe, unless the method does without it.
    pub(crate) fn used_metric(&self) -> Metric {
        if self.method.info().uses_metric { self.metric } else { Metric::default() }
    }

    /// The recipe without its preparation, and the points that it is for.
    ///
    /// # Errors
    ///
    /// If the preparation is not defined on the points.
    pub(crate) fn after_preparation<'a>(&self, points: &'a Points) -> Result<(Recipe, Cow<'a, Points>)> {
        let recipe = Recipe { preparation: Preparation::default(), ..self.clone() };
        if self.preparation.is_none() {
            return Ok((recipe, Cow::Borrowed(points)));
        }
        let prepared = self.preparation.learn(points, None)?.0;
        Ok((recipe, Cow::Owned(prepared.apply(points, None)?)))
    }

    fn check_dims(&self, data: Data<'_>) -> Result<()> {
        let (n, dims) = (data.len(), self.dims);
        if n < 2 {
            return Err(Error::too_small(n, 2, format!("there is only {n} point"), "give at least two"));
        }
        if dims == 0 {
            return Err(Error::out_of_range("dims", 0, 1..=n - 1, "`dims` is 0", "use `dims` 1 or more"));
        }
        if dims > n - 1 {
            let (most, fact) = (n - 1, format!("{n} points span at most {}", plural(n - 1, "dimension")));
            return Err(Error::Dims { requested: dims, most, fact });
        }
        Ok(())
    }

    pub(crate) fn check_rescale(&self, data: Data<'_>) -> Result<()> {
        let (info, n, dims) = (self.method.info(), data.len(), self.dims);
        let Some(rescale) = self.rescale else { return Ok(()) };
        if !self.needs_graph(data) {
            let fact = "has no neighborhood graph whose lengths could be kept";
            return Err(Error::inapplicable("rescale", format!("{} {fact}", info.name), "leave out `rescale`"));
        }
        if rescale < dims {
            let fact = format!("`rescale` {rescale} is less than the {} of the map", plural(dims, "dimension"));
            return Err(Error::out_of_range(
                "rescale",
                rescale,
                dims..=usize::MAX,
                fact,
                format!("use `rescale` {dims} or more"),
            ));
        }
        let most = unfolding::MOST.min(n - 1);
        if rescale > most {
            let fact = format!("`rescale` {rescale} is more than the {most} coordinates that {n} points can be given");
            return Err(Error::out_of_range(
                "rescale",
                rescale,
                dims..=most,
                fact,
                format!("use `rescale` {most} or less"),
            ));
        }
        Ok(())
    }

    /// Whether stage 1 is run: a given graph is always one.
    pub(crate) fn needs_graph(&self, data: Data<'_>) -> bool {
        self.method.info().needs_graph || matches!(data, Data::Graph(_))
    }

    /// How the time of a fit divides among the graph, the field, the coordinates and the likelihood, roughly and in any unit.
    pub(crate) fn efforts(&self, data: Data<'_>) -> [f64; 4] {
        let [graph, field, coordinates] = self.method.efforts();
        let all = graph + field + coordinates;
        let graph = match &self.learned {
            _ if !self.needs_graph(data) => 0.0,
            // A fit of its own.
            Some(_) => 2.0 * all,
            None => graph,
        };
        let coordinates = coordinates + if self.rescale.is_some() { all } else { 0.0 };
        let likely = self.likelihood != Likelihood::Never && data.points().is_some();
        [graph, field, coordinates, if likely { 0.05 * all } else { 0.0 }]
    }

    /// The share of true neighbors that will do.
    pub(crate) fn recall(&self) -> f64 {
        match self.approximate {
            Some(true) => ROUGH,
            Some(false) => 1.0,
            None => self.method.recall(),
        }
    }

    /// Stage 1, as requested.
    pub(crate) fn search(&self) -> Search {
        Search {
            neighbors: self.neighbors,
            metric: self.metric,
            recall: self.recall(),
            disconnected: self.disconnected,
            memory: self.memory,
        }
    }
}
