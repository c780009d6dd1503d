//! Coverage of the intervals of the inverse transform, on rows that the map has not seen.
//!
//! ```text
//! cargo run --release -p eigenfold --example calibration -- iris isomap lle
//! cargo run --release -p eigenfold --example calibration -- swiss-roll:1000:0.4:1 ltsa --repeats 3
//! ```
//!
//! Five-fold cross-validation: the map is fitted to four fifths of the rows, the calibration factor of its intervals comes from
//! rows held out of these ([`Recipe::held_out_rows`]), and the last fifth is embedded, reconstructed and counted. This is
//! repeated for several partitions of the rows.
//!
//! Prints a line per method, as in the table of docs/internals/calibration.md:
//!
//! 1. data and method;
//! 2. the error of left-out rows as `reconstruct` reports it, and the error of the rows set aside;
//! 3. the shares of their entries within the 68 % and the 95 % interval, before and after calibration;
//! 4. the standard error of the 68 % share, over rows (the entries of a row are correlated);
//! 5. the share of entries in features that are reconstructed exactly in 68 % of the rows or more, and the calibrated shares with
//!    these features included. Such a feature is within any interval that often, so the other columns leave it out (for the 95 %
//!    interval: features that are exact in 95 % of the rows).
//!
//! Data are what `eigenfold embed` reads, or a sample with points, noise and seed. `:N` after a file takes N evenly spaced
//! rows.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use eigenfold::{Error, Likelihood, Method, Neighbors, Points, Recipe, Silent, io, sample::Sample};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

const FIFTHS: usize = 5;

/// An entry of a row set aside: whether it was reconstructed exactly, and whether it was within its intervals before and after
/// calibration.
struct Entry {
    row: usize,
    feature: usize,
    exact: bool,
    within: [bool; 4],
}

fn main() -> Result<(), Error> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut repeats = 1;
    if let Some(at) = args.iter().position(|arg| arg == "--repeats") {
        repeats = args.get(at + 1).and_then(|count| count.parse().ok()).unwrap_or(1);
        args.drain(at..(at + 2).min(args.len()));
    }
    let data = args.first().map_or("iris", |text| text.as_str());
    let points = points(data)?;
    let mut methods: Vec<&str> = args.iter().skip(1).map(|text| text.as_str()).collect();
    if methods.is_empty() {
        methods = vec!["isomap", "laplacian-eigenmaps", "lle", "ltsa", "modified-lle", "meu"];
    }
    for name in methods {
        let (name, k) = name.split_once(':').unwrap_or((name, "10"));
        let neighbors = Neighbors::Nearest(k.parse().unwrap_or(10));
        let likelihood = Likelihood::Never;
        let recipe = Recipe { method: Method::from_name(name)?, neighbors, likelihood, ..Recipe::default() };
        let claimed = recipe.fit(&points, &Silent)?.inverse_transform()?.diagnostics().error.unwrap_or(f64::NAN);
        let (mut entries, mut wrong, mut total) = (Vec::new(), 0.0, 0.0);
        for repeat in 0..repeats {
            let mut order: Vec<usize> = (0..points.rows()).collect();
            order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(1000 + repeat));
            for fifth in 0..FIFTHS {
                let (away, kept): (Vec<usize>, Vec<usize>) = (0..order.len()).partition(|at| at % FIFTHS == fifth);
                let [away, kept] = [away, kept].map(|at| at.iter().map(|&at| order[at]).collect::<Vec<_>>());
                let sums = evaluate(&recipe, &points, &kept, &away, &mut entries)?;
                (wrong, total) = (wrong + sums[0], total + sums[1]);
            }
        }
        let exact: Vec<f64> = (0..points.cols())
            .map(|j| share(entries.iter().filter(|entry| entry.feature == j), |entry| entry.exact))
            .collect();
        let exact = &exact;
        let counted = |level: f64| entries.iter().filter(move |entry: &&Entry| exact[entry.feature] < level);
        let [one, calibrated_one] = [0, 2].map(|at| share(counted(0.68), |entry| entry.within[at]));
        let [two, calibrated_two] = [1, 3].map(|at| share(counted(0.95), |entry| entry.within[at]));
        let [all_one, all_two] = [2, 3].map(|at| share(entries.iter(), |entry| entry.within[at]));
        let mut off = vec![0.0; points.rows()];
        counted(0.68).for_each(|entry| off[entry.row] += f64::from(u8::from(entry.within[2])) - calibrated_one);
        let number = counted(0.68).count() as f64;
        let error = off.iter().map(|off| off * off).sum::<f64>().sqrt() / number;
        let exact = 1.0 - number / entries.len() as f64;
        let title = data.rsplit('/').nth(1).unwrap_or(data);
        let held_out = (wrong / total).sqrt();
        println!(
            "| {title} | {name} | {claimed:.3} | {held_out:.3} | {one:.3} | {two:.3} | {calibrated_one:.3} | {calibrated_two:.3} | {error:.3} | {exact:.2} | {all_one:.3} | {all_two:.3} |"
        );
    }
    Ok(())
}

/// Counts the rows set aside. Returns their squared error, each row's error at most the average error of the mean, and the
/// squared error of the mean.
fn evaluate(
    recipe: &Recipe,
    points: &Points,
    kept: &[usize],
    away: &[usize],
    entries: &mut Vec<Entry>,
) -> Result<[f64; 2], Error> {
    let (known, new) = (points.select(kept), points.select(away));
    let model = recipe.fit(&known, &Silent)?;
    let plain = model.inverse_transform()?;
    let places = model.transform(&new)?;
    let before = plain.reconstruct(&places)?;
    let after = plain.calibrated(recipe.held_out_rows(&known, &Silent)?.calibration_factor).reconstruct(&places)?;
    let varies = |j: usize| (1..known.rows()).any(|i| known.row(i)[j] != known.row(0)[j]);
    let varying: Vec<usize> = (0..known.cols()).filter(|&j| varies(j)).collect();
    let means = known.column_means();
    let square = |i: usize, of: &[f64]| new.row(i).iter().zip(of).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
    let total: f64 = (0..new.rows()).map(|i| square(i, &means)).sum();
    let most = total / new.rows() as f64;
    let mut wrong = 0.0;
    for (at, &i) in away.iter().enumerate() {
        wrong += square(at, before.points.row(at)).min(most);
        for &j in &varying {
            let off = (new.row(at)[j] - before.points.row(at)[j]).abs();
            let widths = [&before.deviations, &before.margins, &after.deviations, &after.margins];
            let within = widths.map(|widths| off <= widths.row(at)[j]);
            entries.push(Entry { row: i, feature: j, exact: off == 0.0, within });
        }
    }
    Ok([wrong, total])
}

/// The share of entries for which a condition holds; zero if there are no entries.
fn share<'a>(entries: impl Iterator<Item = &'a Entry>, holds: impl Fn(&Entry) -> bool) -> f64 {
    let (mut count, mut all) = (0.0, 0.0);
    entries.for_each(|entry| (count, all) = (count + f64::from(u8::from(holds(entry))), all + 1.0));
    if all > 0.0 { count / all } else { 0.0 }
}

fn points(data: &str) -> Result<Points, Error> {
    let parts: Vec<&str> = data.split(':').collect();
    if let [name, n, noise, seed] = parts[..] {
        let number = |text: &str| {
            text.parse::<f64>().map_err(|_| Error::parameter("arguments", format!("{text} is not a number"), ""))
        };
        let drawn = Sample::from_name(name)?.draw(number(n)? as usize, number(noise)?, number(seed)? as u64)?;
        return Ok(drawn.points);
    }
    let all = io::read(parts[0], &io::ReadOptions::default())?.points;
    let wanted = parts.get(1).and_then(|n| n.parse().ok()).unwrap_or(all.rows()).min(all.rows());
    Ok(all.select(&(0..wanted).map(|i| i * all.rows() / wanted).collect::<Vec<_>>()))
}
