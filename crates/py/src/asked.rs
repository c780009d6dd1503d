//! What a call asks for, from Python's words to a recipe.

use eigenfold::gp_likelihood::Lengths;
use eigenfold::preparation::{Log, Preparation, Scale};
use eigenfold::{
    Disconnected, Drill, Error, Likelihood, Method, Metric, Missing, Neighbors, Recipe, Result, parameter,
};
use pyo3::prelude::*;

/// The neighbors of each point where none are given, and where a graph is learned from them.
const NEIGHBORS: [usize; 2] = [10, 20];

/// A number, or `auto`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Count {
    Number(usize),
    Auto,
}

impl FromPyObject<'_, '_> for Count {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, '_, PyAny>) -> PyResult<Count> {
        if given.extract::<String>().is_ok_and(|text| text == "auto") {
            return Ok(Count::Auto);
        }
        given.extract().map(Count::Number)
    }
}

/// The graph that a call asks for.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Neighborhood {
    neighbors: Option<Count>,
    radius: Option<f64>,
    graph: String,
    metric: String,
    approximate: Option<bool>,
    disconnected: String,
}

/// A fit that a call asks for, its parameters by the library's names.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    method: String,
    parameters: Vec<(String, String)>,
    dims: Count,
    neighborhood: Neighborhood,
    seed: u64,
    memory: Option<u64>,
    likelihood: bool,
    rescale: Option<usize>,
    log: Option<String>,
    scale: Option<String>,
}

impl Asked {
    /// The recipe, in which 1 and 10 stand for numbers that are to be chosen.
    pub(crate) fn recipe(&self) -> Result<Recipe> {
        let mut method = Method::from_name(&self.method)?;
        let mut learned = self.neighborhood.learns().then(Drill::default);
        // A learned graph has parameters of its own; where the method has one of the same name, it is the method's.
        let given = self.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let own = method.possible_parameters();
        let is_own = |name: &str| own.iter().any(|parameter| parameter.name == name);
        let (of_method, of_graph): (Vec<_>, Vec<_>) = given.partition(|(name, _)| learned.is_none() || is_own(name));
        method.set_all(&of_method)?;
        if let Some(drill) = &mut learned {
            parameter::Parameters::set_all(drill, &of_graph)?;
        }
        Ok(Recipe {
            preparation: self.preparation()?,
            neighbors: self.neighborhood.neighbors()?,
            metric: self.neighborhood.metric()?,
            approximate: self.neighborhood.approximate,
            disconnected: self.neighborhood.disconnected()?,
            learned,
            method,
            dims: if let Count::Number(dims) = self.dims { dims } else { 1 },
            seed: self.seed,
            memory: self.memory,
            likelihood: if self.likelihood { Likelihood::Always } else { Likelihood::Cheap },
            rescale: self.rescale,
            ..Recipe::default()
        })
    }

    /// What is done to the columns first.
    fn preparation(&self) -> Result<Preparation> {
        let unknown = |name: &str, value: &str, ways: &str| {
            Err(Error::Parameter(format!("`{name}` is {value:?}; give None, {ways}")))
        };
        let log = match self.log.as_deref() {
            None | Some("none") => None,
            Some("log1p") => Some(Log::OnePlus),
            Some("log") => Some(Log::Plain),
            Some(other) => return unknown("log", other, "log1p or log"),
        };
        let scale = match self.scale.as_deref() {
            None | Some("none") => Scale::None,
            Some("unit") => Scale::Unit,
            Some("robust") => Scale::Robust,
            Some(other) => return unknown("scale-columns", other, "unit or robust"),
        };
        Ok(Preparation { log, scale, kept: Vec::new() })
    }

    /// Whether the number of coordinates is to be chosen.
    pub(crate) fn chooses_dims(&self) -> bool {
        self.dims == Count::Auto
    }

    /// Whether the number of neighbors is to be chosen.
    pub(crate) fn chooses_neighbors(&self) -> bool {
        self.neighborhood.neighbors == Some(Count::Auto)
    }
}

impl Neighborhood {
    fn learns(&self) -> bool {
        self.graph == "learned"
    }

    pub(crate) fn approximate(&self) -> bool {
        self.approximate == Some(true)
    }

    pub(crate) fn neighbors(&self) -> Result<Neighbors> {
        let refused = |text: &str| Err(Error::Parameter(text.into()));
        let k = match self.neighbors {
            Some(Count::Number(k)) => k,
            Some(Count::Auto) | None => NEIGHBORS[usize::from(self.learns())],
        };
        match (self.graph.as_str(), self.neighbors, self.radius) {
            ("nearest", Some(_), Some(_)) => {
                refused("`neighbors` and `radius` exclude each other; set one of them to None")
            }
            ("nearest" | "within", None, Some(radius)) => Ok(Neighbors::Within(radius)),
            ("within", _, _) => refused("`graph` within needs a distance; give `radius`, and `neighbors` None"),
            ("nearest" | "learned", _, None) => Ok(Neighbors::Nearest(k)),
            ("mutual", _, None) => Ok(Neighbors::Mutual(k)),
            ("all", _, None) => Ok(Neighbors::All),
            ("mutual" | "all" | "learned", _, Some(_)) => {
                refused("`radius` goes with `graph` within only; leave one of them out")
            }
            (other, _, _) => {
                let ways = "nearest, mutual, within, all or learned";
                Err(Error::Parameter(format!("`graph` is {other:?}; give {ways}")))
            }
        }
    }

    pub(crate) fn metric(&self) -> Result<Metric> {
        let refused = |_| {
            let ways = format!("precomputed, {}", Metric::names());
            Error::Parameter(format!("`metric` is {:?}; give one of {ways}", self.metric))
        };
        self.metric.parse().map_err(refused)
    }

    pub(crate) fn disconnected(&self) -> Result<Disconnected> {
        match self.disconnected.as_str() {
            "join" => Ok(Disconnected::Join),
            "error" => Ok(Disconnected::Error),
            "separate" => Ok(Disconnected::Separate),
            other => Err(Error::Parameter(format!("`disconnected` is {other:?}; give join, error or separate"))),
        }
    }
}

/// What is put in the place of missing cells.
pub(crate) fn missing(name: &str) -> Result<Missing> {
    match name {
        "error" => Ok(Missing::Error),
        "mean" => Ok(Missing::Mean),
        "model" => Ok(Missing::Model),
        other => Err(Error::Parameter(format!("`missing` is {other:?}; give error, mean or model"))),
    }
}

/// How the lengths of a score are chosen.
pub(crate) fn lengths(name: &str) -> Result<Lengths> {
    let all = [Lengths::Ard, Lengths::Unit, Lengths::Raw];
    all.into_iter().find(|lengths| lengths.name() == name).ok_or_else(|| {
        let ways = all.map(Lengths::name).join(", ");
        Error::Parameter(format!("`lengths` is {name:?}; give one of {ways}"))
    })
}
