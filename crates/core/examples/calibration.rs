//! Whether intervals hold what they promise: rows that had no part in a map are placed on it and led back.
//!
//! ```text
//! cargo run --release -p eigenfold --example calibration -- iris isomap lle
//! cargo run --release -p eigenfold --example calibration -- swiss-roll:1000:0.4:1 ltsa --repeats 3
//! ```
//!
//! A fifth of the rows is set aside, and nothing that follows sees it: the map is made of the others, the stretch of its
//! intervals is found by holding rows of the others out ([`Recipe::held_out_rows`]), and the rows set aside are placed, led
//! back and counted. So it goes for all five fifths, and for several deals of the rows into fifths.
//!
//! Prints a line per method, as the table of docs/reconstruct.md has it: data, method, the error of left-out rows as
//! `reconstruct` reports it, that of the rows set aside, the shares of their entries within deviation and margin before and
//! after the stretch, and the standard error of the share within the deviation, over rows (the entries of a row go together).
//! Data are what `eigenfold embed` reads, or a sample with points, noise and seed. `:N` behind a file takes every so many-th
//! row, N in all.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use eigenfold::sample::Sample;
use eigenfold::{Error, Likelihood, Method, Neighbors, Points, Recipe, io};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

const FIFTHS: usize = 5;

/// How many entries of a row were counted, and how many were within deviation and margin before and after the stretch.
#[derive(Clone, Default)]
struct Counts {
    entries: f64,
    within: [f64; 4],
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
        let claimed = recipe.fit(&points)?.way_back()?.evidence().error.unwrap_or(f64::NAN);
        let (mut rows, mut wrong, mut total) = (vec![Counts::default(); points.rows()], 0.0, 0.0);
        for repeat in 0..repeats {
            let mut order: Vec<usize> = (0..points.rows()).collect();
            order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(1000 + repeat));
            for fifth in 0..FIFTHS {
                let (away, kept): (Vec<usize>, Vec<usize>) = (0..order.len()).partition(|at| at % FIFTHS == fifth);
                let [away, kept] = [away, kept].map(|at| at.iter().map(|&at| order[at]).collect::<Vec<_>>());
                let sums = judge(&recipe, &points, &kept, &away, &mut rows)?;
                (wrong, total) = (wrong + sums[0], total + sums[1]);
            }
        }
        let entries: f64 = rows.iter().map(|row| row.entries).sum();
        let [one, two, stretched_one, stretched_two] =
            [0, 1, 2, 3].map(|at| rows.iter().map(|row| row.within[at]).sum::<f64>() / entries);
        let off = |row: &Counts| (row.within[2] - stretched_one * row.entries).powi(2);
        let error = rows.iter().map(off).sum::<f64>().sqrt() / entries;
        let title = data.rsplit('/').nth(1).unwrap_or(data);
        let held_out = (wrong / total).sqrt();
        println!(
            "| {title} | {name} | {claimed:.3} | {held_out:.3} | {one:.3} | {two:.3} | {stretched_one:.3} | {stretched_two:.3} | {error:.3} |"
        );
    }
    Ok(())
}

/// Counts the rows set aside; their squared error, each row no further off than the mean is on average, and that of the mean.
fn judge(
    recipe: &Recipe,
    points: &Points,
    kept: &[usize],
    away: &[usize],
    rows: &mut [Counts],
) -> Result<[f64; 2], Error> {
    let (known, new) = (points.select(kept), points.select(away));
    let model = recipe.fit(&known)?;
    let plain = model.way_back()?;
    let places = model.transform(&new)?;
    let before = plain.reconstruct(&places)?;
    let after = plain.stretched(recipe.held_out_rows(&known)?.stretch).reconstruct(&places)?;
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
            rows[i].entries += 1.0;
            let widths = [&before.deviations, &before.margins, &after.deviations, &after.margins];
            for (count, widths) in rows[i].within.iter_mut().zip(widths) {
                *count += f64::from(u8::from(off <= widths.row(at)[j]));
            }
        }
    }
    Ok([wrong, total])
}

fn points(data: &str) -> Result<Points, Error> {
    let parts: Vec<&str> = data.split(':').collect();
    if let [name, n, noise, seed] = parts[..] {
        let number = |text: &str| text.parse::<f64>().map_err(|_| Error::Parameter(format!("{text} is not a number")));
        let drawn = Sample::from_name(name)?.draw(number(n)? as usize, number(noise)?, number(seed)? as u64)?;
        return Ok(drawn.points);
    }
    let all = io::read(parts[0], &io::ReadOptions::default())?.points;
    let wanted = parts.get(1).and_then(|n| n.parse().ok()).unwrap_or(all.rows()).min(all.rows());
    Ok(all.select(&(0..wanted).map(|i| i * all.rows() / wanted).collect::<Vec<_>>()))
}
