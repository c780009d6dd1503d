//! `eigenfold methods`: what there is to choose from.

use crate::args::Methods;
use crate::embed::try_bytes;
use crate::flags::with_flags;
use crate::outputs::{self, Outputs, Wanted};
use crate::parameters::described;
use crate::{print, report};
use eigenfold::{
    Method, ParameterInfo, Result,
    contract::{Kind, Named},
};
use serde_json::{Value, json};

/// Runs the command.
pub(crate) fn run(args: &Methods) -> Result<()> {
    let methods = match &args.name {
        Some(name) => vec![Method::from_name(name)?],
        None => Method::all(),
    };
    let Some(target) = &args.json else {
        return print(&match &args.name {
            Some(_) if args.markdown => markdown(&methods[0]),
            Some(_) => details(&methods[0]),
            None => table(&methods),
        });
    };
    outputs::check(&[], &[Wanted { flag: "--json", target, trial: try_bytes }])?;
    let list = Value::Array(methods.iter().map(as_json).collect());
    let mut outputs = Outputs::default();
    outputs.stage(target, |name| report::write_json(name, &list))?;
    outputs.commit()
}

pub(crate) fn as_json(method: &Method) -> Value {
    let info = method.info();
    let parameters: Vec<Value> = method.possible_parameters().iter().map(parameter_as_json).collect();
    json!({
        "name": info.name,
        "aliases": info.aliases,
        "title": info.title,
        "summary": info.summary,
        "good_for": info.good_for,
        "caution": with_flags(info.caution),
        "stage": info.basis.name(),
        "parameters": parameters,
        "paper": info.paper,
    })
}

/// A parameter with its kind, and what else is known of it: a range without an end has null there.
fn parameter_as_json(p: &ParameterInfo) -> Value {
    let mut all = json!({"name": p.name, "default": report::typed(&p.default), "help": p.help, "kind": p.kind.name()});
    let choice = |named: &Named| json!({"name": named.name, "aliases": named.aliases, "help": named.help});
    let (key, value) = match p.kind {
        Kind::Number { least, most } => ("range", json!([least, most.is_finite().then_some(most)])),
        Kind::Count { least, most } => ("range", json!([least, (most < usize::MAX).then_some(most)])),
        Kind::Choice(names) => ("choices", names.iter().map(choice).collect()),
        Kind::Text { form } => ("form", json!(form)),
        _ => ("choices", json!([{"name": "true"}, {"name": "false"}])),
    };
    if let Some(object) = all.as_object_mut() {
        object.insert(key.into(), value);
        object.extend(p.auto.map(|auto| ("auto".into(), json!({"word": auto.word, "help": auto.help}))));
        if !p.words.is_empty() {
            object.insert("words".into(), p.words.iter().map(choice).collect());
        }
        object.extend(p.applies.map(|applies| ("applies".into(), json!({applies.on: applies.values}))));
    }
    all
}

fn table(methods: &[Method]) -> String {
    let widest = methods.iter().map(|m| m.info().name.len()).max().unwrap_or(0);
    let line = |method: &Method| {
        let info = method.info();
        let aliases =
            if info.aliases.is_empty() { String::new() } else { format!(" (or {})", info.aliases.join(", ")) };
        format!("{:widest$}  {}{aliases}\n", info.name, info.summary)
    };
    let lines: String = methods.iter().map(line).collect();
    lines + "\n`eigenfold methods NAME` lists the parameters of one.\n"
}

fn details(method: &Method) -> String {
    let info = method.info();
    let mut out = format!("{}: {}\n", info.name, info.summary);
    out += &format!("good for {}\n{}\n", info.good_for, with_flags(info.caution));
    if !info.aliases.is_empty() {
        out += &format!("also called {}\n", info.aliases.join(", "));
    }
    out += &format!("{}\n", info.paper);
    let parameters = method.possible_parameters();
    if parameters.is_empty() {
        return out + "\nIt has no parameters of its own.\n";
    }
    out += "\nParameters:\n";
    let widest = parameters.iter().map(|p| p.name.len()).max().unwrap_or(0);
    for parameter in parameters {
        out += &format!("  --{:widest$}  {}\n", parameter.name, described(&parameter));
    }
    out
}

/// The parameters as the method's page has them.
fn markdown(method: &Method) -> String {
    let parameters = method.possible_parameters();
    if parameters.is_empty() {
        return "None of its own.\n".into();
    }
    let row = |p: &ParameterInfo| format!("| `{}` | `{}` | {} |\n", p.name, p.default, p.meaning().replace('|', "\\|"));
    let rows: String = parameters.iter().map(row).collect();
    format!("| parameter | default | meaning |\n|---|---|---|\n{rows}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_listed_in_json_with_all_its_properties() {
        let all = as_json(&Method::from_name("kernel-pca").unwrap());
        let of = |name: &str| all["parameters"].as_array().unwrap().iter().find(|p| p["name"] == name).unwrap().clone();
        assert_eq!(of("kernel")["choices"][1]["aliases"], json!(["rbf"]));
        let degree = of("degree");
        assert_eq!(
            (&degree["kind"], &degree["range"], &degree["default"]),
            (&json!("count"), &json!([1, 20]), &json!(3))
        );
        assert_eq!(degree["applies"], json!({"kernel": ["polynomial"]}));
        assert_eq!(of("bandwidth")["auto"]["word"], "auto");
        let landmarks = &as_json(&Method::from_name("isomap").unwrap())["parameters"][0];
        assert_eq!((&landmarks["range"], &landmarks["default"]), (&json!([3, null]), &json!("none")));
    }
}
