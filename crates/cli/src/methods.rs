//! `eigenfold methods`: what there is to choose from.

use crate::args::Methods;
use crate::embed::try_bytes;
use crate::outputs::{self, Outputs, Wanted};
use crate::{print, report};
use eigenfold::error::Result;
use eigenfold::field::Parameter;
use eigenfold::method::Method;
use serde_json::{Value, json};

/// The kernels, some of which have parameters that others have not.
const KERNELS: [&str; 5] = ["linear", "gaussian", "polynomial", "sigmoid", "cosine"];

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

/// A parameter, and the kernel it belongs to if the method has it with that kernel only.
pub(crate) struct Possible {
    /// The parameter with its default.
    pub(crate) parameter: Parameter,
    /// The kernel.
    pub(crate) kernel: Option<&'static str>,
}

/// Every parameter that a method may have, whatever kernel is chosen; the kernel itself comes before its parameters.
pub(crate) fn possible_parameters(method: &Method) -> Vec<Possible> {
    let own = method.parameters().into_iter();
    let mut all: Vec<Possible> = own.map(|parameter| Possible { parameter, kernel: None }).collect();
    for kernel in KERNELS {
        let mut other = method.clone();
        if other.set("kernel", kernel).is_ok() {
            for parameter in other.parameters() {
                if !all.iter().any(|known| known.parameter.name == parameter.name) {
                    all.push(Possible { parameter, kernel: Some(kernel) });
                }
            }
        }
    }
    all
}

fn as_json(method: &Method) -> Value {
    let info = method.info();
    let described = |p: &Possible| {
        let Parameter { name, value, help, .. } = &p.parameter;
        let mut parameter = json!({"name": name, "default": report::typed(value), "help": help});
        if let (Some(kernel), Some(object)) = (p.kernel, parameter.as_object_mut()) {
            object.insert("kernel".to_string(), json!(kernel));
        }
        parameter
    };
    let parameters: Vec<Value> = possible_parameters(method).iter().map(described).collect();
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
    let parameters = possible_parameters(method);
    if parameters.is_empty() {
        return out + "\nIt has no parameters of its own.\n";
    }
    out += "\nParameters:\n";
    let widest = parameters.iter().map(|p| p.parameter.name.len()).max().unwrap_or(0);
    for Possible { parameter: p, kernel } in parameters {
        let kernel = kernel.map_or(String::new(), |kernel| format!("with --kernel {kernel}: "));
        out += &format!("  --{:widest$}  {kernel}{} [default: {}]\n", p.name, p.help, p.value);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_other_kernels_are_known_too() {
        let method = Method::from_name("kernel-pca").unwrap();
        let all = possible_parameters(&method);
        let degree = all.iter().find(|p| p.parameter.name == "degree").unwrap();
        assert_eq!(degree.kernel, Some("polynomial"));
        assert_eq!(all[0].parameter.name, "kernel");
        // The list of kernels is the library's: it names the same ones when it refuses another.
        let message = method.clone().set("kernel", "none").unwrap_err().to_string();
        assert!(KERNELS.iter().all(|kernel| message.contains(kernel)), "{message}");
        assert_eq!(message.matches(", ").count() + 2, KERNELS.len(), "{message}");
    }
}
