//! Who takes part in a comparison.

use super::Compared;
use crate::flags::{Count, GraphKind};
use crate::input;
use eigenfold::error::{Error, Result};
use eigenfold::judge::compare::Entrant;
use eigenfold::parameter::Described;
use eigenfold::{Likelihood, Method, Recipe};

/// Those that take part if none are named: of every kind some, a minute for the digits together.
const USUAL: [&str; 12] = [
    "pca",
    "smacof",
    "isomap",
    "mvu",
    "lle",
    "ltsa",
    "laplacian-eigenmaps",
    "diffusion-maps",
    "meu",
    "elastic",
    "tsne",
    "umap",
];
/// Maps on the way of a descent that a page shows as a film.
const FRAMES: usize = 24;
/// Films of more points make a page too large.
const FILMED: usize = 20_000;
/// The most maps of one comparison.
const MOST: usize = 200;

/// The name of the parameter that is no method's own.
const NEIGHBORS: &str = "neighbors";

/// A parameter and the values it takes in turn.
struct Sweep {
    name: String,
    values: Vec<String>,
}

/// All of them, in the order in which they were named.
pub(super) fn entrants(args: &Compared) -> Result<Vec<Entrant>> {
    let methods = methods(&args.methods)?;
    if args.neighbors.k == Some(Count::Auto) || args.neighbors.graph == Some(GraphKind::Learned) {
        let fact = "a comparison has one graph for all methods";
        return Err(Error::Parameter(format!("{fact}; give -k a number, or several with --sweep neighbors=5,10,20")));
    }
    let sweep = args.sweep.as_deref().map(Sweep::read).transpose()?;
    let mut unused: Vec<&str> = args.parameters.iter().map(|(name, _)| name.as_str()).collect();
    let mut all = Vec::new();
    let mut swept = false;
    for method in methods {
        let own = method.possible_parameters();
        let has = |name: &str| own.iter().any(|parameter: &Described| parameter.name == name);
        unused.retain(|name| !has(name));
        let given: Vec<(&str, &str)> =
            args.parameters.iter().map(|(n, v)| (n.as_str(), v.as_str())).filter(|(n, _)| has(n)).collect();
        let graph = method.info().needs_graph;
        let values: Vec<Option<&String>> = match &sweep {
            Some(sweep) if has(&sweep.name) || (sweep.name == NEIGHBORS && graph) => {
                swept = true;
                sweep.values.iter().map(Some).collect()
            }
            _ => vec![None],
        };
        for value in values {
            let sweep = sweep.as_ref().zip(value).map(|(sweep, value)| (sweep.name.clone(), value.clone()));
            all.push(entrant(args, method.clone(), &given, sweep)?);
        }
    }
    if let Some(sweep) = sweep.filter(|_| !swept) {
        let fact = format!("none of the methods has a parameter {:?}", sweep.name);
        return Err(Error::Parameter(format!("{fact}; name one of theirs, as `eigenfold methods NAME` lists them")));
    }
    if let Some(name) = unused.first() {
        let fact = format!("none of the methods has a parameter --{name}");
        return Err(Error::Parameter(format!("{fact}; leave it out, or name a method that has it")));
    }
    if all.len() > MOST {
        let fact = format!("these are {} maps, and a comparison has {MOST} at most", all.len());
        return Err(Error::Parameter(format!("{fact}; name fewer methods or values")));
    }
    Ok(all)
}

/// The methods that were named, each once.
fn methods(names: &[String]) -> Result<Vec<Method>> {
    let usual = || USUAL.iter().map(|name| name.to_string()).collect();
    let every = || Method::all().iter().map(|method| method.info().name.to_string()).collect();
    let names: Vec<String> = match names {
        [] => usual(),
        [all] if all == "all" => every(),
        names => names.iter().map(|name| name.trim().to_string()).collect(),
    };
    let mut found: Vec<Method> = Vec::new();
    for name in names {
        let method = Method::from_name(&name)?;
        if found.iter().all(|other| other.info().name != method.info().name) {
            found.push(method);
        }
    }
    Ok(found)
}

/// One method with its parameters.
fn entrant(
    args: &Compared,
    mut method: Method,
    given: &[(&str, &str)],
    sweep: Option<(String, String)>,
) -> Result<Entrant> {
    let mut neighbors = input::neighbors(&args.neighbors, false)?;
    let mut all: Vec<(&str, &str)> = given.to_vec();
    if let Some((name, value)) = &sweep {
        if name == NEIGHBORS {
            let wrong = |_| Error::Parameter(format!("--sweep neighbors={value}: this is no number of neighbors"));
            neighbors = eigenfold::Neighbors::Nearest(value.parse().map_err(wrong)?);
        } else {
            all.retain(|(other, _)| other != name);
            all.push((name, value));
        }
    }
    method.set_all(&all)?;
    let info = method.info();
    let name = match &sweep {
        Some((parameter, value)) => format!("{} {parameter}={value}", info.name),
        None => info.name.to_string(),
    };
    let recipe = Recipe {
        neighbors,
        metric: input::metric(&args.neighbors),
        approximate: args.neighbors.approximate,
        pieces: input::pieces(&args.neighbors),
        snapshots: if args.report.is_some() && info.stage == "objective" { FRAMES } else { 0 },
        method,
        dims: args.dims,
        seed: args.common.seed,
        memory: args.memory,
        likelihood: Likelihood::Cheap,
        ..Recipe::default()
    };
    Ok(Entrant { name, recipe, sweep })
}

/// Whether the way of a descent of so many points is shown.
pub(super) fn is_filmed(points: usize) -> bool {
    points <= FILMED
}

impl Sweep {
    /// `neighbors=5,10,20`.
    fn read(text: &str) -> Result<Sweep> {
        let wrong = || {
            let way_out = "give a parameter and its values, as in --sweep neighbors=5,10,20";
            Error::Parameter(format!("--sweep {text}: this is no parameter with values; {way_out}"))
        };
        let (name, values) = text.split_once('=').ok_or_else(wrong)?;
        let name = name.trim().trim_start_matches('-');
        let mut distinct: Vec<String> = Vec::new();
        for value in values.split(',').map(str::trim) {
            if value.is_empty() || name.is_empty() {
                return Err(wrong());
            }
            if !distinct.iter().any(|other| other == value) {
                distinct.push(value.to_string());
            }
        }
        let name = if name == "k" { NEIGHBORS } else { name };
        Ok(Sweep { name: name.into(), values: distinct })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_is_a_name_and_values_each_once() {
        let sweep = Sweep::read("--k = 5, 10,5").unwrap();
        assert_eq!((sweep.name.as_str(), sweep.values), ("neighbors", vec!["5".to_string(), "10".into()]));
        for wrong in ["", "neighbors", "=5", "neighbors=", "neighbors=5,,6"] {
            assert!(Sweep::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_method_named_twice_takes_part_once() {
        let names = ["tsne", "t-SNE", "pca"].map(String::from);
        let found: Vec<&str> = methods(&names).unwrap().iter().map(|method| method.info().name).collect();
        assert_eq!(found, ["tsne", "pca"]);
        assert_eq!(methods(&["all".into()]).unwrap().len(), Method::all().len());
    }
}
