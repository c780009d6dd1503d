//! `eigenfold methods`: what there is to choose from.

use crate::args::Methods;
use crate::embed::try_bytes;
use crate::outputs::{self, Outputs, Wanted};
use crate::{print, report};
use eigenfold::error::Result;
use eigenfold::recipe::Method;
use serde_json::{Value, json};

/// Runs the command.
pub(crate) fn run(args: &Methods) -> Result<()> {
    let methods = match &args.name {
        Some(name) => vec![Method::from_name(name)?],
        None => Method::all(),
    };
    let Some(target) = &args.json else {
        return print(&if args.name.is_some() { details(&methods[0]) } else { table(&methods) });
    };
    outputs::check(&[], &[Wanted { flag: "--json", target, trial: try_bytes }])?;
    let list = Value::Array(methods.iter().map(as_json).collect());
    let mut outputs = Outputs::default();
    outputs.stage(target, |name| report::write_json(name, &list))?;
    outputs.commit()
}

fn as_json(method: &Method) -> Value {
    let info = method.info();
    let parameters: Vec<Value> = method
        .parameters()
        .iter()
        .map(|p| json!({"name": p.name, "default": report::typed(&p.value), "help": p.help}))
        .collect();
    json!({
        "name": info.name,
        "aliases": info.aliases,
        "summary": info.summary,
        "stage": info.stage,
        "parameters": parameters,
        "paper": info.paper,
    })
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
    if !info.aliases.is_empty() {
        out += &format!("also called {}\n", info.aliases.join(", "));
    }
    out += &format!("{}\n", info.paper);
    let parameters = method.parameters();
    if parameters.is_empty() {
        return out + "\nIt has no parameters of its own.\n";
    }
    out += "\nParameters:\n";
    let widest = parameters.iter().map(|p| p.name.len()).max().unwrap_or(0);
    for p in parameters {
        out += &format!("  --{:widest$}  {} [default: {}]\n", p.name, p.help, p.value);
    }
    out
}
