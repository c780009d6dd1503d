//! What the page asks for: a method with its parameters; and what it must know to ask.

use crate::methods;
use eigenfold::{Error, Method, Neighbors, Recipe, Request, Result, compare, compare::Entrant, rename_parameters};
use serde_json::{Map, Value, json};

/// The method that the form shows first.
const FIRST: &str = "tsne";

/// What the form of the page is made of: the methods with their parameters, and what the flags said.
pub(super) fn form(base: &Recipe) -> Value {
    let method = |method: &Method| {
        let info = method.info();
        let mut one = methods::as_json(method);
        one["caution"] = plain(info.caution).into();
        one["needs_graph"] = info.needs_graph.into();
        one["moves"] = (info.basis == eigenfold::Basis::Objective).into();
        for (parameter, own) in
            method.possible_parameters().iter().zip(one["parameters"].as_array_mut().into_iter().flatten())
        {
            own["help"] = plain(&parameter.meaning()).into();
        }
        one
    };
    json!({
        "methods": Method::all().iter().map(method).collect::<Vec<_>>(),
        "method": FIRST,
        "neighbors": number(base.neighbors),
        "dims": base.dims,
    })
}

/// Names of parameters as they are.
pub(super) fn plain(text: &str) -> String {
    rename_parameters(text, str::to_string)
}

/// How many neighbors each point has, if they are counted.
fn number(neighbors: Neighbors) -> Option<usize> {
    match neighbors {
        Neighbors::Nearest(k) | Neighbors::Mutual(k) => Some(k),
        _ => None,
    }
}

/// The fields of a request that a page may set: what concerns the data and the machine is for the flags to say.
const FIELDS: [&str; 15] = [
    "method",
    "parameters",
    "dims",
    "neighbors",
    "radius",
    "graph",
    "learned",
    "graph_parameters",
    "metric",
    "approximate",
    "disconnected",
    "rescale",
    "seed",
    "likelihood",
    "affinities",
];

/// The entrant that a body requests. Its name lists what is not as usual.
pub(super) fn entrant(body: &[u8], base: &Request) -> Result<Entrant> {
    let request = read(body, base)?;
    let names: Vec<String> = request.method.iter().cloned().collect();
    let mut entrant = compare::entrants(&names, &request, None)?.pop().ok_or_else(|| wrong("it names no method"))?;
    entrant.name = name(&entrant.recipe, &base.recipe()?, &request);
    Ok(entrant)
}

fn wrong(fact: &str) -> Error {
    Error::parameter("request", format!("the request cannot be read: {fact}"), "send a JSON object with a method")
}

/// The request of a body, `{"method": name, "neighbors": k, "parameters": {name: value, ...}, ...}`; what the body leaves out is
/// as the flags have it.
fn read(body: &[u8], base: &Request) -> Result<Request> {
    let body: Value = serde_json::from_slice(body).map_err(|error| wrong(&format!("it is not JSON ({error})")))?;
    let body = body.as_object().ok_or_else(|| wrong("it is not a JSON object"))?;
    if let Some(other) = body.keys().find(|key| !FIELDS.contains(&key.as_str())) {
        return Err(wrong(&format!("{other:?} is not a field that a page may set")));
    }
    if !body.get("method").is_some_and(Value::is_string) {
        return Err(wrong("it names no method"));
    }
    let mut base = base.clone();
    // A graph that the page requests takes the place of the one that the flags request.
    let has = |field: &str| body.get(field).is_some_and(|value| !value.is_null());
    let uncounted = |word: Option<&str>| matches!(word, Some("within" | "all"));
    if has("neighbors") || has("graph") {
        base.radius = None;
        base.graph = base.graph.filter(|word| !uncounted(Some(word)));
    }
    if has("radius") {
        base.graph = None;
    }
    if has("radius") || uncounted(body.get("graph").and_then(Value::as_str)) {
        base.neighbors = None;
    }
    let mut all = serde_json::to_value(&base).map_err(|error| wrong(&error.to_string()))?;
    for (field, value) in body.iter().filter(|(_, value)| !value.is_null()) {
        all[field] = match field.as_str() {
            "parameters" | "graph_parameters" => texts(field, value)?,
            "dims" | "neighbors" | "rescale" | "seed" => count(field, value)?,
            _ => value.clone(),
        };
    }
    let request: Request = serde_json::from_value(all).map_err(|error| wrong(&error.to_string()))?;
    if request.chooses_dims() || request.chooses_neighbors() {
        return Err(Error::parameter(
            "dims",
            "a page draws one embedding at a time",
            "give `dims` and `neighbors` as numbers",
        ));
    }
    Ok(request)
}

/// A whole number.
fn count(field: &str, value: &Value) -> Result<Value> {
    let wrong = || Error::value(field.to_string(), value, "an integer");
    value.as_u64().map(Value::from).ok_or_else(wrong)
}

/// Parameters as they are written on the command line.
fn texts(field: &str, value: &Value) -> Result<Value> {
    let all = value.as_object().ok_or_else(|| wrong(&format!("{field:?} is not a JSON object")))?;
    Ok(Value::Object(all.iter().map(text).collect::<Result<Map<String, Value>>>()?))
}

/// A parameter as it is written on the command line.
fn text((name, value): (&String, &Value)) -> Result<(String, Value)> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(yes) => yes.to_string(),
        _ => {
            return Err(Error::parameter(name.clone(), format!("{name:?} is neither a text nor a number"), "give one"));
        }
    };
    Ok((name.clone(), text.into()))
}

/// The method, and what is not as the flags and the method itself have it.
fn name(recipe: &Recipe, base: &Recipe, request: &Request) -> String {
    let info = recipe.method.info();
    let mut words = vec![info.name.to_string()];
    if info.needs_graph && recipe.neighbors != base.neighbors {
        words.extend(number(recipe.neighbors).map(|k| format!("k={k}")));
    }
    if recipe.dims != base.dims {
        words.push(format!("dims={}", recipe.dims));
    }
    let own = recipe.method.possible_parameters();
    let usual = |name: &str, value: &str| own.iter().any(|known| known.name == name && known.default == *value);
    let changed = request.parameters.iter().filter(|(name, value)| !usual(name, value));
    words.extend(changed.map(|(name, value)| format!("{name}={value}")));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cmd;
    use crate::command::{command, parsed};
    use crate::request::of_embed;
    use eigenfold::Count;
    use proptest::option;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn of_body(body: &str) -> Result<Entrant> {
        entrant(body.as_bytes(), &Request::default())
    }

    #[test]
    fn a_name_says_what_is_not_as_usual() {
        let name = |body: &str| of_body(body).unwrap().name;
        assert_eq!(name(r#"{"method": "t-SNE"}"#), "tsne");
        assert_eq!(
            name(r#"{"method": "tsne", "dims": 2, "neighbors": 5, "parameters": {"perplexity": 12}}"#),
            "tsne perplexity=12"
        );
        assert_eq!(name(r#"{"method": "isomap", "dims": 3, "neighbors": 5}"#), "isomap k=5 dims=3");
        let default = form(&Recipe::default())["methods"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == "tsne")
            .unwrap()
            .clone();
        let perplexity =
            default["parameters"].as_array().unwrap().iter().find(|one| one["name"] == "perplexity").unwrap().clone();
        assert_eq!(
            name(&json!({"method": "tsne", "parameters": {"perplexity": perplexity["default"]}}).to_string()),
            "tsne"
        );
        assert_eq!((&default["moves"], &default["needs_graph"]), (&json!(true), &json!(false)));
    }

    #[test]
    fn an_invalid_request_is_refused_with_a_sentence() {
        for (body, fact) in [
            ("", "is not JSON"),
            ("[1]", "not a JSON object"),
            ("{}", "names no method"),
            (r#"{"method": "isomab"}"#, "isomap"),
            (r#"{"method": "tsne", "file": "/etc/passwd"}"#, "not a field that a page may set"),
            (r#"{"method": "tsne", "dims": -1}"#, "`dims` is -1"),
            (r#"{"method": "tsne", "neighbors": 2.5}"#, "`neighbors` is 2.5"),
            (r#"{"method": "tsne", "parameters": {"lambda": 1}}"#, "lambda"),
            (r#"{"method": "tsne", "parameters": {"perplexity": []}}"#, "perplexity"),
            (r#"{"method": "tsne", "parameters": {"perplexity": "few"}}"#, "perplexity"),
            (r#"{"method": "tsne", "parameters": 3}"#, "not a JSON object"),
        ] {
            let error = of_body(body).err().unwrap_or_else(|| panic!("{body} was taken")).to_string();
            assert!(error.contains(fact), "{body}: {error}");
        }
    }

    /// Some fields of a request, as flags and as JSON.
    #[derive(Clone, Debug, Default)]
    struct Fields {
        flags: Vec<String>,
        body: Map<String, Value>,
    }

    impl Fields {
        fn and(mut self, flag: &str, field: &str, value: Option<Value>) -> Fields {
            if let Some(value) = value {
                match &value {
                    Value::Bool(true) if flag == "--likelihood" => self.flags.push(flag.into()),
                    Value::Bool(yes) => self.flags.push(format!("{flag}={yes}")),
                    Value::String(word) => self.flags.extend([flag.into(), word.clone()]),
                    other => self.flags.extend([flag.into(), other.to_string()]),
                }
                self.body.insert(field.into(), value);
            }
            self
        }

        fn and_parameters(mut self, parameters: &[(&str, Value)]) -> Fields {
            for (name, value) in parameters {
                let text = value.as_str().map_or_else(|| value.to_string(), String::from);
                self.flags.extend([format!("--{name}"), text]);
            }
            let all: Map<String, Value> =
                parameters.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
            self.body.insert("parameters".into(), all.into());
            self
        }

        fn of_flags(&self) -> Request {
            let line = ["eigenfold", "embed", "data.csv"].into_iter().chain(self.flags.iter().map(String::as_str));
            let matches = command().try_get_matches_from(line).unwrap();
            match parsed(&matches).unwrap().command {
                Cmd::Embed(embed) => of_embed(&embed),
                other => panic!("{other:?}"),
            }
        }
    }

    fn word(words: &'static [&'static str]) -> impl Strategy<Value = Option<Value>> {
        option::of(select(words).prop_map(Value::from))
    }

    /// Methods with parameters of theirs, and what may be requested of any method.
    fn fields() -> impl Strategy<Value = Fields> {
        let method = select(vec![
            ("tsne", vec![("perplexity", json!(12.5)), ("max-iterations", json!(60)), ("init", json!("random"))]),
            ("isomap", vec![("landmarks", json!(50))]),
            ("lle", vec![("regularization", json!(1e-7))]),
            ("kernel-pca", vec![("kernel", json!("polynomial")), ("degree", json!(2))]),
            ("umap", vec![]),
        ]);
        let numbers = (option::of(1..9usize), option::of(1..99usize), option::of(1e-9..1e9f64), option::of(2..20usize));
        let graph = (
            word(&["nearest", "mutual", "within", "all", "learned"]),
            word(&["euclidean", "manhattan", "cosine", "minkowski:3"]),
            word(&["join", "error", "separate"]),
            option::of(any::<bool>()),
        );
        let rest = (option::of(any::<u64>()), option::of(Just(true)), 0..4usize);
        (method, numbers, graph, rest).prop_map(|(method, numbers, graph, (seed, likelihood, parameters))| {
            let (dims, neighbors, radius, rescale) = numbers;
            let (kind, metric, disconnected, approximate) = graph;
            Fields::default()
                .and("-m", "method", Some(method.0.into()))
                .and_parameters(&method.1[..parameters.min(method.1.len())])
                .and("-d", "dims", dims.map(Value::from))
                .and("-k", "neighbors", neighbors.map(Value::from))
                .and("--radius", "radius", radius.map(Value::from))
                .and("--rescale", "rescale", rescale.map(Value::from))
                .and("--graph", "graph", kind)
                .and("--metric", "metric", metric)
                .and("--disconnected", "disconnected", disconnected)
                .and("--approximate", "approximate", approximate.map(Value::from))
                .and("--seed", "seed", seed.map(Value::from))
                .and("--likelihood", "likelihood", likelihood.map(Value::from))
        })
    }

    proptest! {
        #[test]
        fn flags_and_the_body_of_a_page_are_the_same_request(fields in fields()) {
            let (flags, body) = (fields.of_flags(), Value::Object(fields.body.clone()).to_string());
            let page = read(body.as_bytes(), &Request::default()).unwrap();
            prop_assert_eq!(&flags, &page);
            match (flags.recipe(), page.recipe()) {
                (Ok(flags), Ok(page)) => prop_assert_eq!(flags, page),
                (flags, page) => prop_assert_eq!(flags.unwrap_err().to_string(), page.unwrap_err().to_string()),
            }
        }

        #[test]
        fn a_request_survives_json(
            fields in fields(),
            missing in word(&["error", "drop", "mean", "model"]),
            log in word(&["none", "log1p", "log"]),
            scale in word(&["none", "unit", "robust"]),
        ) {
            let fields = fields.and("--missing", "", missing).and("--log", "", log).and("--scale-columns", "", scale);
            let request = fields.of_flags();
            let text = serde_json::to_string(&request).unwrap();
            prop_assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
        }
    }

    #[test]
    fn a_graph_of_the_page_takes_the_place_of_that_of_the_flags() {
        let number = |k| Some(Count::Number(k));
        let mutual = Request { graph: Some("mutual".into()), neighbors: number(7), ..Request::default() };
        let within = Request { radius: Some(0.5), ..Request::default() };
        let neighbors = |body: &str, base: &Request| entrant(body.as_bytes(), base).unwrap().recipe.neighbors;
        assert_eq!(neighbors(r#"{"method": "isomap", "neighbors": 5}"#, &mutual), Neighbors::Mutual(5));
        assert_eq!(neighbors(r#"{"method": "isomap", "neighbors": 5}"#, &within), Neighbors::Nearest(5));
        assert_eq!(neighbors(r#"{"method": "isomap", "radius": 0.25}"#, &mutual), Neighbors::Within(0.25));
        assert_eq!(neighbors(r#"{"method": "isomap", "graph": "all"}"#, &mutual), Neighbors::All);
        assert_eq!(neighbors(r#"{"method": "isomap"}"#, &within), Neighbors::Within(0.5));
    }
}
