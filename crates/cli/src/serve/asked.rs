//! What the page asks for: a method with its parameters; and what it must know to ask.

use crate::methods;
use eigenfold::compare::{self, Entrant};
use eigenfold::error::{Error, Result, told};
use eigenfold::graph::Neighbors;
use eigenfold::{Method, Recipe};
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
        one["moves"] = (info.basis == eigenfold::field::Basis::Objective).into();
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
    told(text, str::to_string)
}

/// How many neighbors each point has, if they are counted.
fn number(neighbors: Neighbors) -> Option<usize> {
    match neighbors {
        Neighbors::Nearest(k) | Neighbors::Mutual(k) => Some(k),
        _ => None,
    }
}

/// The entrant that a body asks for: `{"method": name, "neighbors": k, "dims": d, "parameters": {name: value, ...}}`, all but the
/// method as the flags have it if not given. Its name says what is not as usual.
pub(super) fn entrant(body: &[u8], base: &Recipe) -> Result<Entrant> {
    let wrong = |fact: &str| Error::Parameter(format!("{fact}; send a JSON object with a method"));
    let asked: Value =
        serde_json::from_slice(body).map_err(|error| wrong(&format!("the request is no JSON ({error})")))?;
    let asked = asked.as_object().ok_or_else(|| wrong("the request is no JSON object"))?;
    if let Some(other) = asked.keys().find(|key| !["method", "neighbors", "dims", "parameters"].contains(&key.as_str()))
    {
        return Err(wrong(&format!("the request has {other:?}, which means nothing here")));
    }
    let method = asked.get("method").and_then(Value::as_str).ok_or_else(|| wrong("the request names no method"))?;
    let mut recipe = base.clone();
    if let Some(k) = count(asked, "neighbors")? {
        recipe.neighbors =
            if matches!(base.neighbors, Neighbors::Mutual(_)) { Neighbors::Mutual(k) } else { Neighbors::Nearest(k) };
    }
    recipe.dims = count(asked, "dims")?.unwrap_or(base.dims);
    let given = match asked.get("parameters") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Object(all)) => all.iter().map(written).collect::<Result<Vec<_>>>()?,
        Some(_) => return Err(wrong("the parameters are no JSON object")),
    };
    let mut entrants = compare::entrants(&[method.to_string()], &recipe, &given, None)?;
    let mut entrant = entrants.pop().ok_or_else(|| wrong("the request names no method"))?;
    entrant.name = name(&entrant.recipe, base, &given);
    Ok(entrant)
}

/// A whole number, if it is given.
fn count(asked: &Map<String, Value>, name: &str) -> Result<Option<usize>> {
    match asked.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let whole = value.as_u64().and_then(|number| usize::try_from(number).ok());
            let wrong = || Error::Parameter(format!("`{name}` is {value}; give a whole number"));
            whole.map(Some).ok_or_else(wrong)
        }
    }
}

/// A parameter as it is written on the command line.
fn written((name, value): (&String, &Value)) -> Result<(String, String)> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(yes) => yes.to_string(),
        _ => return Err(Error::Parameter(format!("{name:?} is neither a text nor a number; give one"))),
    };
    Ok((name.clone(), text))
}

/// The method, and what is not as the flags and the method itself have it.
fn name(recipe: &Recipe, base: &Recipe, given: &[(String, String)]) -> String {
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
    words.extend(
        given.iter().filter(|(name, value)| !usual(name, value)).map(|(name, value)| format!("{name}={value}")),
    );
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(body: &str) -> Result<Entrant> {
        entrant(body.as_bytes(), &Recipe::default())
    }

    #[test]
    fn a_name_says_what_is_not_as_usual() {
        let name = |body: &str| asked(body).unwrap().name;
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
    fn what_cannot_be_asked_for_is_refused_with_a_sentence() {
        for (body, fact) in [
            ("", "is no JSON"),
            ("[1]", "no JSON object"),
            ("{}", "names no method"),
            (r#"{"method": "isomab"}"#, "isomap"),
            (r#"{"method": "tsne", "file": "/etc/passwd"}"#, "means nothing here"),
            (r#"{"method": "tsne", "dims": -1}"#, "`dims` is -1"),
            (r#"{"method": "tsne", "neighbors": 2.5}"#, "`neighbors` is 2.5"),
            (r#"{"method": "tsne", "parameters": {"lambda": 1}}"#, "lambda"),
            (r#"{"method": "tsne", "parameters": {"perplexity": []}}"#, "perplexity"),
            (r#"{"method": "tsne", "parameters": {"perplexity": "few"}}"#, "perplexity"),
            (r#"{"method": "tsne", "parameters": 3}"#, "no JSON object"),
        ] {
            let error = asked(body).err().unwrap_or_else(|| panic!("{body} was taken")).to_string();
            assert!(error.contains(fact), "{body}: {error}");
        }
    }
}
