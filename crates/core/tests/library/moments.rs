//! Fits to the moments of rows that are elsewhere, about a sample of them, against fits to the rows.

use crate::support::{EXACT, SOLVED};
use eigenfold::{
    ColumnScale, Error, Fa, Figure, IncompleteMoments, LatentSolver, Log, Method, Model, Moments, Observer, Pca,
    Points, Ppca, Preparation, Recipe, RowTerms, Silent, Stage,
};
use std::cell::Cell;

/// Pseudorandom numbers from -1 to 1, by the mixing function of splitmix64.
fn noise(i: usize) -> f64 {
    let mut z = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// n rows of p columns of different units that share three directions.
fn rows(n: usize, p: usize, offset: f64) -> Points {
    let loading = |j: usize, a: usize| noise(1000 + 3 * j + a) * (3 - a) as f64;
    let value = |i: usize, j: usize| {
        let shared: f64 = (0..3).map(|a| loading(j, a) * noise(10_000 + 3 * i + a)).sum();
        offset + (1.0 + (j % 4) as f64) * (shared + 0.3 * noise(100_000 + p * i + j))
    };
    Points::new(n, p, (0..n * p).map(|at| value(at / p, at % p)).collect()).unwrap()
}

/// Mean and covariance in two passes.
fn moments(points: &Points) -> Moments {
    let (n, p) = (points.rows(), points.cols());
    let rough = points.column_means();
    let mean: Vec<f64> =
        (0..p).map(|j| rough[j] + (0..n).map(|i| points.row(i)[j] - rough[j]).sum::<f64>() / n as f64).collect();
    let product = |j: usize, k: usize| {
        (0..n).map(|i| (points.row(i)[j] - mean[j]) * (points.row(i)[k] - mean[k])).sum::<f64>() / n as f64
    };
    let covariance = (0..p * p).map(|at| product(at / p, at % p)).collect();
    Moments { count: n as u64, mean, covariance }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

/// The largest difference of coordinates, in units of the largest coordinate.
fn apart(a: &Points, b: &Points) -> f64 {
    let off: Vec<f64> = a.values().iter().zip(b.values()).map(|(a, b)| a - b).collect();
    largest(&off) / largest(a.values())
}

fn relative(a: f64, b: f64) -> f64 {
    (a - b).abs() / a.abs().max(f64::MIN_POSITIVE)
}

/// All rows as the sample: the transform, the eigenvalues, the shares and the likelihood are those of the fit to the rows.
/// Every third row as the sample, too, if its signs are those of all rows.
fn same_as_of_the_rows(recipe: &Recipe, points: &Points, tolerance: f64) -> Model {
    let (whole, moments) = (recipe.fit(points, &Silent).unwrap(), moments(points));
    let model = recipe.fit_moments(&moments, points, &Silent).unwrap();
    let label = recipe.method.info().name;
    let off = apart(whole.embedding(), &model.transform(points).unwrap());
    assert!(off < tolerance, "{label}: {off:e}");
    assert!(model.embedding() == &model.transform(points).unwrap(), "{label}: a training row has its own coordinates");
    for (a, b) in whole.spectrum().iter().zip(model.spectrum()) {
        assert!((a - b).abs() < tolerance * whole.spectrum()[0], "{label}: {a} {b}");
    }
    let ratio = |model: &Model| model.report().coordinates.explained.as_ref().unwrap().ratio.clone();
    assert!(ratio(&whole).iter().zip(ratio(&model)).all(|(a, b)| (a - b).abs() < tolerance), "{label}");
    if let Some(likelihood) = whole.report().own_log_likelihood() {
        assert!(relative(likelihood, model.log_likelihood().unwrap()) < 1e-9, "{label}");
    }
    assert_eq!(model.report().fitted_rows, points.rows() as u64);

    let some: Vec<usize> = (0..points.rows()).step_by(3).collect();
    let part = recipe.fit_moments(&moments, &points.select(&some), &Silent).unwrap();
    let placed = part.transform(points).unwrap();
    let dims = recipe.dims;
    let sign = |q: usize| {
        let dot: f64 = (0..points.rows()).map(|i| placed.row(i)[q] * whole.embedding().row(i)[q]).sum();
        if dot < 0.0 { -1.0 } else { 1.0 }
    };
    let turned = placed.values().iter().enumerate().map(|(at, y)| y * sign(at % dims)).collect();
    let off = apart(whole.embedding(), &Points::new(points.rows(), dims, turned).unwrap());
    assert!(off < tolerance, "{label} about a sample: {off:e}");
    assert!(part.embedding() == &placed.select(&some), "{label}");
    assert_eq!((part.report().n, part.report().fitted_rows), (some.len(), points.rows() as u64));
    let bytes = part.to_bytes().unwrap();
    assert!(Model::from_bytes(&bytes).unwrap().to_bytes().unwrap() == bytes, "{label}");
    model
}

fn recipe(method: impl Into<Method>, dims: usize) -> Recipe {
    Recipe { method: method.into(), dims, ..Recipe::default() }
}

fn standardized(recipe: Recipe) -> Recipe {
    Recipe { preparation: Preparation { scale: ColumnScale::Unit, ..Preparation::default() }, ..recipe }
}

#[test]
fn pca_of_the_moments_is_pca_of_the_rows() {
    let points = rows(200, 8, 0.0);
    same_as_of_the_rows(&recipe(Pca::default(), 3), &points, EXACT);
    same_as_of_the_rows(&standardized(recipe(Pca::default(), 3)), &points, EXACT);
    same_as_of_the_rows(&recipe(Pca::default(), 8), &points, EXACT);
    // More columns than rows.
    same_as_of_the_rows(&recipe(Pca::default(), 3), &rows(30, 40, 0.0), EXACT);
    // Far from the origin the mean itself has no more digits.
    same_as_of_the_rows(&recipe(Pca::default(), 3), &rows(200, 8, 1e6), 1e-10);
}

#[test]
fn columns_without_variation_change_nothing() {
    let points = rows(200, 6, 0.0);
    let constant = |i: usize| [&points.row(i)[..3], &[7.5], &points.row(i)[3..]].concat();
    let with = Points::from_rows(&(0..200).map(constant).collect::<Vec<_>>()).unwrap();
    same_as_of_the_rows(&recipe(Pca::default(), 3), &with, EXACT);
    let model = same_as_of_the_rows(&standardized(recipe(Pca::default(), 3)), &with, EXACT);
    let noted =
        |w: &eigenfold::Warning| w.message().contains("column 4 is constant") || w.message().contains("was constant");
    assert!(model.report().warnings.iter().any(noted), "{:?}", model.report().warnings);
    // A rank of three, and five coordinates.
    let flat = |i: usize| {
        let row = points.row(i);
        [row[0], row[1], row[2], row[0] + row[1], row[1] - row[2], row[0]]
    };
    let flat = Points::from_rows(&(0..200).map(flat).collect::<Vec<_>>()).unwrap();
    let model = same_as_of_the_rows(&recipe(Pca::default(), 3), &flat, EXACT);
    assert!(model.report().warnings.is_empty(), "{:?}", model.report().warnings);
    let model = same_as_of_the_rows(&recipe(Pca::default(), 5), &flat, EXACT);
    assert!(model.report().warnings.iter().any(|w| w.message().contains("varies in only 3 directions")));
}

#[test]
fn ppca_of_the_moments_is_ppca_of_the_rows() {
    for points in [rows(200, 8, 0.0), rows(30, 40, 0.0)] {
        same_as_of_the_rows(&recipe(Ppca::default(), 3), &points, 1e-10);
        same_as_of_the_rows(&standardized(recipe(Ppca::default(), 3)), &points, 1e-10);
    }
    same_as_of_the_rows(&recipe(Ppca::default(), 3), &rows(200, 8, 1e6), SOLVED);
    let em = Ppca { solver: LatentSolver::Em, ..Ppca::default() };
    same_as_of_the_rows(&recipe(em, 3), &rows(200, 8, 0.0), SOLVED);
}

#[test]
fn fa_of_the_moments_is_fa_of_the_rows() {
    // The optimizer stops at a gradient of 1e-9 per cell, or when the likelihood does not rise any more.
    let exact = Fa { tolerance: 1e-15, ..Fa::default() };
    for points in [rows(200, 8, 0.0), rows(200, 8, 1e3)] {
        same_as_of_the_rows(&recipe(Fa::default(), 3), &points, 1e-5);
        same_as_of_the_rows(&recipe(exact.clone(), 3), &points, 1e-6);
        same_as_of_the_rows(&standardized(recipe(exact.clone(), 3)), &points, 1e-6);
    }
    // EM takes the same steps.
    let em = Fa { solver: LatentSolver::Em, tolerance: 1e-9, ..Fa::default() };
    same_as_of_the_rows(&recipe(em, 2), &rows(200, 6, 0.0), 1e-7);
}

/// The caller takes the logarithms before it adds up the moments, and the model takes those of new rows itself.
#[test]
fn logarithms_belong_to_the_model() {
    let points = rows(150, 5, 0.0);
    let positive = Points::new(150, 5, points.values().iter().map(|x| x.exp()).collect()).unwrap();
    let preparation = Preparation { log: Some(Log::Plain), scale: ColumnScale::Unit, kept: vec![1] };
    let logs = preparation.logarithms(positive.values(), 5).unwrap();
    let logs = Points::new(150, 5, logs).unwrap();
    let recipe = Recipe { preparation: preparation.clone(), ..recipe(Pca::default(), 2) };
    let whole = recipe.fit(&positive, &Silent).unwrap();
    let model = recipe.fit_moments(&moments(&logs), &positive, &Silent).unwrap();
    assert!(apart(whole.embedding(), &model.transform(&positive).unwrap()) < EXACT);
    let back = model.reconstruct(model.embedding()).unwrap();
    let there = whole.reconstruct(whole.embedding()).unwrap();
    assert!(apart(&there.points, &back.points) < SOLVED && apart(&there.deviations, &back.deviations) < SOLVED);
    let refused = preparation.logarithms(&[1.0, 1.0, 0.0, 1.0, 1.0], 5).unwrap_err().to_string();
    assert!(refused.contains("row 1, column 3 is 0, and log is defined for positive numbers only"), "{refused}");
    assert!(preparation.logarithms(&[1.0, 2.0], 5).is_err() && preparation.logarithms(&[], 0).is_ok());
    assert!(preparation.logarithms(&[f64::NAN; 5], 5).unwrap().iter().all(|x| x.is_nan()));
}

#[test]
fn far_rows_are_far_from_the_sample_and_the_mean_of_all() {
    let points = rows(300, 6, 0.0);
    let sample = points.select(&(0..300).step_by(10).collect::<Vec<_>>());
    let model = recipe(Ppca::default(), 2).fit_moments(&moments(&points), &sample, &Silent).unwrap();
    let far: Vec<f64> = points.row(5).iter().map(|x| 1000.0 * x).collect();
    let new = Points::new(2, 6, [points.row(4).to_vec(), far].concat()).unwrap();
    assert_eq!(model.transform_detailed(&new).unwrap().far, [1]);
    assert_eq!(model.posteriors(&new).unwrap().len(), 2);
}

#[test]
fn what_moments_cannot_give_is_refused() {
    let points = rows(50, 4, 0.0);
    let all = moments(&points);
    let refused = |recipe: &Recipe, moments: &Moments, sample: &Points| {
        recipe.fit_moments(moments, sample, &Silent).unwrap_err().to_string()
    };
    let pca = recipe(Pca::default(), 2);
    let robust = Preparation { scale: ColumnScale::Robust, ..Preparation::default() };
    let robust = Recipe { preparation: robust, ..pca.clone() };
    let always = Recipe { likelihood: eigenfold::Likelihood::Always, ..pca.clone() };
    let skewed = Moments { covariance: (0..16).map(|at| at as f64).collect(), ..all.clone() };
    let infinite = Moments { mean: vec![f64::INFINITY; 4], ..all.clone() };
    let negative = Moments { covariance: all.covariance.iter().map(|x| -x).collect(), ..all.clone() };
    let few = Moments { count: 20, ..all.clone() };
    let cases = [
        (recipe(eigenfold::Isomap::default(), 2), all.clone(), points.clone(), "isomap needs the rows themselves"),
        (robust, all.clone(), points.clone(), "robust needs the medians"),
        (always, all.clone(), points.clone(), "needs all rows"),
        (pca.clone(), skewed, points.clone(), "is not symmetric"),
        (pca.clone(), infinite, points.clone(), "not finite"),
        (pca.clone(), negative, points.clone(), "has the variance -"),
        (pca.clone(), few, points.clone(), "the sample has 50 rows and the moments are those of 20"),
        (pca.clone(), all.clone(), rows(50, 5, 0.0), "the sample has 5 columns and the moments have 4"),
        (pca.clone(), all.clone(), points.select(&[0]), "only 1 row"),
        (recipe(Pca::default(), 5), all.clone(), points.clone(), "4 features"),
        (recipe(Fa::default(), 4), all.clone(), points.clone(), "leave no noise"),
        (recipe(Pca::default(), 0), all.clone(), points.clone(), "`dims` is 0"),
    ];
    for (recipe, moments, sample, fact) in cases {
        let text = refused(&recipe, &moments, &sample);
        assert!(text.contains(fact) && text.contains("; ") && !text.contains('\n'), "{text}");
    }
}

/// The same rows with a tenth of their cells missing, and one row without any.
fn masked(points: &Points) -> Vec<f64> {
    let (n, p) = (points.rows(), points.cols());
    let gone = |at: usize| at / p == 17 || noise(500_000 + at) > 0.8;
    (0..n * p).map(|at| if gone(at) { f64::NAN } else { points.values()[at] }).collect()
}

/// Counts, means and the covariance with the mean in the place of missing cells: a pass for the means and one for the rest.
fn incomplete(values: &[f64], p: usize) -> IncompleteMoments {
    let n = values.len() / p;
    let seen = |j: usize| (0..n).map(move |i| i * p + j).filter(|&at| !values[at].is_nan());
    let counts: Vec<u64> = (0..p).map(|j| seen(j).count() as u64).collect();
    let mean: Vec<f64> = (0..p).map(|j| seen(j).map(|at| values[at]).sum::<f64>() / counts[j] as f64).collect();
    let off = |i: usize, j: usize| if values[i * p + j].is_nan() { 0.0 } else { values[i * p + j] - mean[j] };
    let product = |j: usize, k: usize| (0..n).map(|i| off(i, j) * off(i, k)).sum::<f64>() / n as f64;
    let covariance = (0..p * p).map(|at| product(at / p, at % p)).collect();
    let empty_rows = values.chunks(p).filter(|row| row.iter().all(|x| x.is_nan())).count() as u64;
    IncompleteMoments { moments: Moments { count: n as u64, mean, covariance }, counts, empty_rows }
}

/// A pass over rows in batches of this many, through the bytes of the model: the sum over the rows in their order.
fn pass(terms: &RowTerms, values: &[f64], p: usize, batch: usize) -> Vec<f64> {
    let terms = RowTerms::from_bytes(&terms.to_bytes().unwrap()).unwrap();
    let mut sums = vec![0.0; terms.count()];
    for rows in values.chunks(batch * p) {
        for row in terms.of(rows).unwrap().chunks(terms.count()) {
            sums.iter_mut().zip(row).for_each(|(sum, term)| *sum += term);
        }
    }
    sums
}

#[test]
fn passes_over_rows_with_missing_cells_give_the_fit_to_the_rows() {
    let p = 7;
    let values = masked(&rows(240, p, 5.0));
    let points = Points::with_missing(240, p, values.clone()).unwrap();
    let statistics = incomplete(&values, p);
    for method in [Method::from(Ppca::default()), Fa::default().into()] {
        for recipe in [recipe(method.clone(), 2), standardized(recipe(method.clone(), 2))] {
            let label = format!("{} {:?}", recipe.method.info().name, recipe.preparation.scale);
            let whole = recipe.fit(&points, &Silent).unwrap();
            let mut made = Vec::new();
            for batch in [1, 7, 240] {
                let passes = Cell::new(0);
                let mut evaluate = |terms: &RowTerms| {
                    passes.set(passes.get() + 1);
                    Ok(pass(terms, &values, p, batch))
                };
                let model = recipe.fit_by_passes(&statistics, &points, &mut evaluate, &Silent).unwrap();
                assert_eq!(model.report().coordinates.iterations, passes.get(), "{label}");
                made.push(model);
            }
            // Batches change no byte.
            assert!(made.iter().all(|model| model.to_bytes().unwrap() == made[0].to_bytes().unwrap()), "{label}");
            let model = &made[0];
            assert!(model.report().ended.is_converged(), "{label}");
            let off = apart(whole.embedding(), model.embedding());
            assert!(off < SOLVED, "{label}: {off:e}");
            let [a, b] = [&whole, model].map(|model| model.log_likelihood().unwrap());
            assert!(relative(a, b) < 1e-9, "{label}: {a} {b}");
            let missing =
                |model: &Model| model.report().figures.iter().find(|(f, _)| *f == Figure::MissingCells).cloned();
            assert_eq!(missing(&whole), missing(model), "{label}");
            let texts = |model: &Model| model.report().warnings.iter().map(|w| w.to_string()).collect::<Vec<_>>();
            assert_eq!(texts(&whole), texts(model), "{label}");
            // About every fourth row of them.
            let some: Vec<usize> = (0..240).step_by(4).collect();
            let mut evaluate = |terms: &RowTerms| Ok(pass(terms, &values, p, 10));
            let part = recipe.fit_by_passes(&statistics, &points.select(&some), &mut evaluate, &Silent).unwrap();
            let (full, deviations) = part.complete(&points).unwrap();
            let (expected, spread) = whole.complete(&points).unwrap();
            assert!(apart(&expected, &full) < SOLVED, "{label}");
            assert!(deviations.iter().zip(&spread).all(|(a, b)| relative(*b, *a) < SOLVED), "{label}");
            assert_eq!((part.report().n, part.report().fitted_rows), (60, 240));
            assert_eq!(missing(&whole), missing(&part));
            let bytes = part.to_bytes().unwrap();
            assert!(Model::from_bytes(&bytes).unwrap().to_bytes().unwrap() == bytes);
        }
    }
}

#[test]
fn complete_rows_need_no_pass() {
    let points = rows(100, 5, 0.0);
    let statistics = incomplete(points.values(), 5);
    let recipe = recipe(Ppca::default(), 2);
    let mut none = |_: &RowTerms| -> eigenfold::Result<Vec<f64>> { Err(Error::Stopped) };
    let model = recipe.fit_by_passes(&statistics, &points, &mut none, &Silent).unwrap();
    let of_moments = recipe.fit_moments(&statistics.moments, &points, &Silent).unwrap();
    assert!(model.to_bytes().unwrap() == of_moments.to_bytes().unwrap());
}

/// Stops after some reports of progress.
struct Impatient(std::sync::atomic::AtomicUsize);

impl Observer for Impatient {
    fn inner(&self) -> Option<&dyn Observer> {
        None
    }

    fn progress(&self, _stage: Stage, _fraction: f64) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }

    fn stop(&self) -> bool {
        self.0.load(std::sync::atomic::Ordering::Relaxed) > 3
    }
}

#[test]
fn passes_are_limited_stopped_and_refused() {
    let p = 6;
    let values = masked(&rows(120, p, 0.0));
    let points = Points::with_missing(120, p, values.clone()).unwrap();
    let statistics = incomplete(&values, p);
    let limited = recipe(Fa { max_iterations: 5, ..Fa::default() }, 2);
    let mut evaluate = |terms: &RowTerms| Ok(pass(terms, &values, p, 50));
    let model = limited.fit_by_passes(&statistics, &points, &mut evaluate, &Silent).unwrap();
    assert_eq!(model.report().coordinates.iterations, 5);
    assert!(model.report().warnings.iter().any(|w| w.message().contains("did not converge in 5 passes")));
    let stopped = recipe(Fa::default(), 2);
    let model = stopped.fit_by_passes(&statistics, &points, &mut evaluate, &Impatient(0.into())).unwrap();
    assert!(!model.report().ended.is_converged());
    let em = recipe(Fa { solver: LatentSolver::Em, ..Fa::default() }, 2);
    let few = IncompleteMoments { counts: vec![120; 3], ..statistics.clone() };
    let none = IncompleteMoments { counts: vec![0; p], ..statistics.clone() };
    let many = IncompleteMoments { counts: vec![121; p], ..statistics.clone() };
    let cases = [
        (em, statistics.clone(), "`solver` em adds up"),
        (recipe(Pca::default(), 2), statistics.clone(), "pca has no model of missing cells"),
        (recipe(Ppca::default(), 6), statistics.clone(), "leave no noise"),
        (stopped.clone(), few, "counts of 3 columns"),
        (stopped.clone(), none, "has no observed cell"),
        (stopped.clone(), many, "more observed cells than the 120 rows allow"),
    ];
    for (recipe, statistics, fact) in cases {
        let text = recipe.fit_by_passes(&statistics, &points, &mut evaluate, &Silent).unwrap_err().to_string();
        assert!(text.contains(fact) && text.contains("; ") && !text.contains('\n'), "{text}");
    }
    let mut short = |_: &RowTerms| Ok(vec![0.0; 3]);
    let text = stopped.fit_by_passes(&statistics, &points, &mut short, &Silent).unwrap_err().to_string();
    assert!(text.contains("a pass gave 3 sums"), "{text}");
    let mut failed = |_: &RowTerms| -> eigenfold::Result<Vec<f64>> { Err(Error::data("no executor", "")) };
    assert!(stopped.fit_by_passes(&statistics, &points, &mut failed, &Silent).is_err());
    assert!(RowTerms::from_bytes(b"nothing").is_err());
}
