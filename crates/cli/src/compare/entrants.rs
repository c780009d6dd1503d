//! Who takes part in a comparison, as the flags ask for it.

use super::Compared;
use crate::request;
use eigenfold::{
    Error, Result, compare,
    compare::{Entrant, Sweep},
};

/// All of them, in the order in which they were named.
pub(super) fn entrants(args: &Compared) -> Result<Vec<Entrant>> {
    let base = request::of_compare(args);
    if base.chooses_neighbors() || base.learns() {
        let fact = "a comparison has one graph for all methods";
        return Err(Error::parameter("neighbors", fact, "give -k a number, or several with --sweep neighbors=5,10,20"));
    }
    let sweep = args.sweep.as_deref().map(sweep).transpose()?;
    compare::entrants(&args.methods, &base, sweep.as_ref())
}

/// `neighbors=5,10,20`.
fn sweep(text: &str) -> Result<Sweep> {
    let wrong = || {
        let way_out = "give a parameter and its values, as in --sweep neighbors=5,10,20";
        Error::parameter("sweep", format!("--sweep {text}: this is not a parameter with values"), way_out)
    };
    let (name, given) = text.split_once('=').ok_or_else(wrong)?;
    let name = name.trim().trim_start_matches('-');
    let mut values: Vec<String> = Vec::new();
    for value in given.split(',').map(str::trim) {
        if value.is_empty() || name.is_empty() {
            return Err(wrong());
        }
        if !values.iter().any(|other| other == value) {
            values.push(value.to_string());
        }
    }
    let parameter = if name == "k" { "neighbors" } else { name }.to_string();
    Ok(Sweep { parameter, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_is_a_name_and_values_each_once() {
        let found = sweep("--k = 5, 10,5").unwrap();
        assert_eq!((found.parameter.as_str(), found.values), ("neighbors", vec!["5".to_string(), "10".into()]));
        for wrong in ["", "neighbors", "=5", "neighbors=", "neighbors=5,,6"] {
            assert!(sweep(wrong).is_err(), "{wrong}");
        }
    }
}
