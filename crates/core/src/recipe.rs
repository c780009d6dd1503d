//! The front door: a recipe names the three stages, and fitting it runs them.

use crate::error::{Error, Result};
use crate::field::InputKind;
use crate::field::entropy::drill::{Drill, Learned};
use crate::field::scaling::pca::Pca;
use crate::field::unfolding;
use crate::fit::Stages;
use crate::graph::{Found, Graph, Metric, Neighbors, Pieces, Search};
use crate::input::{Input, distances_of};
use crate::likelihood::Likelihood;
use crate::method::Method;
use crate::model::{Model, Used};
use crate::points::Points;
use crate::progress::{Observer, Silent, Stage};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The three stages, named.
///
/// ```
/// use eigenfold::{Isomap, Neighbors, Recipe, sample::Sample};
///
/// let roll = Sample::SwissRoll.draw(500, 0.0, 1)?;
/// let recipe = Recipe { neighbors: Neighbors::Nearest(8), method: Isomap::default().into(), ..Recipe::default() };
/// let model = recipe.fit(&roll.points)?;
/// assert_eq!(model.embedding().cols(), 2);
/// # Ok::<(), eigenfold::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// Stage 1: who counts as a neighbor.
    pub neighbors: Neighbors,
    /// Stage 1: how far apart two points are.
    pub metric: Metric,
    /// Stage 1: whether neighbors may be missed for speed.
    pub approximate: bool,
    /// Stage 1: what to do with a graph in several pieces.
    pub pieces: Pieces,
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
}

impl Default for Recipe {
    fn default() -> Recipe {
        Recipe {
            neighbors: Neighbors::default(),
            metric: Metric::default(),
            approximate: false,
            pieces: Pieces::default(),
            learned: None,
            method: Method::Pca(Pca::default()),
            dims: 2,
            seed: 0,
            memory: None,
            likelihood: Likelihood::default(),
            rescale: None,
        }
    }
}

impl Recipe {
    /// Runs the three stages.
    ///
    /// # Errors
    ///
    /// If the input or a parameter does not fit, or the work would not fit into memory.
    pub fn fit<'a>(&self, input: impl Into<Input<'a>>) -> Result<Model> {
        self.fit_watched(input, &Silent)
    }

    /// Runs the three stages, reporting to an observer that may stop them.
    ///
    /// # Errors
    ///
    /// As [`Recipe::fit`], and [`Error::Stopped`] if the observer stopped the work before there was a result.
    pub fn fit_watched<'a>(&self, input: impl Into<Input<'a>>, observer: &dyn Observer) -> Result<Model> {
        let input = input.into();
        let info = self.method.info();
        if !info.accepts.contains(&input.kind()) {
            let accepts: Vec<&str> = info.accepts.iter().map(|kind| kind.name()).collect();
            return Err(Error::parameter(format!(
                "{} cannot start from {}; it takes {}",
                info.name,
                input.kind().name(),
                accepts.join(", ")
            )));
        }
        let converted;
        let (points, distances, given) = match input {
            Input::Points(points) => (Some(points), None, None),
            Input::Distances(distances) => (None, Some(distances), None),
            Input::Similarities(similarities) => {
                converted = distances_of(similarities)?;
                (None, Some(&converted), None)
            }
            Input::Graph(graph) => (None, None, Some(graph)),
        };
        let n = points.or(distances).map_or_else(|| given.map_or(0, Graph::len), Points::rows);
        self.check_dims(n, points)?;
        self.check_rescale(n)?;
        let start = Instant::now();
        let (found, learned) = match info.needs_graph {
            true => Some(self.graph(points, distances, given, observer)?).unzip(),
            false => (None, None),
        };
        let graph_seconds = start.elapsed().as_secs_f64();
        let stages = Stages { recipe: self, points, distances, metric: self.metric, observer };
        // On a thread of the pool, so that handing work to the pool does not wake and wait for another one each time.
        let mut model = rayon::scope(|_| stages.fit(n, found.as_ref()))?;
        model.report.seconds.graph = graph_seconds;
        self.describe(&mut model, input.kind(), points, found.as_ref());
        model.report.add_learning(learned.flatten());
        Ok(model)
    }

    pub(crate) fn check_dims(&self, n: usize, points: Option<&Points>) -> Result<()> {
        let dims = self.dims;
        if n < 2 {
            return Err(Error::data(format!("there is only {n} point; give at least two")));
        }
        if dims == 0 {
            return Err(Error::parameter("0 dimensions were asked for; use `dims` 1 or more"));
        }
        if dims > n - 1 {
            let (most, fact) = (n - 1, format!("{n} points span at most {} dimensions", n - 1));
            return Err(Error::Dims { asked: dims, most, fact });
        }
        let linear = matches!(self.method, Method::Pca(_));
        if let Some(p) = points.map(Points::cols).filter(|&p| linear && dims > p) {
            return Err(Error::features(dims, p));
        }
        Ok(())
    }

    fn check_rescale(&self, n: usize) -> Result<()> {
        let (info, dims) = (self.method.info(), self.dims);
        let Some(asked) = self.rescale else { return Ok(()) };
        if !info.needs_graph {
            let fact = "has no neighborhood graph whose lengths a map could keep";
            return Err(Error::parameter(format!("{} {fact}; leave out `rescale`", info.name)));
        }
        if asked < dims {
            let fact = format!("`rescale` {asked} is less than the {dims} dimensions of the map");
            return Err(Error::parameter(format!("{fact}; use `rescale` {dims} or more")));
        }
        let most = unfolding::MOST.min(n - 1);
        if asked > most {
            let fact = format!("`rescale` {asked} is more than the {most} coordinates that {n} points can be given");
            return Err(Error::parameter(format!("{fact}; use `rescale` {most} or less")));
        }
        Ok(())
    }

    pub(crate) fn graph(
        &self,
        points: Option<&Points>,
        distances: Option<&Points>,
        given: Option<&Graph>,
        observer: &dyn Observer,
    ) -> Result<(Found, Option<Learned>)> {
        observer.progress(Stage::Graph, 0.0);
        let search = Search {
            neighbors: self.neighbors,
            metric: self.metric,
            approximate: self.approximate,
            pieces: self.pieces,
            seed: self.seed,
        };
        if let Some(drill) = &self.learned {
            let learned = match (points, distances, given) {
                (Some(points), _, _) => drill.graph(&search, Input::Points(points), self.memory, observer),
                (_, Some(distances), _) => drill.graph(&search, Input::Distances(distances), self.memory, observer),
                (_, _, Some(graph)) => drill.graph(&search, Input::Graph(graph), self.memory, observer),
                (None, None, None) => Err(Error::data("there is nothing to embed")),
            };
            return learned.map(|(found, learned)| (found, Some(learned)));
        }
        let found = match (points, distances, given) {
            (Some(points), _, _) => search.of_points(points, observer),
            (_, Some(distances), _) => search.of_distances(distances, observer),
            (_, _, Some(graph)) => search.of_graph(graph),
            (None, None, None) => Err(Error::data("there is nothing to embed")),
        };
        Ok((found?, None))
    }

    /// Completes the report with what the stages do not know of themselves.
    fn describe(&self, model: &mut Model, kind: InputKind, points: Option<&Points>, found: Option<&Found>) {
        model.recipe = self.clone();
        model.kind = kind.name().into();
        model.points = points.cloned();
        let report = &mut model.report;
        report.method = self.method.info().name.into();
        report.n = model.embedding.rows();
        report.features = points.map(Points::cols);
        report.dims = self.dims;
        if let Some(found) = found {
            report.pieces = found.sizes.clone();
            report.bridges = found.bridges.len();
            report.connecting_k = found.connecting_k;
            report.recall = found.recall;
            report.graph_route = Some(found.route.into());
            if found.sizes.len() > 1 {
                report.warnings.insert(0, pieces_message(found, self.pieces));
            }
        }
        let asked = self.method.parameters();
        let chosen = std::mem::take(&mut report.parameters);
        report.parameters = asked
            .iter()
            .map(|p| {
                let used = chosen.iter().find(|c| c.name == p.name).map_or(&p.value, |c| &c.used);
                Used { name: p.name.into(), asked: p.value.clone(), used: used.clone() }
            })
            .collect();
        let extra = chosen.into_iter().filter(|c| !asked.iter().any(|p| p.name == c.name));
        report.parameters.extend(extra);
    }
}

/// One message: the sizes, what was done, and the smallest k that connects.
fn pieces_message(found: &Found, pieces: Pieces) -> String {
    let sizes = crate::error::sizes_text(&found.sizes);
    let done = match pieces {
        Pieces::Separate => "each was embedded on its own".into(),
        _ if found.bridges.len() == 1 => "joined by the shortest bridge".into(),
        _ => format!("joined by the {} shortest bridges", found.bridges.len()),
    };
    let way = found.connecting_k.map_or(String::new(), |k| format!("; `neighbors` {k} connects the graph"));
    format!("the graph is in {} pieces ({sizes}), {done}{way}", found.sizes.len())
}
