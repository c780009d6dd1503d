//! Unrolls a swiss roll, says how well, and places points it has not seen.
//!
//! ```text
//! cargo run --release -p eigenfold --example unroll
//! ```
#![allow(clippy::print_stdout, reason = "an example talks")]

use eigenfold::{Isomap, Neighbors, Recipe, Silent, sample::Sample};

fn main() -> eigenfold::Result<()> {
    let roll = Sample::SwissRoll.draw(2000, 0.0, 0)?;
    let recipe = Recipe { neighbors: Neighbors::Nearest(10), method: Isomap::default().into(), ..Recipe::default() };
    let model = recipe.fit(&roll.points, &Silent)?;

    let report = model.report();
    println!("{} points, {} neighbors each by {}", report.n, 10, report.graph.route.as_deref().unwrap_or("none"));
    println!("eigenvalues {:.4?}", model.spectrum());
    println!(
        "residuals   {:.1e} at most",
        report.coordinates.residuals.iter().take(report.dims).fold(0.0, |a: f64, &b| a.max(b))
    );

    let fresh = Sample::SwissRoll.draw(5, 0.0, 1)?;
    let placed = model.transform(&fresh.points)?;
    for i in 0..fresh.points.rows() {
        println!("true {:8.3?}  on the map {:8.3?}", fresh.truth.row(i), placed.row(i));
    }
    Ok(())
}
