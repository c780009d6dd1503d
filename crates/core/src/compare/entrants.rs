//! The entrants of a comparison: methods by their names, and one parameter that may take several values.

use super::Entrant;
use crate::method::Method;
use crate::request::{Count, Request};
use eigenfold_graph::Disconnected;
use eigenfold_linalg::error::{Error, Result};

/// The default methods: some of every kind, a minute in total for the digits.
pub const USUAL: [&str; 12] = [
    "pca",
    "smacof",
    "isomap",
    "mvu",
    "lle",
    "ltsa",
    "laplacian-eigenmaps",
    "diffusion-maps",
    "meu",
    "gplvm",
    "tsne",
    "umap",
];
/// The maximum number of maps of one comparison.
const MOST: usize = 200;
/// The parameter that belongs to the graph and not to a method.
const NEIGHBORS: &str = "neighbors";

/// A parameter and the values it takes in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// `neighbors`, or a parameter of a method.
    pub parameter: String,
    /// What it is set to, each once.
    pub values: Vec<String>,
}

/// The named entrants, in that order; [`USUAL`] if none are named, every method for the name `all`.
///
/// All have the graph, the number of coordinates and the limits of `base`. Every parameter of `base` reaches the methods that have it. A
/// sweep makes an entrant for every value, of those methods that have its parameter; the others take part once.
///
/// # Errors
///
/// If there is no such method, no method has a given parameter or that of the sweep, a value is out of range, or they are too many.
pub fn entrants(names: &[String], base: &Request, sweep: Option<&Sweep>) -> Result<Vec<Entrant>> {
    let mut unused: Vec<&str> = base.parameters.keys().map(String::as_str).collect();
    let (mut all, mut swept) = (Vec::new(), false);
    for method in methods(names)? {
        let own = method.possible_parameters();
        let has = |name: &str| own.iter().any(|parameter| parameter.name == name);
        unused.retain(|name| !has(name));
        let mut request = Request { method: Some(method.info().name.into()), ..base.clone() };
        request.parameters.retain(|name, _| has(name));
        let graph = method.info().needs_graph;
        match sweep.filter(|sweep| has(&sweep.parameter) || (sweep.parameter == NEIGHBORS && graph)) {
            Some(sweep) => {
                swept = true;
                for value in &sweep.values {
                    all.push(entrant(&request, Some((&sweep.parameter, value)))?);
                }
            }
            None => all.push(entrant(&request, None)?),
        }
    }
    if let Some(sweep) = sweep.filter(|_| !swept) {
        let fact = format!("none of the methods has a parameter {:?}", sweep.parameter);
        return Err(Error::parameter("sweep", fact, "sweep `neighbors`, or a parameter of a method that takes part"));
    }
    if let Some(name) = unused.first() {
        let fact = format!("none of the methods has a parameter `{name}`");
        return Err(Error::inapplicable(name.to_string(), fact, "leave it out, or name a method that has it"));
    }
    if all.len() > MOST {
        let fact = format!("this makes {} embeddings, and a comparison has at most {MOST}", all.len());
        return Err(Error::out_of_range("methods", all.len(), 1..=MOST, fact, "name fewer methods or values"));
    }
    Ok(all)
}

/// The named methods, each once.
fn methods(names: &[String]) -> Result<Vec<Method>> {
    let mut found: Vec<Method> = match names {
        [] => return USUAL.iter().map(|name| Method::from_name(name)).collect(),
        [all] if all == "all" => return Ok(Method::all()),
        _ => Vec::new(),
    };
    for name in names {
        let method = Method::from_name(name.trim())?;
        if found.iter().all(|other| other.info().name != method.info().name) {
            found.push(method);
        }
    }
    Ok(found)
}

/// One method with its parameters.
fn entrant(base: &Request, sweep: Option<(&str, &str)>) -> Result<Entrant> {
    let mut request = base.clone();
    match sweep {
        Some((NEIGHBORS, value)) => {
            let wrong = |_| {
                Error::parameter(
                    "neighbors",
                    format!("`neighbors` {value:?} is not a number of neighbors"),
                    "give an integer",
                )
            };
            request.neighbors = Some(Count::Number(value.parse().map_err(wrong)?));
            if base.radius.is_some() || matches!(base.graph.as_deref(), Some("within" | "all")) {
                let fact = "a graph within a radius or of all pairs has no number of neighbors to sweep";
                let ways = "leave out `graph` and `radius`, or sweep another parameter";
                return Err(Error::inapplicable("sweep", fact, ways));
            }
        }
        Some((name, value)) => {
            request.parameters.insert(name.into(), value.into());
        }
        None => {}
    }
    let mut recipe = request.recipe()?;
    let name = recipe.method.info().name;
    let name = sweep.map_or(name.to_string(), |(parameter, value)| format!("{name} {parameter}={value}"));
    if !recipe.method.has_snapshots() || recipe.disconnected == Disconnected::Separate {
        recipe.snapshots = 0;
    }
    Ok(Entrant { name, recipe, sweep: sweep.map(|(parameter, value)| (parameter.into(), value.into())) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenfold_graph::Neighbors;

    fn named(names: &[&str], parameters: &[(&str, &str)], sweep: Option<(&str, &[&str])>) -> Result<Vec<Entrant>> {
        let texts = |of: &[&str]| of.iter().map(|text| text.to_string()).collect::<Vec<_>>();
        let parameters = parameters.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let sweep = sweep.map(|(name, values)| Sweep { parameter: name.into(), values: texts(values) });
        entrants(&texts(names), &Request { parameters, ..Request::default() }, sweep.as_ref())
    }

    #[test]
    fn a_method_named_twice_takes_part_once_and_all_are_all() {
        let found = named(&["tsne", "t-SNE", "pca"], &[], None).unwrap();
        assert_eq!(found.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["tsne", "pca"]);
        assert_eq!(named(&["all"], &[], None).unwrap().len(), Method::all().len());
        assert_eq!(named(&[], &[], None).unwrap().len(), USUAL.len());
        assert!(named(&["pca", "isomab"], &[], None).unwrap_err().to_string().contains("isomap"));
    }

    #[test]
    fn parameters_and_sweeps_reach_the_methods_that_have_them() {
        let found =
            named(&["pca", "isomap", "tsne"], &[("perplexity", "12")], Some(("neighbors", &["5", "9"]))).unwrap();
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["pca", "isomap neighbors=5", "isomap neighbors=9", "tsne"]);
        assert_eq!(found[2].recipe.neighbors, Neighbors::Nearest(9));
        let perplexity = |one: &Entrant| one.recipe.method.parameters().into_iter().find(|p| p.name == "perplexity");
        assert_eq!(perplexity(&found[3]).unwrap().value, "12");
        let found = named(&["tsne"], &[("perplexity", "12")], Some(("perplexity", &["7", "30"]))).unwrap();
        assert_eq!(perplexity(&found[1]).unwrap().value, "30");
        assert!(named(&["pca"], &[("perplexity", "5")], None).is_err());
        assert!(named(&["pca"], &[], Some(("neighbors", &["5"]))).is_err());
        assert!(named(&["isomap"], &[], Some(("neighbors", &["few"]))).is_err());
    }

    #[test]
    fn a_sweep_of_neighbors_keeps_the_kind_of_the_graph() {
        let sweep = Sweep { parameter: "neighbors".into(), values: vec!["8".into(), "12".into()] };
        let of = |base: Request| entrants(&["isomap".to_string()], &base, Some(&sweep));
        let graph = |word: &str| Request { graph: Some(word.into()), ..Request::default() };
        let found = of(graph("mutual")).unwrap();
        assert_eq!([found[0].recipe.neighbors, found[1].recipe.neighbors], [8, 12].map(Neighbors::Mutual));
        for other in [Request { radius: Some(1.0), ..Request::default() }, graph("all")] {
            assert!(of(other).unwrap_err().to_string().contains("no number of neighbors to sweep"));
        }
    }
}
