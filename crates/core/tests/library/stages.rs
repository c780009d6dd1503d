//! Stage 1 answers every request for neighbors, and the report says how.
use crate::support::*;
use eigenfold::{Disconnected, Elastic, Graph, Input, Method, Neighbors, Recipe, Search, Silent};

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

/// Neighbors that were searched before are taken as they are: the same bytes, without a search.
#[test]
fn known_neighbors_are_not_searched_again() {
    let points = swiss(200);
    let known = Search { neighbors: Neighbors::Nearest(60), disconnected: Disconnected::Separate, ..Search::default() };
    let known = known.of_points(&points, &Silent).unwrap().graph;
    for (name, k) in [("isomap", 8), ("umap", 10), ("lle", 8), ("tsne", 10)] {
        let recipe = Recipe {
            method: Method::from_name(name).unwrap(),
            neighbors: Neighbors::Nearest(k),
            approximate: Some(false),
            ..Recipe::default()
        };
        let mut recipe = recipe;
        if name == "tsne" {
            recipe.method.set("perplexity", "15").unwrap();
        }
        let own = recipe.fit(&points, &Silent).unwrap();
        let given = recipe.fit(Input { neighbors: Some(&known), ..(&points).into() }, &Silent).unwrap();
        assert_eq!(own.embedding(), given.embedding(), "{name}");
        assert_eq!(given.report().graph.route.as_deref(), Some("given neighbors"), "{name}");
    }
    let few = known.first(3).unwrap();
    let tsne = Recipe { method: Method::from_name("tsne").unwrap(), ..Recipe::default() };
    let error = tsne.fit(Input { neighbors: Some(&few), ..(&points).into() }, &Silent).unwrap_err().to_string();
    assert!(error.starts_with("row 1 has 3 given neighbors, and `perplexity` needs 90; give at least 90"), "{error}");
    let mut holes: Vec<Vec<(u32, f64)>> =
        (0..200).map(|i| known.edges(i).map(|(j, d)| (j as u32, d)).collect()).collect();
    holes[6].truncate(2);
    let holes = Graph::from_lists(holes).unwrap();
    let refused = |recipe: Recipe, neighbors: &Graph| {
        recipe.fit(Input { neighbors: Some(neighbors), ..(&points).into() }, &Silent).unwrap_err().to_string()
    };
    let isomap = Recipe { method: Method::from_name("isomap").unwrap(), ..Recipe::default() };
    let error = refused(isomap.clone(), &holes);
    assert!(error.starts_with("row 7 has 2 given neighbors, and `neighbors` needs 10"), "{error}");
    assert!(error.ends_with("or use `neighbors` 2 or less"), "{error}");
    assert!(refused(Recipe::default(), &known).starts_with("pca does not use neighbors, and neighbors are given"));
    let within = Recipe { neighbors: Neighbors::Within(1.0), ..isomap };
    assert!(refused(within, &known).starts_with("`radius` needs all points within it"));
    let other = swiss(50);
    let error = tsne.fit(Input { neighbors: Some(&few), ..(&other).into() }, &Silent).unwrap_err().to_string();
    assert!(error.starts_with("neighbors are given for 200 points, and there are 50"), "{error}");
}
