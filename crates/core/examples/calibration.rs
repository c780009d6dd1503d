//! Whether intervals hold what they promise: rows that had no part in a map are placed on it and led back.
//!
//! ```text
//! cargo run --release -p eigenfold --example calibration -- iris isomap lle
//! cargo run --release -p eigenfold --example calibration -- swiss-roll:1000:0.4:1 ltsa
//! ```
//!
//! Prints a line per method, as the table of docs/reconstruct.md has it: data, method, the error of left-out rows as
//! `reconstruct` reports it, that of rows held out, and the shares of their entries within deviation and margin. Data are
//! what `eigenfold embed` reads, or a sample with points, noise and seed. `:N` behind a file takes every so many-th row, N in
//! all.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use eigenfold::sample::Sample;
use eigenfold::{Error, Method, Neighbors, Points, Recipe, io};

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let data = args.first().map_or("iris", |text| text.as_str());
    let points = points(data)?;
    let mut methods: Vec<&str> = args.iter().skip(1).map(|text| text.as_str()).collect();
    if methods.is_empty() {
        methods = vec!["isomap", "laplacian-eigenmaps", "lle", "ltsa", "modified-lle", "meu"];
    }
    for name in methods {
        let (name, k) = name.split_once(':').unwrap_or((name, "10"));
        let neighbors = Neighbors::Nearest(k.parse().unwrap_or(10));
        let recipe = Recipe { method: Method::from_name(name)?, neighbors, ..Recipe::default() };
        let claimed = recipe.fit(&points)?.way_back()?.evidence().error.unwrap_or(f64::NAN);
        let held_out = recipe.held_out_rows(&points)?;
        let [one, two] = held_out.within.unwrap_or([f64::NAN; 2]);
        let title = data.rsplit('/').nth(1).unwrap_or(data);
        println!("| {title} | {name} | {claimed:.3} | {:.3} | {one:.3} | {two:.3} |", held_out.error);
    }
    Ok(())
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
