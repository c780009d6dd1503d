//! Maximum variance unfolding: the points as far from each other as the distances within neighborhoods allow.
//!
//! ```text
//! primal   maximize tr K                 K ⪰ 0, K1 = 0, b[e]ᵀ K b[e] ≤ D[e]        b[e] = e[i] − e[j]
//! dual     minimize Σ D[e] W[e]          W ≥ 0, λ(L(W)) ≥ 1                         L(W) = Σ W[e] b[e] b[e]ᵀ
//! ```
//!
//! λ is the smallest eigenvalue of the weighted Laplacian beyond that of the constant vector. Any W ≥ 0 bounds the variance
//! from above by Σ D W / λ(L(W)), any K that keeps its distances bounds the optimum from below; at the optimum the two meet, and
//! L(W) K = K. With equal signs in place of ≤ the weights may be negative.
//!
//! L. Xiao, J. Sun, S. Boyd. A duality view of spectral methods for dimensionality reduction. ICML 2006, (7), (8), (11).
//! K. Q. Weinberger, L. K. Saul. Unsupervised learning of image manifolds by semidefinite programming. CVPR 2004.

mod certificate;
mod pairs;
mod path;
mod web;

pub(crate) use certificate::bracket;
pub use certificate::{Bracket, Certificate, MvuVariant};
pub use pairs::Constraints;
pub(crate) use pairs::{Distance, Pairs, distance_of};
pub(crate) use path::{Ask, follow};
pub(crate) use web::Web;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Metric, Neighbors, Search};
    use crate::linalg::cholesky::Analysis;
    use crate::linalg::sparse::SparseSymmetric;
    use crate::progress::Silent;
    use crate::sample::r2_swiss_roll as swiss;
    use std::time::Instant;

    #[test]
    fn lab() {
        for word in std::env::var("LAB").unwrap_or_default().split_whitespace() {
            let mut parts = word.split(',');
            let n: usize = parts.next().unwrap().parse().unwrap();
            let angles = parts.next() == Some("a");
            let tolerance: f64 = parts.next().map_or(1e-4, |t| t.parse().unwrap());
            let k: usize = parts.next().map_or(6, |t| t.parse().unwrap());
            let points = swiss(n);
            let graph = Search { neighbors: Neighbors::Nearest(k), ..Search::default() }
                .of_points(&points, &Silent)
                .unwrap()
                .graph;
            let start = Instant::now();
            let distance = |i: usize, j: usize| Metric::Euclidean.distance(points.row(i), points.row(j));
            let constraints = if angles { Constraints::Angles } else { Constraints::Edges };
            let pairs = Pairs::new(&graph, constraints, Some(&distance)).unwrap();
            let pattern = SparseSymmetric::laplacian(pairs.len(), &pairs.ends, &vec![1.0; pairs.ends.len()], 0.0);
            let analysis = Analysis::new(&pattern).unwrap();
            let web = web::Web::new(&pairs, &analysis).unwrap();
            let ready = start.elapsed().as_secs_f64();
            let ask = path::Ask { tolerance, max_iterations: 300, max_rank: 10 };
            let found = path::follow(&web, &ask, None, &Silent).unwrap();
            let seconds = start.elapsed().as_secs_f64();
            let unit = pairs.unit * pairs.unit;
            let variance: f64 = found.y.iter().map(|y| y * y).sum::<f64>() * unit;
            let dual: f64 = found.w.iter().zip(&pairs.squares).map(|(w, d)| w * d).sum::<f64>() * unit;
            println!(
                "{word}: m {} rank {} nf {} gap {:.2e} [{variance:.4}, {dual:.4}] ready {ready:.2} total {seconds:.2}",
                pairs.ends.len(),
                found.r,
                found.factorizations,
                found.gap
            );
        }
    }
}
