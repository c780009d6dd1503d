//! Tests of the parameter tables of all methods.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::method::Method;

/// The method in a state in which the parameter applies.
fn applying(method: &Method, parameter: &ParameterInfo) -> Method {
    let mut method = method.clone();
    if let Some(Applies { on, values }) = parameter.applies {
        method.set(on, values[0]).unwrap();
    }
    method
}

fn present(method: &Method, name: &str) -> String {
    let all = method.parameters();
    all.iter().find(|p| p.name == name).map(|p| p.value.clone()).unwrap()
}

/// Every method with each of the parameters it may have.
fn each() -> impl Iterator<Item = (Method, ParameterInfo)> {
    let of = |method: Method| method.possible_parameters().into_iter().map(move |p| (method.clone(), p));
    Method::all().into_iter().flat_map(of)
}

#[test]
fn every_default_can_be_set_and_changes_nothing() {
    for (method, parameter) in each() {
        let (before, name) = (applying(&method, &parameter), parameter.name);
        let mut after = before.clone();
        after.set(name, &parameter.default).unwrap_or_else(|error| panic!("{}: {error}", method.info().name));
        assert_eq!(before, after, "{} {name}", method.info().name);
        assert_eq!(present(&after, name), parameter.default);
    }
}

#[test]
fn a_shown_auto_or_none_can_be_given() {
    for (method, parameter) in each() {
        let Some(Auto { word, .. }) = parameter.auto else {
            assert!(!["auto", "none"].contains(&parameter.default.as_str()), "{parameter:?}");
            continue;
        };
        let mut method = applying(&method, &parameter);
        method.set(parameter.name, word).unwrap();
        assert_eq!(present(&method, parameter.name), word);
    }
}

#[test]
fn numbers_are_shown_without_rows_of_zeros() {
    for (number, shown) in
        [(1e-12, "1e-12"), (0.001, "0.001"), (0.0, "0"), (250.0, "250"), (1e9, "1e9"), (-1e-6, "-1e-6")]
    {
        assert_eq!(short(number), shown);
    }
}

#[test]
fn every_choice_answers_to_its_names_and_every_range_to_its_ends() {
    for (method, parameter) in each() {
        let taken = |text: &str| {
            let mut method = applying(&method, &parameter);
            method.set(parameter.name, text).map(|()| present(&method, parameter.name))
        };
        for named in if let Kind::Choice(names) = parameter.kind { names } else { parameter.words } {
            for text in [&[named.name], named.aliases].concat() {
                assert_eq!(taken(text).unwrap(), named.name);
            }
        }
        match parameter.kind {
            Kind::Choice(_) => {}
            Kind::Number { least, most } => {
                let number = |text: &str| taken(text).map(|shown| shown.parse::<f64>().unwrap()).unwrap();
                assert_eq!((number(&least.to_string()), number(&most.to_string())), (least, most));
                assert!(taken(&(least - 1.0 - least.abs()).to_string()).is_err() && taken("NaN").is_err());
                assert!(taken(&(most * 2.0).to_string()).is_err() && taken("inf").is_err());
            }
            Kind::Count { least, most } => {
                assert_eq!(taken(&least.to_string()).unwrap(), least.to_string());
                assert_eq!(taken(&most.to_string()).unwrap(), most.to_string());
                assert!(taken(&(least - 1).to_string()).is_err() && taken("1.5").is_err());
            }
            Kind::Switch => assert_eq!(taken("true").unwrap(), "true"),
            Kind::Text { form } => assert!(taken("nonsense").unwrap_err().to_string().contains(form)),
        }
        assert!(taken("nonsense").is_err() && taken("").is_err(), "{parameter:?}");
    }
}

#[test]
fn a_value_outside_its_range_is_refused_with_the_range() {
    let refused = |method: &str, name: &str, text: &str| {
        Method::from_name(method).unwrap().set(name, text).unwrap_err().to_string()
    };
    assert_eq!(refused("isomap", "landmarks", "2"), "`landmarks` is 2; give an integer >= 3, or none");
    assert_eq!(refused("dm", "alpha", "1.5"), "`alpha` is 1.5; give a number from 0 to 1");
    assert_eq!(
        refused("dm", "bandwidth", "0"),
        "`bandwidth` is 0; give a number from 1e-150 to 1e150, local, global, or auto"
    );
    assert_eq!(refused("lle", "variant", "none"), "`variant` is \"none\"; give standard, free or symmetric");
    assert_eq!(refused("mvu", "constraints", "faces"), "`constraints` is \"faces\"; give edges or angles, or auto");
    assert_eq!(refused("pca", "landmarks", "5"), "pca has no parameter `landmarks`; it has none of its own");
    assert_eq!(refused("alle", "variant", "x"), "alle has no parameter `variant`; it has `regularization`, `ordering`");
}

#[test]
fn a_parameter_that_does_not_apply_names_what_it_needs() {
    let refused = |method: &str, given: &[(&str, &str)]| {
        Method::from_name(method).unwrap().set_all(given).unwrap_err().to_string()
    };
    assert_eq!(refused("kernel-pca", &[("degree", "2")]), "`degree` is for `kernel` polynomial; leave it out");
    assert_eq!(refused("kernel-pca", &[("scale", "2")]), "`scale` is for `kernel` polynomial or sigmoid; leave it out");
    assert_eq!(refused("mvu", &[("band", "0.1")]), "`band` is for `variant` equality; leave it out");
    let simple = [("bandwidth", "1"), ("kernel", "simple")];
    assert_eq!(refused("le", &simple), "`bandwidth` is for `kernel` heat; leave it out");
}

/// `bandwidth` is listed with every kernel of laplacian eigenmaps, and what is listed can be given.
#[test]
fn a_parameter_that_does_not_apply_may_be_given_the_value_it_has() {
    let mut method = Method::from_name("le").unwrap();
    method.set_all(&[("bandwidth", "auto"), ("mutual", "once"), ("kernel", "dual")]).unwrap();
    assert_eq!((present(&method, "bandwidth"), present(&method, "kernel")), ("auto".into(), "dual".into()));
    assert!(method.set("mutual", "twice").is_err() && method.set("bandwidth", "1").is_err());
}

#[test]
fn the_order_of_parameters_does_not_matter() {
    let set = |method: &str, given: &[(&str, &str)]| {
        let mut method = Method::from_name(method).unwrap();
        method.set_all(given).unwrap();
        method
    };
    let given = [("kernel", "poly"), ("degree", "2"), ("offset", "0.5"), ("scale", "3")];
    let backwards: Vec<(&str, &str)> = given.into_iter().rev().collect();
    assert_eq!(set("kernel-pca", &given), set("kernel-pca", &backwards));
    assert_eq!(present(&set("kernel-pca", &backwards), "scale"), "3");
    assert_eq!(present(&set("mvu", &[("band", "0.1"), ("variant", "equality")]), "band"), "0.1");
}

#[test]
fn the_meaning_has_the_condition_the_values_and_what_auto_does() {
    let meaning = |method: &str, at: usize| Method::from_name(method).unwrap().possible_parameters()[at].meaning();
    assert_eq!(
        meaning("isomap", 0),
        "the number of landmarks, which are scaled exactly; all other points are embedded from them (an integer >= 3; none = all points)"
    );
    assert_eq!(
        meaning("kernel-pca", 2),
        "with `kernel` polynomial: the degree of the polynomial (an integer from 1 to 20)"
    );
    assert_eq!(
        meaning("le", 0),
        "the weight of an edge: heat (or gaussian) = exp(-d^2 / 2 sigma^2); simple = 1; dual = the optimal dual weights of mvu"
    );
    let parameters = Method::from_name("kernel-pca").unwrap().possible_parameters();
    let defaults: Vec<(&str, &str)> = parameters.iter().map(|p| (p.name, p.default.as_str())).collect();
    let expected = [("offset", "1"), ("offset", "0"), ("scale", "1"), ("scale", "auto")];
    assert_eq!(defaults[3..], expected);
}
