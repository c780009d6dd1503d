//! The parameters of the methods as flags, all of them from the library's tables.

use crate::flags::with_flags;
use clap::{Arg, ArgMatches};
use eigenfold::{Drill, Method, ParameterInfo, contract::Parameters};

/// The heading of the flags that belong to single methods.
const METHODS: &str = "Method parameters";
/// The heading of the flags that say how a graph is learned.
const GRAPH: &str = "Learned graph";

/// What a parameter means and what it is if it is not given.
pub(crate) fn described(parameter: &ParameterInfo) -> String {
    format!("{} [default: {}]", with_flags(&parameter.meaning()), parameter.default)
}

/// What a flag means for some methods.
struct Meaning {
    methods: Vec<&'static str>,
    text: String,
}

/// One flag for every name that a parameter of a method has, with what it means for each of them.
pub(crate) fn of_methods() -> Vec<Arg> {
    let mut flags: Vec<(&'static str, Vec<Meaning>)> = Vec::new();
    for method in Method::all() {
        for parameter in method.possible_parameters() {
            let at = flags.iter().position(|flag| flag.0 == parameter.name).unwrap_or_else(|| {
                flags.push((parameter.name, Vec::new()));
                flags.len() - 1
            });
            let (meanings, text, name) = (&mut flags[at].1, described(&parameter), method.info().name);
            match meanings.iter_mut().find(|meaning| meaning.text == text) {
                Some(meaning) => meaning.methods.push(name),
                None => meanings.push(Meaning { methods: vec![name], text }),
            }
        }
    }
    let line = |meaning: &Meaning| format!("{}: {}", meaning.methods.join(", "), meaning.text);
    let help = |meanings: &[Meaning]| meanings.iter().map(line).collect::<Vec<_>>().join("\n");
    flags.iter().map(|(name, meanings)| flag(name, METHODS, help(meanings))).collect()
}

/// The flags that say how a graph is learned: drill's parameters.
pub(crate) fn of_learning() -> Vec<Arg> {
    let own = Drill::default().possible_parameters();
    let help = |parameter: &ParameterInfo| format!("Parameter of a learned graph: {}", described(parameter));
    own.iter().map(|parameter| flag(parameter.name, GRAPH, help(parameter))).collect()
}

fn flag(name: &'static str, heading: &'static str, help: String) -> Arg {
    // `eigenfold methods NAME` lists them; here they would be most of the help.
    let flag =
        Arg::new(name).long(name).value_name("VALUE").allow_negative_numbers(true).help_heading(heading).help(help);
    flag.hide_short_help(true).hide_long_help(true)
}

/// Those of the flags that were given, with their values.
pub(crate) fn values(flags: &[Arg], matches: &ArgMatches) -> Vec<(String, String)> {
    let value = |name: &str| matches.get_one::<String>(name).map(|value| (name.to_string(), value.clone()));
    flags.iter().filter_map(|flag| value(flag.get_id().as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_flag_says_what_it_means_for_each_method() {
        let flags = of_methods();
        let help =
            |name: &str| flags.iter().find(|flag| flag.get_id() == name).unwrap().get_help().unwrap().to_string();
        let landmarks = help("landmarks");
        let lines: Vec<&str> = landmarks.lines().collect();
        assert!(
            lines[0].starts_with("mds, isomap, smacof, sammon: the number of landmarks, which are scaled"),
            "{landmarks}"
        );
        assert!(lines[1].starts_with("meu: the number of landmarks, which the model covers"), "{landmarks}");
        assert!(lines[2].starts_with("mvu: the number of landmarks, which are unfolded exactly"), "{landmarks}");
        let bandwidth = help("bandwidth");
        assert!(bandwidth.contains("kernel-pca, ppco, pkpca: with --kernel gaussian: sigma of"), "{bandwidth}");
        assert!(bandwidth.contains("laplacian-eigenmaps: with --kernel heat: sigma of the heat kernel"), "{bandwidth}");
        assert!(bandwidth.ends_with("[default: auto]"), "{bandwidth}");
        for name in ["kernel", "scale", "tolerance", "variant", "regularization", "max-iterations"] {
            assert!(help(name).lines().count() > 1, "{name}: {}", help(name));
        }
    }

    #[test]
    fn every_parameter_of_every_method_is_named_in_the_help_of_its_flag() {
        let flags = of_methods();
        for method in Method::all() {
            for parameter in method.possible_parameters() {
                let flag = flags.iter().find(|flag| flag.get_id() == parameter.name).unwrap();
                let help = flag.get_help().unwrap().to_string();
                let own = |line: &str| line.contains(method.info().name) && line.ends_with(&described(&parameter));
                assert!(help.lines().any(own), "{}: {help}", method.info().name);
            }
        }
    }
}
