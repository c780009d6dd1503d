//! `eigenfold methods`: what there is to choose from.

use crate::args::Methods;
use crate::embed::try_bytes;
use crate::flags::with_flags;
use crate::outputs::{self, Outputs, Wanted};
use crate::parameters::described;
use crate::{print, report};
use eigenfold::{
    Info, Method, ParameterInfo, Result,
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

/// A family of methods, each with the flags of an example.
struct Family {
    title: &'static str,
    methods: &'static [(&'static str, &'static str)],
}

const FAMILIES: [Family; 5] = [
    Family {
        title: "Linear",
        methods: &[
            ("pca", "digits -m pca -d 10"),
            ("ppca", "iris -m ppca --solver em"),
            ("fa", "iris -m fa -d 1 --solver em"),
        ],
    },
    Family {
        title: "Distances and kernels",
        methods: &[
            ("mds", "digits -m mds --landmarks 300"),
            ("smacof", "iris -m smacof --variant nonmetric"),
            ("sammon", "iris -m sammon --init random"),
            ("kernel-pca", "iris -m kernel-pca --kernel polynomial --degree 2"),
            ("ppco", "iris -m ppco --kernel linear"),
            ("pkpca", "iris -m pkpca --bandwidth 2"),
        ],
    },
    Family {
        title: "Manifold learning by a neighborhood graph",
        methods: &[
            ("isomap", "digits -m isomap -k 8 --landmarks 500"),
            ("ltsa", "digits -m ltsa -k 20"),
            ("lle", "digits -m lle -k 12 --regularization 0.01"),
            ("modified-lle", "digits -m modified-lle -k 20 --regularization 0.01"),
            ("hessian-lle", "digits -m hessian-lle -k 20 --regularization 0.01"),
            ("laplacian-eigenmaps", "digits -m laplacian-eigenmaps -k 15 --kernel simple"),
            ("diffusion-maps", "digits -m diffusion-maps --time 3"),
            ("mvu", "iris -m mvu -k 5 --tolerance 0.001"),
        ],
    },
    Family {
        title: "Neighbor embedding, for pictures",
        methods: &[
            ("umap", "digits -m umap -k 15 --min-dist 0.3"),
            ("tsne", "digits -m tsne --perplexity 50"),
            ("symmetric-sne", "iris -m symmetric-sne --perplexity 20"),
            ("sne", "iris -m sne --perplexity 20"),
            ("elastic", "iris -m elastic --lambda 100"),
        ],
    },
    Family {
        title: "Gaussian models",
        methods: &[
            ("gplvm", "iris -m gplvm --inducing 50"),
            ("meu", "iris -m meu -k 8 --tolerance 0.0001"),
            ("alle", "iris -m alle --ordering principal"),
            ("drill", "iris -m drill -k 20 --penalty 0.01"),
        ],
    },
];

/// The width of the text.
const WIDTH: usize = 100;

/// A text in lines of [`WIDTH`], behind a first line that begins with `start` and others that are as far in.
fn wrapped(start: &str, text: &str) -> String {
    let indent = start.chars().count();
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let long = |line: &String| !line.is_empty() && indent + line.chars().count() + 1 + word.chars().count() > WIDTH;
        if lines.last().is_some_and(long) {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            *line += if line.is_empty() { "" } else { " " };
            *line += word;
        }
    }
    format!("{start}{}\n", lines.join(&format!("\n{:indent$}", "")))
}

/// All methods by family, with their aliases.
fn table(methods: &[Method]) -> String {
    let widest = methods.iter().map(|method| method.info().name.len()).max().unwrap_or(0);
    let entry = |info: Info| {
        let aliases = (!info.aliases.is_empty()).then(|| format!(" (or {})", info.aliases.join(", ")));
        let text = info.summary.to_string() + &aliases.unwrap_or_default();
        wrapped(&format!("  {:widest$}  ", info.name), &text)
    };
    let mut out = String::new();
    for family in FAMILIES {
        out += &format!("{}:\n", family.title);
        let info = |name: &str| methods.iter().map(Method::info).find(|info| info.name == name);
        out.extend(family.methods.iter().filter_map(|(name, _)| info(name)).map(entry));
        out += "\n";
    }
    out + "`eigenfold methods NAME` describes one method and its parameters.\n"
}

/// One method, with its parameters and an example.
fn details(method: &Method) -> String {
    let info = method.info();
    let mut out = wrapped(&format!("{}: ", info.name), info.summary);
    out += "\n";
    let aliases = info.aliases.join(", ");
    for (label, text) in [
        ("good for:", info.good_for),
        ("caution:", &with_flags(info.caution)),
        ("aliases:", &aliases),
        ("reference:", info.paper),
    ] {
        if !text.is_empty() {
            out += &wrapped(&format!("{label:<12}"), text);
        }
    }
    let parameters = method.possible_parameters();
    out += if parameters.is_empty() { "\nIt has no parameters of its own.\n" } else { "\nParameters:\n" };
    let widest = parameters.iter().map(|p| p.name.len()).max().unwrap_or(0);
    for parameter in parameters {
        out += &wrapped(&format!("  --{:widest$}  ", parameter.name), &described(&parameter));
    }
    if info.needs_graph {
        let flags = "The neighborhood graph: -k, --radius, --graph, --metric, --approximate, --disconnected \
                     (`eigenfold embed --help`).";
        out += &format!("\n{}", wrapped("", flags));
    }
    let example = FAMILIES.iter().flat_map(|family| family.methods).find(|(name, _)| *name == info.name);
    out.extend(example.map(|(_, flags)| format!("\nExample:\n  eigenfold embed {flags} -o map.csv\n")));
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
    fn every_method_is_in_one_family() {
        let mut listed: Vec<&str> = FAMILIES.iter().flat_map(|family| family.methods).map(|(name, _)| *name).collect();
        let mut all: Vec<&str> = Method::all().iter().map(|method| method.info().name).collect();
        listed.sort_unstable();
        all.sort_unstable();
        assert_eq!(listed, all);
    }

    #[test]
    fn no_line_is_longer_than_the_help() {
        let all = Method::all();
        let texts = all.iter().map(details).chain([table(&all)]);
        for text in texts {
            assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        }
    }

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
