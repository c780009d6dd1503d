//! The library's table of methods and parameters as data, from which Python makes its classes.

use crate::names;
use eigenfold::{
    Method, ParameterInfo,
    contract::{Kind, Named},
    rename_parameters,
};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Every method with its parameters, as JSON.
#[pyfunction]
pub(crate) fn methods() -> String {
    Value::Array(Method::all().iter().map(method).collect()).to_string()
}

fn method(method: &Method) -> Value {
    let info = method.info();
    let accepts: Vec<&str> = info.accepts.iter().map(|kind| kind.name()).collect();
    let parameters: Vec<Value> = method.possible_parameters().iter().map(parameter).collect();
    json!({
        "name": info.name,
        "summary": info.summary,
        "paper": info.paper,
        "stage": info.basis.name(),
        "accepts": accepts,
        "graph": may_need_graph(method),
        "metric": info.uses_metric,
        "start": method.possible_parameters().iter().any(|parameter| parameter.name == "init"),
        "parameters": parameters,
    })
}

/// Whether the method starts from a neighborhood graph, for some value of some choice.
fn may_need_graph(method: &Method) -> bool {
    let needs = |name: &str, value: &Named| {
        let mut changed = method.clone();
        changed.set(name, value.name).is_ok() && changed.info().needs_graph
    };
    let any = |parameter: &ParameterInfo| match parameter.kind {
        Kind::Choice(values) => values.iter().any(|value| needs(parameter.name, value)),
        _ => false,
    };
    method.info().needs_graph || method.possible_parameters().iter().any(any)
}

fn parameter(parameter: &ParameterInfo) -> Value {
    let values: Option<Vec<&str>> = match parameter.kind {
        Kind::Choice(values) => {
            Some(values.iter().flat_map(|value| std::iter::once(&value.name).chain(value.aliases)).copied().collect())
        }
        _ => None,
    };
    json!({
        "name": parameter.name,
        "python": names::python(parameter.name),
        "kind": parameter.kind.name(),
        "default": parameter.default,
        "auto": parameter.auto.map(|auto| auto.word),
        "values": values,
        "meaning": rename_parameters(&parameter.meaning(), names::python),
    })
}
