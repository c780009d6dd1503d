//! Coverage of the standard deviations of `transform --std`: rows are held out of the map, embedded by its out-of-sample
//! extension, and compared with their coordinates on a map of all rows.
//!
//! ```text
//! cargo run --release -p eigenfold --example extension -- swiss-roll:800:0:1 isomap lle
//! cargo run --release -p eigenfold --example extension -- iris
//! ```
//!
//! Prints a line per method: the shares of held-out coordinates within one and within 1.96 standard deviations, by the standard
//! deviations of the extension alone and by those that include the variability of the map ([`Model::held_out_extension`]), which is
//! estimated without these rows. Then the medians of the standard deviation, of the error, and of the distance of the two maps at
//! common rows, in standard deviations of the coordinate. The map of all rows is aligned with the map without the held-out rows
//! by Procrustes analysis of their common rows.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use eigenfold::{Error, Likelihood, Method, Neighbors, Points, Recipe, Silent, io, sample::Sample};
use faer::Mat;

const FOLDS: usize = 5;

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let data = args.first().map_or("swiss-roll:800:0:1", |text| text.as_str());
    let points = points(data)?;
    let mut methods: Vec<&str> = args.iter().skip(1).map(|text| text.as_str()).collect();
    if methods.is_empty() {
        methods = vec!["isomap", "laplacian-eigenmaps", "lle", "ltsa", "modified-lle", "meu", "pca"];
    }
    for name in methods {
        let neighbors = Neighbors::Nearest(10);
        let likelihood = Likelihood::Never;
        let recipe = Recipe { method: Method::from_name(name)?, neighbors, likelihood, ..Recipe::default() };
        let whole = recipe.fit(&points, &Silent)?;
        let (mut within, mut count) = ([0usize; 4], 0usize);
        let (mut errors, mut said, mut apart) = (Vec::new(), Vec::new(), Vec::new());
        for fold in 0..FOLDS {
            let (left, kept): (Vec<usize>, Vec<usize>) =
                (0..points.rows()).partition(|i| (i * 7 + i / 5) % FOLDS == fold);
            let known = points.select(&kept);
            let model = recipe.fit(&known, &Silent)?;
            let new = points.select(&left);
            let alone = model.transform_with_std(&new)?.deviations;
            let placed = model.transform_held_out(&new, &model.held_out_extension(&Silent)?)?;
            let Some(deviations) = placed.deviations else { continue };
            let shared = whole.embedding().select(&kept);
            let onto = Procrustes::new(&shared, model.embedding());
            let spread = spread(model.embedding());
            for (at, &i) in left.iter().enumerate() {
                let wanted = onto.apply(whole.embedding().row(i));
                for q in 0..wanted.len() {
                    let off = (placed.coordinates.row(at)[q] - wanted[q]).abs();
                    let deviation = deviations.row(at)[q];
                    let alone = alone.as_ref().map_or(0.0, |alone| alone.row(at)[q]);
                    let inside = [off <= alone, off <= 1.96 * alone, off <= deviation, off <= 1.96 * deviation];
                    within.iter_mut().zip(inside).for_each(|(within, inside)| *within += usize::from(inside));
                    count += 1;
                    errors.push(off / spread[q]);
                    said.push(deviation / spread[q]);
                }
            }
            for (at, &i) in kept.iter().enumerate() {
                let there = onto.apply(whole.embedding().row(i));
                apart.extend((0..there.len()).map(|q| (model.embedding().row(at)[q] - there[q]).abs() / spread[q]));
            }
        }
        let [one_alone, two_alone, one, two] = within.map(|within| within as f64 / count as f64);
        let title = data.rsplit('/').nth(1).unwrap_or(data);
        let (errors, said, apart) = (median(errors), median(said), median(apart));
        println!(
            "| {title} | {name} | {one_alone:.2} | {two_alone:.2} | {one:.2} | {two:.2} | {said:.1e} | {errors:.1e} | {apart:.1e} |"
        );
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The standard deviation of every column.
fn spread(map: &Points) -> Vec<f64> {
    let (means, n) = (map.column_means(), map.rows());
    let one = |q: usize| ((0..n).map(|i| (map.row(i)[q] - means[q]).powi(2)).sum::<f64>() / n as f64).sqrt();
    (0..map.cols()).map(one).collect()
}

/// A rotation or reflection, a scale and a shift.
struct Procrustes {
    from: Vec<f64>,
    to: Vec<f64>,
    turn: Mat<f64>,
    scale: f64,
}

impl Procrustes {
    /// The transformation that brings the rows of one map nearest to the rows of another.
    fn new(from: &Points, to: &Points) -> Procrustes {
        let centered = |map: &Points| {
            let means = map.column_means();
            (Mat::from_fn(map.rows(), map.cols(), |i, q| map.row(i)[q] - means[q]), means)
        };
        let ((a, from), (b, to)) = (centered(from), centered(to));
        let cross = a.transpose() * &b;
        let Ok(svd) = cross.svd() else { panic!("two finite maps have a singular value decomposition") };
        let turn = svd.U() * svd.V().transpose();
        let size: f64 = (0..a.ncols()).map(|q| a.col(q).squared_norm_l2()).sum();
        let scale = (0..cross.ncols()).map(|q| svd.S()[q]).sum::<f64>() / size;
        Procrustes { from, to, turn, scale }
    }

    fn apply(&self, row: &[f64]) -> Vec<f64> {
        let along = |q: usize| (0..row.len()).map(|p| (row[p] - self.from[p]) * self.turn[(p, q)]).sum::<f64>();
        (0..row.len()).map(|q| self.to[q] + self.scale * along(q)).collect()
    }
}

fn points(data: &str) -> Result<Points, Error> {
    let parts: Vec<&str> = data.split(':').collect();
    if let [name, n, noise, seed] = parts[..] {
        let number = |text: &str| {
            text.parse::<f64>().map_err(|_| Error::parameter("arguments", format!("{text} is not a number"), ""))
        };
        return Ok(Sample::from_name(name)?.draw(number(n)? as usize, number(noise)?, number(seed)? as u64)?.points);
    }
    let all = io::read(parts[0], &io::ReadOptions::default())?.points;
    let wanted = parts.get(1).and_then(|n| n.parse().ok()).unwrap_or(all.rows()).min(all.rows());
    Ok(all.select(&(0..wanted).map(|i| i * all.rows() / wanted).collect::<Vec<_>>()))
}
