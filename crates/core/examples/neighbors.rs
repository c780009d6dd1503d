//! Times the neighbor search: `cargo run --release --example neighbors -- POINTS DIMS [K] [OPTION ...]`, on a noisy
//! sheet in that many dimensions, or on little-endian doubles: `-- FILE DIMS [K] [OPTION ...]`. Options: approximate,
//! manhattan, queries (also times finding the neighbors of new points).

use eigenfold::{Index, Metric, Neighbors, Points, Search, Silent};
use std::time::Instant;

#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, dims, options @ ..] = &arguments[..] else { return Err("give POINTS or FILE, and DIMS".into()) };
    let dims: usize = dims.parse()?;
    let k = options.first().map_or(Ok(10), |k| k.parse())?;
    let values = match data.parse::<usize>() {
        Ok(rows) => sheet(rows, dims),
        Err(_) => std::fs::read(data)?.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect(),
    };
    let points = Points::new(values.len() / dims, dims, values)?;
    let recall = if options.iter().any(|option| option == "approximate") { 0.99 } else { 1.0 };
    let metric = if options.iter().any(|option| option == "manhattan") { Metric::Manhattan } else { Metric::Euclidean };
    let search = Search { neighbors: Neighbors::Nearest(k), recall, metric, ..Search::default() };
    let start = Instant::now();
    let found = search.of_points(&points, &Silent)?;
    println!(
        "{} x {dims}, k = {k}: {} {:.3} s, recall {:?}, {} components",
        points.rows(),
        found.route,
        start.elapsed().as_secs_f64(),
        found.recall,
        found.sizes.len()
    );
    if !options.iter().any(|option| option == "queries") {
        return Ok(());
    }
    let start = Instant::now();
    let index = Index::new(&points, metric)?;
    let built = start.elapsed().as_secs_f64();
    let queries = points.select(&(0..points.rows().min(10_000)).collect::<Vec<_>>());
    let start = Instant::now();
    index.nearest(&queries, k)?;
    println!("index {built:.3} s, {} queries {:.3} s", queries.rows(), start.elapsed().as_secs_f64());
    Ok(())
}

/// Points on a curved sheet with a little noise in every direction.
fn sheet(rows: usize, dims: usize) -> Vec<f64> {
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut values = Vec::with_capacity(rows * dims);
    for _ in 0..rows {
        let angle = 4.7 * (1.0 + 2.0 * random());
        let latent = [angle * angle.cos(), 21.0 * random(), angle * angle.sin()];
        values.extend((0..dims).map(|c| latent[c % 3] * (1.0 + c as f64 / 10.0) + 0.5 * random() * f64::from(c > 2)));
    }
    values
}
