//! Observers of a fit: one fraction of progress for all of the work, which never falls.
use crate::support::*;
use eigenfold::{
    Disconnected, Drill, Isomap, LaplacianEigenmaps, Ltsa, Method, Observer, Points, Recipe, Silent, Stage,
    dimension::Dimension, gp_likelihood::GpLikelihood,
};
use std::sync::Mutex;

/// Records its calls.
#[derive(Default)]
struct Recorder {
    reported: Mutex<Vec<(Stage, f64)>>,
    trials: Mutex<Vec<String>>,
    gaps: Mutex<Vec<f64>>,
}

impl Observer for Recorder {
    fn inner(&self) -> Option<&dyn Observer> {
        None
    }

    fn progress(&self, stage: Stage, fraction: f64) {
        self.reported.lock().unwrap().push((stage, fraction));
    }

    fn trial(&self, what: &str) {
        self.trials.lock().unwrap().push(what.into());
    }

    fn gap(&self, value: f64) {
        self.gaps.lock().unwrap().push(value);
    }
}

impl Recorder {
    /// Checks that fractions go from near 0 to 1 and never fall; returns their number.
    fn rises(&self, what: &str) -> usize {
        let reported = self.reported.lock().unwrap();
        let fractions: Vec<f64> = reported.iter().map(|(_, fraction)| *fraction).collect();
        assert!(fractions.first().is_some_and(|first| *first < 0.1), "{what} begins at {:?}", reported.first());
        assert_eq!(fractions.last(), Some(&1.0), "{what} ends at {:?}", reported.last());
        for pair in reported.windows(2) {
            assert!(pair[0].1 <= pair[1].1 && pair[1].1 <= 1.0, "{what} falls: {pair:?}");
        }
        fractions.len()
    }

    /// The stages in the order of their first reports.
    fn stages(&self) -> Vec<Stage> {
        let mut stages: Vec<Stage> = self.reported.lock().unwrap().iter().map(|(stage, _)| *stage).collect();
        stages.dedup();
        stages
    }
}

#[test]
fn progress_never_falls_over_a_whole_fit_of_any_method() {
    let points = swiss(150);
    for method in methods() {
        let (name, recorder) = (method.info().name, Recorder::default());
        let graph = method.info().needs_graph;
        Recipe { method, ..Recipe::default() }.fit(&points, &recorder).unwrap();
        recorder.rises(name);
        let stages = recorder.stages();
        let wanted = [Stage::Graph, Stage::Field, Stage::Coordinates, Stage::Likelihood];
        assert!(stages.iter().filter(|stage| wanted.contains(stage)).eq(&stages), "{name}: {stages:?}");
        assert!(stages.windows(2).all(|pair| (pair[0] as u8) < pair[1] as u8), "{name} goes back: {stages:?}");
        assert_eq!(stages.contains(&Stage::Graph), graph, "{name}: {stages:?}");
        let gaps = recorder.gaps.lock().unwrap().len();
        assert_eq!(gaps > 0, ["mvu", "meu", "drill"].contains(&name), "{name} tells {gaps} gaps");
    }
}

#[test]
fn progress_never_falls_where_a_fit_has_parts_of_its_own() {
    let two: Vec<f64> =
        (0..120).flat_map(|i| [f64::from(i % 60) + 1e4 * f64::from(i / 60), (f64::from(i)).sin()]).collect();
    let two = Points::new(120, 2, two).unwrap();
    let isomap: Method = Isomap::default().into();
    let components = Recipe { method: isomap.clone(), disconnected: Disconnected::Separate, ..Recipe::default() };
    let path = Drill { penalty: "0.02:0.5:3".parse().unwrap(), ..Drill::default() };
    let learned = Recipe { method: isomap, learned: Some(path), ..Recipe::default() };
    let rescaled = Recipe { method: Ltsa.into(), rescale: Some(2), ..Recipe::default() };
    let roll = swiss(120);
    for (what, recipe, points) in
        [("components", components, &two), ("learned", learned, &roll), ("rescaled", rescaled, &roll)]
    {
        let recorder = Recorder::default();
        recipe.fit(points, &recorder).unwrap();
        assert!(recorder.rises(what) > 5, "{what}");
    }
}

#[test]
fn progress_never_falls_over_trials_folds_and_scores() {
    let (roll, recipe) = (swiss(120), Recipe { method: LaplacianEigenmaps::default().into(), ..Recipe::default() });
    let recorder = Recorder::default();
    recipe.choose_neighbors(&roll, &recorder).unwrap();
    recorder.rises("neighbors");
    assert_eq!(recorder.trials.lock().unwrap()[5], "k = 12, 6 of 10");

    let iris = eigenfold::io::read("iris", &eigenfold::io::ReadOptions::default()).unwrap().points;
    let recorder = Recorder::default();
    Recipe { dims: 1, ..recipe.clone() }.held_out(&iris, &recorder).unwrap();
    recorder.rises("diagnostics");
    assert_eq!(recorder.trials.lock().unwrap()[1], "diagnostics, fold 2 of 4");

    let recorder = Recorder::default();
    recipe.held_out_rows(&roll, &recorder).unwrap();
    recorder.rises("rows");

    let recorder = Recorder::default();
    GpLikelihood::default().of(&roll, recipe.fit(&roll, &Silent).unwrap().embedding(), &recorder).unwrap();
    recorder.rises("gp likelihood");

    let recorder = Recorder::default();
    Dimension::default().of(&roll, &recorder).unwrap();
    recorder.rises("dimension");
}

/// Watches every map of an optimization, or every other one.
#[derive(Default)]
struct Looks {
    every_other: bool,
    looked: Mutex<usize>,
    maps: Mutex<Vec<(usize, usize, Vec<f64>)>>,
}

impl Observer for Looks {
    fn inner(&self) -> Option<&dyn Observer> {
        None
    }

    fn watches(&self) -> bool {
        let mut looked = self.looked.lock().unwrap();
        *looked += 1;
        !self.every_other || looked.is_multiple_of(2)
    }

    fn passes(&self, step: usize, coordinates: &[f64], dims: usize) {
        self.maps.lock().unwrap().push((step, dims, coordinates.to_vec()));
    }
}

#[test]
fn a_descent_that_is_watched_gives_the_same_bytes_and_shows_its_way() {
    let points = swiss(120);
    for method in methods().into_iter().filter(|method| method.info().basis == eigenfold::Basis::Objective) {
        let name = method.info().name;
        // gplvm keeps no snapshots, but shows its maps to an observer.
        let snapshots = if name == "gplvm" { 0 } else { 5 };
        let recipe = Recipe { method, snapshots, ..Recipe::default() };
        let (alone, looks) = (recipe.fit(&points, &Silent).unwrap(), Looks::default());
        let watched = recipe.fit(&points, &looks).unwrap();
        let bits = |points: &Points| points.values().iter().map(|y| y.to_bits()).collect::<Vec<u64>>();
        assert_eq!(bits(alone.embedding()), bits(watched.embedding()), "{name}");
        assert_eq!(alone.report().coordinates.curve, watched.report().coordinates.curve, "{name}");
        assert_eq!(alone.snapshots(), watched.snapshots(), "{name}");
        let maps = looks.maps.lock().unwrap();
        assert!(maps.len() > 2 && maps[0].2 != maps[maps.len() - 1].2, "{name} showed {} maps", maps.len());
        assert!(maps.iter().all(|(_, dims, map)| *dims == 2 && map.len() == 240), "{name}");
        assert!(maps.windows(2).all(|two| two[0].0 <= two[1].0), "{name} goes back");
        // The last map is that of the fit, up to a rotation.
        let last = Points::new(120, 2, maps[maps.len() - 1].2.clone()).unwrap();
        let apart = eigenfold::quality::procrustes::align(&last, watched.embedding()).unwrap().disparity;
        assert!(apart < 1e-6, "{name} ends {apart:e} away from what it showed");
    }
}

#[test]
fn an_observer_that_does_not_watch_gets_no_maps() {
    let points = swiss(120);
    let looks = Looks { every_other: true, ..Looks::default() };
    let method = Method::from_name("tsne").unwrap();
    Recipe { method, ..Recipe::default() }.fit(&points, &looks).unwrap();
    let (looked, shown) = (*looks.looked.lock().unwrap(), looks.maps.lock().unwrap().len());
    assert!(looked > 10 && shown == looked / 2, "{shown} maps shown, of {looked} looks");
}
