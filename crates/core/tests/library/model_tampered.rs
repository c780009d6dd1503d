//! Models that were made up to do harm: bodies of every kind of rule, changed under a checksum that vouches for them. They
//! are refused, or used without a panic.

use crate::fuzz::{Dice, mutated, trials};
use crate::support::*;
use eigenfold::{
    ColumnScale, Disconnected, Distances, Kernel, KernelPca, Log, Method, Metric, Model, Neighbors, Points,
    Preparation, Recipe, Silent,
};
use std::sync::LazyLock;

/// The bytes before the body; the last eight are its checksum.
const HEADER: usize = 30;

/// A header that vouches for the body, whatever is in it.
fn forged(body: &[u8]) -> Vec<u8> {
    let hash = body.iter().fold(0xcbf2_9ce4_8422_2325u64, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    let mut bytes = MODELS[0][..14].to_vec();
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend(hash.to_le_bytes());
    bytes.extend(body);
    bytes
}

/// A model of every method, some of them with landmarks, in components, or of distances.
static MODELS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let points = cloud(16, 3, 7);
    let recipe = |method: Method| Recipe { method, neighbors: Neighbors::Nearest(6), ..Recipe::default() };
    let mut models: Vec<Model> =
        Method::all().into_iter().filter_map(|m| recipe(m).fit(&points, &Silent).ok()).collect();
    assert!(models.len() > 20, "{} methods", models.len());
    for name in ["isomap", "mds", "ppco", "smacof", "lle"] {
        let mut method = Method::from_name(name).unwrap();
        let _ = method.set("landmarks", "8");
        models.extend(recipe(method.clone()).fit(&points, &Silent).ok());
        let far: Vec<f64> =
            points.values().iter().enumerate().map(|(i, x)| x + if i < 24 { 90.0 } else { 0.0 }).collect();
        let far = Points::new(16, 3, far).unwrap();
        let components =
            Recipe { disconnected: Disconnected::Separate, neighbors: Neighbors::Nearest(4), ..recipe(method.clone()) };
        models.extend(components.fit(&far, &Silent).ok());
        let length = |at: usize| Metric::Euclidean.distance(points.row(at / 16), points.row(at % 16));
        let table = Points::new(16, 16, (0..256).map(length).collect()).unwrap();
        models.extend(recipe(method).fit(&Distances::new(table).unwrap(), &Silent).ok());
    }
    let preparation = Preparation { log: Some(Log::OnePlus), scale: ColumnScale::Robust, kept: vec![2] };
    models.extend(Recipe { preparation, ..recipe(Method::from_name("isomap").unwrap()) }.fit(&points, &Silent).ok());
    models.iter().map(|model| model.to_bytes().unwrap()).collect()
});

/// All uses of a model after it was read.
fn use_it(model: &Model, dice: &mut Dice) {
    let width = model.points().map_or(model.embedding().rows(), Points::cols);
    let new = cloud(3, width, 3);
    let _ = model.transform_detailed(&new);
    let _ = model.posteriors(&new);
    if dice.below(8) == 0 {
        let _ = model.transform_with_std(&new);
        let places = model.embedding().select(&[0, 1]);
        let _ = model.reconstruct(&places);
        if let Ok(way) = model.inverse_transform() {
            let _ = way.draw(&places, 2, 1);
        }
        if let Ok(way) = model.inverse_by_energy() {
            let _ = way.reconstruct(&places);
        }
    }
}

#[test]
fn every_model_that_was_saved_is_read_again() {
    for bytes in MODELS.iter() {
        let model = Model::from_bytes(bytes);
        assert!(model.is_ok(), "{model:?}");
    }
}

#[test]
fn mutated_models_are_refused_or_used_without_a_panic() {
    let mut used = 0;
    trials("models", 600, |dice| {
        let bytes = &MODELS[dice.below(MODELS.len())];
        let body = mutated(&bytes[HEADER..], dice);
        if let Ok(model) = Model::from_bytes(&forged(&body)) {
            use_it(&model, dice);
            used += 1;
        }
    });
    assert!(used > 30, "only {used} were used");
}

#[test]
fn parts_that_do_not_share_out_the_rows_are_refused() {
    let points = cloud(5, 2, 1);
    let recipe = Recipe { method: Method::from_name("mds").unwrap(), ..Recipe::default() };
    let bytes = recipe.fit(&points, &Silent).unwrap().to_bytes().unwrap();
    // The part follows the embedding's empty list of missing cells and the number of parts, 1: no rows, shift 0.0.
    let at = bytes.windows(11).rposition(|w| w == [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    let mut body = bytes[HEADER..].to_vec();
    body.splice(at - HEADER + 2..at - HEADER + 3, [3, 0, 1, 2]);
    let message = Model::from_bytes(&forged(&body)).unwrap_err().to_string();
    assert!(message.starts_with("is damaged"), "{message}");
}

#[test]
fn a_method_by_another_name_is_refused() {
    let bytes = fit(KernelPca { kernel: Kernel::Linear }, &cloud(6, 2, 1)).to_bytes().unwrap();
    let at = bytes.windows(10).position(|w| w == b"kernel-pca").unwrap();
    let mut body = bytes[HEADER..].to_vec();
    body[at - HEADER..at - HEADER + 4].copy_from_slice(b"\x1b[2J");
    assert!(Model::from_bytes(&forged(&body)).unwrap_err().to_string().starts_with("is damaged"));
}

#[test]
fn a_metric_that_the_method_does_without_is_no_reason_to_refuse_its_own_rows() {
    let zero = Points::from_rows(&[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [3.0, 4.0]]).unwrap();
    for name in ["kernel-pca", "pkpca", "pca"] {
        let method = Method::from_name(name).unwrap();
        let model =
            Recipe { method, metric: Metric::Cosine, dims: 1, ..Recipe::default() }.fit(&zero, &Silent).unwrap();
        let placed = model.transform(&zero).unwrap();
        let largest = model.embedding().values().iter().fold(0.0f64, |most, y| most.max(y.abs()));
        for (a, b) in placed.values().iter().zip(model.embedding().values()) {
            assert!((a - b).abs() <= SOLVED * largest, "{name}: {a} instead of {b}");
        }
    }
}
