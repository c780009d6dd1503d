//! Stage 1 answers every request for neighbors, and the report says how.
use crate::support::*;
use eigenfold::{Elastic, Method, Recipe, Silent};

#[test]
fn every_method_that_searches_neighbors_reports_the_route_and_the_time() {
    let mut entropic: Method = Elastic::default().into();
    entropic.set("attraction", "entropic").unwrap();
    let mut methods: Vec<Method> =
        ["tsne", "sne", "symmetric-sne", "umap", "isomap", "lle"].map(|name| Method::from_name(name).unwrap()).into();
    methods.push(entropic);
    let points = swiss(200);
    for mut method in methods {
        let name = method.info().name;
        // Methods without an iterative optimization have no such parameter.
        let _ = method.set("max-iterations", "5");
        let model = Recipe { method, ..Recipe::default() }.fit(&points, &Silent).unwrap();
        let report = model.report();
        assert!(report.graph.route.is_some(), "{name}");
        assert!(report.seconds.graph > 0.0, "{name}");
    }
}

/// With 6,000 points in 50 features t-SNE searches approximately, and the report has the recall.
#[test]
fn the_recall_of_a_perplexity_search_is_reported() {
    let method = Method::from_name("tsne").unwrap();
    let mut few = method.clone();
    few.set("max-iterations", "2").unwrap();
    let points = cloud(6000, 50, 7);
    let recipe = Recipe { method: few, approximate: Some(true), ..Recipe::default() };
    let model = recipe.fit(&points, &Silent).unwrap();
    let exact = model.report().warnings.iter().any(|warning| matches!(warning, eigenfold::Warning::Parameter(_)));
    assert!(
        model.report().graph.recall.is_some_and(|recall| recall > 0.5) || exact,
        "{:?}",
        model.report().graph.route
    );
}
