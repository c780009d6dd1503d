//! From words to a recipe: what the flags of the program, the keywords of Python and the JSON of a server fill in.
//!
//! A front end fills the fields that its user gave and leaves the others out. Defaults, the meaning of every word, and what
//! goes together are decided here, so that the same words give the same recipe everywhere.

use crate::field::entropy::drill::Drill;
use crate::likelihood::Likelihood;
use crate::method::Method;
use crate::missing::{self, Missing};
use crate::parameter::{ParameterInfo, Parameters};
use crate::preparation::{ColumnScale, Log, Preparation};
use crate::recipe::{ROUGH, Recipe};
use eigenfold_graph::points::Points;
use eigenfold_graph::{Disconnected, Distances, Metric, Neighbors, Search};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::Observer;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Parameters by the library's names, each with its value as text.
pub(crate) type Texts = BTreeMap<String, String>;

/// What a user asks for. A field that is absent has its default.
///
/// ```
/// use eigenfold::{Neighbors, Request};
///
/// let request = Request { method: Some("isomap".into()), graph: Some("mutual".into()), ..Request::default() };
/// assert_eq!(request.recipe()?.neighbors, Neighbors::Mutual(10));
/// # Ok::<(), eigenfold::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The method by its name or an alias; [`Request::METHOD`] if absent.
    pub method: Option<String>,
    /// The parameters of the method. A parameter that the method does not have and a learned graph has is the graph's.
    pub parameters: Texts,
    /// The number of coordinates; [`Request::DIMS`] if absent.
    pub dims: Option<Count>,
    /// The number of neighbors of each point; [`Neighbors::DEFAULT_K`] if absent, [`Request::LEARNED_K`] for a learned graph.
    pub neighbors: Option<Count>,
    /// The distance within which points are neighbors.
    pub radius: Option<f64>,
    /// `nearest`, `mutual`, `within`, `all` or `learned`; `nearest` if absent, `within` if there is a radius.
    pub graph: Option<String>,
    /// Whether the graph keeps only those neighbors that a sparse precision over the points keeps; `graph` learned implies it.
    pub learned: bool,
    /// The parameters of a learned graph.
    pub graph_parameters: Texts,
    /// The metric by its name; euclidean if absent.
    pub metric: Option<String>,
    /// Whether a tenth of the neighbors may be missed for speed; if absent, the method decides.
    pub approximate: Option<bool>,
    /// `join`, `error` or `separate`; `join` if absent.
    pub disconnected: Option<String>,
    /// `error`, `drop`, `mean` or `model`; `error` if absent.
    pub missing: Option<String>,
    /// `none`, `log1p` or `log`; `none` if absent.
    pub log: Option<String>,
    /// `none`, `unit` or `robust`; `none` if absent.
    pub scale_columns: Option<String>,
    /// Whether every column has zero mean and unit variance; as `scale_columns` unit.
    pub standardize: bool,
    /// Columns, counted from 0, that are not prepared, such as the indicators of categories.
    pub indicators: Vec<usize>,
    /// Within how many coordinates the embedding is rescaled to the lengths of the graph.
    pub rescale: Option<usize>,
    /// The seed of every random choice.
    pub seed: u64,
    /// The most bytes to allocate; most of the free memory if absent.
    pub memory: Option<u64>,
    /// Whether the likelihood is computed even if that takes long.
    pub likelihood: bool,
    /// The number of snapshots that an optimization keeps.
    pub snapshots: usize,
    /// Whether learned affinities are kept.
    pub affinities: bool,
}

/// A number, or `auto` for a number that is chosen from the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// This number.
    Number(usize),
    /// A number that is chosen from the data.
    Auto,
}

impl Request {
    /// The method if none is named.
    pub const METHOD: &str = "umap";
    /// The number of coordinates if none is given.
    pub const DIMS: usize = 2;
    /// The number of candidate neighbors of a learned graph if none is given.
    pub const LEARNED_K: usize = 20;

    /// The recipe. Until numbers that are `auto` are chosen, 1 coordinate and the default neighbors stand for them.
    ///
    /// # Errors
    ///
    /// If a word or a value is not known, or two of them exclude each other.
    pub fn recipe(&self) -> Result<Recipe> {
        let mut method = self.named_method()?;
        let (own, mut of_graph) = (method.possible_parameters(), self.graph_parameters.clone());
        let mut of_method = self.parameters.clone();
        if self.learns() {
            let learned = Drill::default().possible_parameters();
            let is_graphs = |name: &str| position(&own, name).is_none() && position(&learned, name).is_some();
            for (name, value) in self.parameters.iter().filter(|(name, _)| is_graphs(name)) {
                of_method.remove(name);
                of_graph.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        method.set_all(&in_order(&of_method, &own))?;
        Ok(Recipe {
            preparation: self.preparation()?,
            neighbors: self.graph_neighbors()?,
            metric: self.named_metric()?,
            approximate: self.approximate,
            disconnected: self.components()?,
            learned: self.drill(&of_graph)?,
            method,
            dims: match self.dims {
                Some(Count::Number(dims)) => dims,
                Some(Count::Auto) => 1, // A number that every input allows.
                None => Request::DIMS,
            },
            seed: self.seed,
            memory: self.memory,
            likelihood: if self.likelihood { Likelihood::Always } else { Likelihood::Cheap },
            rescale: self.rescale,
            snapshots: self.snapshots,
            affinities: self.affinities,
        })
    }

    /// The method without its parameters.
    ///
    /// # Errors
    ///
    /// If there is no method of this name.
    pub fn named_method(&self) -> Result<Method> {
        Method::from_name(self.method.as_deref().unwrap_or(Request::METHOD))
    }

    /// The search for neighbors without a method: exact unless `approximate` says otherwise.
    ///
    /// # Errors
    ///
    /// As [`Request::recipe`].
    pub fn search(&self) -> Result<Search> {
        Ok(Search {
            neighbors: self.graph_neighbors()?,
            metric: self.named_metric()?,
            recall: if self.approximate == Some(true) { ROUGH } else { 1.0 },
            disconnected: self.components()?,
            memory: self.memory,
        })
    }

    /// How the graph is learned, if it is learned and there is no method.
    ///
    /// # Errors
    ///
    /// As [`Request::recipe`].
    pub fn learned_graph(&self) -> Result<Option<Drill>> {
        self.drill(&self.graph_parameters)
    }

    /// The preparation of the columns.
    ///
    /// # Errors
    ///
    /// If a word is not known, or `standardize` and `scale_columns` exclude each other.
    pub fn preparation(&self) -> Result<Preparation> {
        let log = match self.log.as_deref() {
            None | Some("none") => None,
            Some("log1p") => Some(Log::OnePlus),
            Some("log") => Some(Log::Plain),
            Some(other) => return Err(unknown("log", other, "log1p or log, or leave it out")),
        };
        let scale = match self.scale_columns.as_deref() {
            None | Some("none") => ColumnScale::None,
            Some("unit") => ColumnScale::Unit,
            Some("robust") => ColumnScale::Robust,
            Some(other) => return Err(unknown("scale-columns", other, "unit or robust, or leave it out")),
        };
        if self.standardize && self.scale_columns.is_some() && scale != ColumnScale::Unit {
            let fact = format!("`standardize` is set and `scale-columns` is {}", scale.name());
            return Err(Error::inapplicable("scale-columns", fact, "leave one of them out"));
        }
        let scale = if self.standardize { ColumnScale::Unit } else { scale };
        let prepares = log.is_some() || scale != ColumnScale::None;
        Ok(Preparation { log, scale, kept: if prepares { self.indicators.clone() } else { Vec::new() } })
    }

    /// What is done about missing cells.
    ///
    /// # Errors
    ///
    /// If the word is not known.
    pub fn missing(&self) -> Result<Missing> {
        self.missing.as_deref().map_or(Ok(Missing::default()), str::parse)
    }

    /// The points with missing cells completed as requested, in their own units; rows are compared by the prepared columns.
    /// Cells that stand for the mean of their column stay marked as missing.
    ///
    /// # Errors
    ///
    /// If a word is not known, the preparation is not defined on the points, or the work was stopped.
    pub fn complete(&self, points: Points, observer: &dyn Observer) -> Result<Points> {
        match self.missing()? {
            Missing::Error | Missing::Drop | Missing::Mean => Ok(points),
            Missing::Model => missing::complete_prepared(&points, &self.preparation()?, observer),
        }
    }

    /// A square matrix of distances with missing entries completed as requested.
    ///
    /// # Errors
    ///
    /// If these are not distances, or the work was stopped.
    pub fn distances(&self, matrix: Points, observer: &dyn Observer) -> Result<Distances> {
        match self.missing()? {
            Missing::Model => missing::complete_distances(&matrix, observer),
            Missing::Error | Missing::Drop | Missing::Mean => Distances::new(matrix),
        }
    }

    /// A square matrix of similarities as distances, with missing entries completed as requested.
    ///
    /// # Errors
    ///
    /// If these are not similarities, or the work was stopped.
    pub fn similarities(&self, matrix: &Points, observer: &dyn Observer) -> Result<Distances> {
        match self.missing()? {
            Missing::Model => missing::complete_similarities(matrix, observer),
            Missing::Error | Missing::Drop | Missing::Mean => Distances::from_similarities(matrix),
        }
    }

    /// Whether the number of coordinates is chosen from the data.
    pub fn chooses_dims(&self) -> bool {
        self.dims == Some(Count::Auto)
    }

    /// Whether the number of neighbors is chosen from the data.
    pub fn chooses_neighbors(&self) -> bool {
        self.neighbors == Some(Count::Auto)
    }

    /// Whether the graph is learned.
    pub fn learns(&self) -> bool {
        self.learned || self.graph.as_deref() == Some("learned")
    }

    fn drill(&self, parameters: &Texts) -> Result<Option<Drill>> {
        if !self.learns() {
            return match parameters.keys().next() {
                Some(name) => Err(Error::inapplicable(
                    name.clone(),
                    format!("`{name}` is a parameter of learned graphs"),
                    "use `graph` learned, or leave it out",
                )),
                None => Ok(None),
            };
        }
        let mut drill = Drill::default();
        drill.set_all(&in_order(parameters, &drill.possible_parameters()))?;
        Ok(Some(drill))
    }

    fn graph_neighbors(&self) -> Result<Neighbors> {
        let inapplicable =
            |parameter: &'static str, fact: &str, way_out: &str| Err(Error::inapplicable(parameter, fact, way_out));
        let k = match self.neighbors {
            Some(Count::Number(k)) => k,
            Some(Count::Auto) | None if self.learns() => Request::LEARNED_K,
            Some(Count::Auto) | None => Neighbors::DEFAULT_K,
        };
        let usual = if self.radius.is_some() { "within" } else { "nearest" };
        match (self.graph.as_deref().unwrap_or(usual), self.neighbors, self.radius) {
            ("within", None, Some(radius)) => Ok(Neighbors::Within(radius)),
            ("nearest" | "learned", _, None) => Ok(Neighbors::Nearest(k)),
            ("mutual", _, None) => Ok(Neighbors::Mutual(k)),
            ("all", None, None) => Ok(Neighbors::All),
            ("within", None, None) => {
                Err(Error::parameter("radius", "`graph` within needs a distance", "add `radius`"))
            }
            ("nearest" | "mutual" | "within" | "all" | "learned", Some(_), Some(_)) => {
                inapplicable("radius", "`neighbors` and `radius` exclude each other", "give one of them")
            }
            ("within", Some(_), None) => {
                inapplicable("neighbors", "`graph` within takes no `neighbors`", "give `radius` instead")
            }
            ("all", Some(_), None) => {
                inapplicable("neighbors", "`graph` all takes no `neighbors`", "leave one of them out")
            }
            ("nearest" | "mutual" | "all" | "learned", None, Some(_)) => {
                inapplicable("radius", "`radius` goes with `graph` within only", "leave one of them out")
            }
            (other, _, _) => Err(unknown("graph", other, "nearest, mutual, within, all or learned")),
        }
    }

    fn named_metric(&self) -> Result<Metric> {
        self.metric.as_deref().map_or(Ok(Metric::default()), str::parse)
    }

    fn components(&self) -> Result<Disconnected> {
        match self.disconnected.as_deref() {
            None | Some("join") => Ok(Disconnected::Join),
            Some("error") => Ok(Disconnected::Error),
            Some("separate") => Ok(Disconnected::Separate),
            Some(other) => Err(unknown("disconnected", other, "join, error or separate")),
        }
    }
}

/// The place of a parameter in a table.
fn position(table: &[ParameterInfo], name: &str) -> Option<usize> {
    table.iter().position(|parameter| parameter.name == name)
}

/// Parameters in the order of a table.
fn in_order<'a>(texts: &'a Texts, table: &[ParameterInfo]) -> Vec<(&'a str, &'a str)> {
    let mut all: Vec<(&str, &str)> = texts.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    all.sort_by_key(|(name, _)| position(table, name).unwrap_or(usize::MAX));
    all
}

fn unknown(name: &'static str, value: &str, choices: &str) -> Error {
    Error::value(name, format_args!("{value:?}"), choices)
}

impl FromStr for Missing {
    type Err = Error;

    fn from_str(word: &str) -> Result<Missing> {
        match word {
            "error" => Ok(Missing::Error),
            "drop" => Ok(Missing::Drop),
            "mean" => Ok(Missing::Mean),
            "model" => Ok(Missing::Model),
            other => Err(unknown("missing", other, "error, drop, mean or model")),
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::Number(number) => number.fmt(f),
            Count::Auto => f.write_str("auto"),
        }
    }
}

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Count::Number(number) => number.serialize(serializer),
            Count::Auto => serializer.serialize_str("auto"),
        }
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Count, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer or \"auto\"")
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> std::result::Result<Count, E> {
                usize::try_from(number).map(Count::Number).map_err(E::custom)
            }

            fn visit_str<E: de::Error>(self, word: &str) -> std::result::Result<Count, E> {
                if word == "auto" { Ok(Count::Auto) } else { Err(E::invalid_value(de::Unexpected::Str(word), &self)) }
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(all: &[(&str, &str)]) -> Texts {
        all.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    fn graph(graph: Option<&str>, neighbors: Option<usize>, radius: Option<f64>) -> Result<Neighbors> {
        let neighbors = neighbors.map(Count::Number);
        let graph = graph.map(String::from);
        Ok(Request { graph, neighbors, radius, ..Request::default() }.recipe()?.neighbors)
    }

    #[test]
    fn the_default_request_is_the_default_method_in_two_dimensions() {
        let recipe = Request::default().recipe().unwrap();
        assert_eq!((recipe.method.info().name, recipe.dims), ("umap", 2));
        assert_eq!(Recipe { method: recipe.method.clone(), ..Recipe::default() }, recipe);
    }

    #[test]
    fn words_for_a_graph_go_together_or_are_refused() {
        assert_eq!(graph(None, None, None).unwrap(), Neighbors::Nearest(10));
        assert_eq!(graph(None, None, Some(0.5)).unwrap(), Neighbors::Within(0.5));
        assert_eq!(graph(Some("mutual"), Some(7), None).unwrap(), Neighbors::Mutual(7));
        assert_eq!(graph(Some("all"), None, None).unwrap(), Neighbors::All);
        assert_eq!(graph(Some("learned"), None, None).unwrap(), Neighbors::Nearest(20));
        for (kind, neighbors, radius, fact) in [
            (None, Some(5), Some(1.0), "exclude each other"),
            (Some("within"), None, None, "needs a distance"),
            (Some("within"), Some(5), None, "takes no `neighbors`"),
            (Some("all"), Some(5), None, "takes no `neighbors`"),
            (Some("mutual"), None, Some(1.0), "goes with `graph` within only"),
            (Some("near"), None, None, "`graph` is \"near\"; give nearest"),
        ] {
            let error = graph(kind, neighbors, radius).unwrap_err().to_string();
            assert!(error.contains(fact), "{kind:?}: {error}");
        }
    }

    #[test]
    fn a_parameter_is_the_methods_own_before_it_is_the_graphs() {
        let own = Request {
            method: Some("isomap".into()),
            graph: Some("learned".into()),
            parameters: texts(&[("penalty", "0.25"), ("landmarks", "50")]),
            ..Request::default()
        };
        let value = |all: Vec<ParameterInfo>, name: &str| all.into_iter().find(|one| one.name == name).unwrap().value;
        let recipe = own.recipe().unwrap();
        assert_eq!(value(recipe.learned.unwrap().parameters(), "penalty"), "0.25");
        assert_eq!(value(recipe.method.parameters(), "landmarks"), "50");
        let drill = Request { method: Some("drill".into()), ..own.clone() };
        assert!(drill.recipe().unwrap_err().to_string().contains("landmarks"));
        let error = Request { graph: None, ..own }.recipe().unwrap_err().to_string();
        assert!(error.contains("penalty"), "{error}");
        let of_graph = Request { graph_parameters: texts(&[("penalty", "0.25")]), ..Request::default() };
        assert!(of_graph.recipe().unwrap_err().to_string().contains("`graph` learned"));
        let learned = Request { learned: true, ..of_graph }.learned_graph().unwrap().unwrap();
        assert_eq!(value(learned.parameters(), "penalty"), "0.25");
    }

    #[test]
    fn columns_are_prepared_in_one_way() {
        let unit = Request { standardize: true, indicators: vec![3], ..Request::default() }.preparation().unwrap();
        assert_eq!((unit.scale, unit.kept), (ColumnScale::Unit, vec![3]));
        let scaled = |word: &str| Request { scale_columns: Some(word.into()), ..Request::default() };
        assert_eq!(scaled("robust").preparation().unwrap().scale, ColumnScale::Robust);
        assert!(scaled("minmax").preparation().is_err());
        assert!(Request { standardize: true, ..scaled("unit") }.preparation().is_ok());
        assert!(Request { standardize: true, ..scaled("robust") }.preparation().is_err());
        assert!(Request { indicators: vec![3], ..Request::default() }.preparation().unwrap().is_none());
    }

    #[test]
    fn a_search_without_a_method_is_exact_unless_requested() {
        let recall = |approximate| Request { approximate, ..Request::default() }.search().unwrap().recall;
        assert_eq!([None, Some(false), Some(true)].map(recall), [1.0, 1.0, ROUGH]);
    }
}
