//! Maximum entropy unfolding: the least committed field whose neighbors are as far apart as they are in the data.
//!
//! ```text
//! precision L = Σ_e λ[e] b[e] b[e]ᵀ        b[e] = e[i] − e[j] for an edge between i and j, one multiplier each
//! maximize  p/2 log det (L + γI) − ½ Σ_e λ[e] d²[e]        over λ ≥ 0
//! ```
//!
//! At the optimum the field expects p R[e] ≤ d²[e], R[e] = b[e]ᵀ(L + γI)⁻¹b[e], with equality wherever λ[e] > 0. In units
//! s[e] = d²[e]/p and with w[e] = λ[e] s[e] the problem is min −log det (L + γI) + Σ w[e], w ≥ 0, whose slope is
//! 1 − R[e]/s[e]; for γ = 0 one point is grounded (its row and column dropped), which changes no R. Scaling the covariance
//! until no edge is too long gives a feasible point of the dual, and so a bound on what is still to be gained:
//!
//! ```text
//! gap = Σ w[e] − (n − 1) − (n − 1) log c + c (γ tr K − 1) [γ > 0],    1/c = max R[e]/s[e]
//! ```
//!
//! N. D. Lawrence. A unifying probabilistic perspective for spectral dimensionality reduction: insights and new models.
//! JMLR 13, 2012, section 2.5. (It prints ⟨d²⟩ = p/2 R; its own gradient, and the released code, have p R.)

use super::multipliers::{Ask, minimize};
use super::resistances::{Edges, Oracle};
use super::{Built, Field, FieldModel, Info, InputKind, Parameter, Scale, Site, no_such_parameter, number};
use crate::error::{Error, Result, bytes};
use crate::extend::Rule;
use crate::linalg::cholesky::Analysis;
use crate::points::Points;
use crate::progress::Stage;
use serde::{Deserialize, Serialize};

/// Pairs of steps and slopes that the optimizer remembers.
const MEMORY: usize = 20;
/// More flops than this for one factor are refused (a minute each, and some sixty are needed).
const DEAR_FLOPS: f64 = 5e11;

/// Maximum entropy unfolding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meu {
    /// γ: a precision that every point has of its own.
    pub gamma: f64,
    /// The duality gap per point at which the optimizer stops.
    pub tolerance: f64,
    /// How often the likelihood may be evaluated.
    pub max_iterations: usize,
}

impl Default for Meu {
    fn default() -> Meu {
        Meu { gamma: 0.0, tolerance: 1e-6, max_iterations: 500 }
    }
}

impl FieldModel for Meu {
    fn info(&self) -> Info {
        Info {
            name: "meu",
            aliases: &["maximum-entropy-unfolding"],
            summary: "the least committed field with the neighbors' distances",
            stage: "precision",
            paper: "Lawrence 2012, section 2.5",
            accepts: &[InputKind::Points, InputKind::Distances, InputKind::Similarities, InputKind::Graph],
            needs_graph: true,
            uses_metric: true,
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![
            Parameter::new("gamma", self.gamma, "a precision that every point has of its own"),
            Parameter::new("tolerance", self.tolerance, "the duality gap per point to stop at"),
            Parameter::new("max-iterations", self.max_iterations, "how often the likelihood may be evaluated"),
        ]
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "gamma" => self.gamma = number(name, value, 0.0..=1e12)?,
            "tolerance" => self.tolerance = number(name, value, 1e-12..=1.0)?,
            "max-iterations" => self.max_iterations = number(name, value, 1..=1_000_000)?,
            _ => return Err(no_such_parameter(self, name)),
        }
        Ok(())
    }

    fn has_weights(&self) -> bool {
        true
    }

    fn field(&self, site: &Site<'_>) -> Result<Built> {
        let edges = Edges::new(&site.graph()?.union(), site.points.map_or(1, Points::cols));
        let pattern = edges.laplacian(&vec![1.0; edges.ends.len()], self.gamma);
        let analysis = Analysis::new(&pattern)?;
        afford(site, &analysis)?;
        let mut oracle = Oracle::new(&edges, self.gamma, &pattern, &analysis)?;
        let found = self.solve(site, &edges, &mut oracle)?;
        let matrix = edges.full_laplacian(&found.w);
        let p = edges.features as f64;
        let mut built = Built::new(
            Field::Precision { matrix, mass: None, scale: Scale::Covariance(p) },
            Rule::Barycenter { regularization: 1e-3 },
        );
        built.log_likelihood = site.points.map(|points| self.log_likelihood(points, &edges, &found));
        built.weights = Some(edges.weights(&found.w));
        built.converged = found.gap <= self.tolerance;
        built.figures = vec![
            ("gap", found.gap),
            ("evaluations", found.evaluations as f64),
            ("edges", found.w.len() as f64),
            ("active_edges", found.w.iter().filter(|&&w| w > 0.0).count() as f64),
            ("distance_mismatch", found.mismatch),
        ];
        if edges.coincident > 0 {
            built.warnings.push(format!(
                "{} edges join points that coincide; they are held together by large multipliers",
                edges.coincident
            ));
        }
        if !built.converged {
            built.warnings.push(format!(
                "the duality gap is {:.1e} per point, above the tolerance of {:.1e}, after {} evaluations",
                found.gap, self.tolerance, found.evaluations
            ));
        }
        Ok(built)
    }
}

/// What the optimizer found.
struct Found {
    w: Vec<f64>,
    log_determinant: f64,
    /// The duality gap per point.
    gap: f64,
    /// The largest relative difference of the expected from the observed squared distances, over the active edges.
    mismatch: f64,
    evaluations: usize,
}

impl Meu {
    fn solve(&self, site: &Site<'_>, edges: &Edges, oracle: &mut Oracle<'_>) -> Result<Found> {
        let (n, m) = (edges.n as f64, edges.ends.len());
        let start = vec![(n - 1.0) / m as f64; m];
        let ask = Ask { memory: MEMORY, max_evaluations: self.max_iterations };
        let mut last = None;
        let mut first_gap = 0.0f64;
        let w = minimize(&ask, start, |w, slope| {
            if site.observer.stop() {
                return Err(Error::Stopped);
            }
            let Some(value) = oracle.value(w)? else { return Ok(None) };
            for (slope, ratio) in slope.iter_mut().zip(&oracle.ratios) {
                *slope = 1.0 - ratio;
            }
            let gap = oracle.gap(w) / (n - 1.0).max(1.0);
            first_gap = first_gap.max(gap);
            let done = (first_gap / gap.max(1e-300)).ln() / (first_gap / self.tolerance).ln().max(1e-9);
            site.observer.progress(Stage::Field, done.clamp(0.0, 1.0));
            last = Some(gap);
            Ok(Some((value, gap <= self.tolerance)))
        })?;
        let evaluations = oracle.evaluations;
        if oracle.value(&w)?.is_none() || last.is_none() {
            return Err(Error::Numerical("the field of the neighbors' distances is singular; try --gamma 1e-4".into()));
        }
        let off = |(w, ratio): (&f64, &f64)| if *w > 0.0 { (ratio - 1.0).abs() } else { (ratio - 1.0).max(0.0) };
        let mismatch = w.iter().zip(&oracle.ratios).map(off).fold(0.0, f64::max);
        let gap = oracle.gap(&w) / (n - 1.0).max(1.0);
        Ok(Found { log_determinant: oracle.log_determinant, gap, mismatch, evaluations, w })
    }

    /// −(k/2) p log 2π + p/2 log det − ½ Σ λ d² − γ/2 ‖X̃‖², k = n − 1 for γ = 0 (differences from the grounded point).
    fn log_likelihood(&self, points: &Points, edges: &Edges, found: &Found) -> f64 {
        let (n, p) = (edges.n as f64, edges.features as f64);
        let mean = points.column_means();
        let spread: f64 = points.values().iter().enumerate().map(|(at, x)| (x - mean[at % mean.len()]).powi(2)).sum();
        let free = if self.gamma > 0.0 { n } else { n - 1.0 };
        let fit = p * found.w.iter().sum::<f64>();
        0.5 * (p * found.log_determinant - free * p * std::f64::consts::TAU.ln() - fit - self.gamma * spread)
    }
}

/// Refuses a factor that would not fit, or sixty of which would take hours.
fn afford(site: &Site<'_>, analysis: &Analysis) -> Result<()> {
    let way_out = "use a smaller -k, --graph mutual, or fewer points";
    site.afford("the factor and the inverse on its pattern", 2 * analysis.memory(), way_out)?;
    if analysis.flops > DEAR_FLOPS {
        return Err(Error::parameter(format!(
            "every one of some 60 factors would take {:.1e} flops and {}; {way_out}",
            analysis.flops,
            bytes(2 * analysis.memory())
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Graph, Neighbors, Search};
    use crate::progress::Silent;
    use crate::sample::r2_swiss_roll as swiss;

    fn solved(points: &Points, graph: &Graph, meu: Meu) -> (Edges, Found, f64) {
        let site = Site {
            points: Some(points),
            distances: None,
            graph: Some(graph),
            metric: Default::default(),
            dims: 2,
            seed: 0,
            memory: u64::MAX,
            observer: &Silent,
        };
        let edges = Edges::new(&graph.union(), points.cols());
        let pattern = edges.laplacian(&vec![1.0; edges.ends.len()], meu.gamma);
        let analysis = Analysis::new(&pattern).unwrap();
        let mut oracle = Oracle::new(&edges, meu.gamma, &pattern, &analysis).unwrap();
        let found = meu.solve(&site, &edges, &mut oracle).unwrap();
        let value = oracle.value(&found.w).unwrap().unwrap();
        (edges, found, value)
    }

    fn nearest(points: &Points, k: usize) -> Graph {
        let search = Search { neighbors: Neighbors::Nearest(k), ..Search::default() };
        search.of_points(points, &Silent).unwrap().graph
    }

    /// Values by a projected Newton method on dense matrices, to a slope of 2e-14.
    #[test]
    fn a_small_roll_has_the_optimum_that_newtons_method_finds() {
        let points = swiss(200);
        for (gamma, value, sum) in [(0.0, 230.300516716393, 169.6099959629), (1e-4, 234.075655911550, 169.5915869100)] {
            let meu = Meu { gamma, tolerance: 1e-10, max_iterations: 2000 };
            let (edges, found, ours) = solved(&points, &nearest(&points, 6), meu);
            assert_eq!(edges.ends.len(), 668);
            assert!(found.gap <= 1e-10, "{} after {}", found.gap, found.evaluations);
            assert!((ours / value - 1.0).abs() < 1e-9, "{ours} {value}");
            let multipliers: f64 = found.w.iter().zip(&edges.squares).map(|(w, s)| w / s).sum();
            assert!((multipliers / sum - 1.0).abs() < 1e-6, "{multipliers} {sum}");
            assert_eq!(found.w.iter().filter(|&&w| w > 1e-6).count(), 289);
            assert!(found.evaluations < 300, "{}", found.evaluations);
        }
    }

    /// A path: every edge is the only way across, so that all of its length is expected, λ = 1/s.
    #[test]
    fn on_a_path_every_edge_keeps_its_length() {
        let points = Points::from_rows(&[[0.0], [1.0], [3.0], [3.5]]).unwrap();
        let lists = vec![vec![(1, 1.0)], vec![(2, 2.0)], vec![(3, 0.5)], vec![]];
        let (_, found, _) = solved(&points, &Graph::from_lists(lists).unwrap(), Meu::default());
        assert!(found.w.iter().all(|w| (w - 1.0).abs() < 1e-5), "{:?}", found.w);
        assert!(found.mismatch < 1e-5);
    }

    /// Lawrence 2012, section 2.5.1: the slope of the log likelihood in λ is ½ (p R − d²), zero exactly where the
    /// expected squared distance is the observed one.
    #[test]
    fn l02_the_slope_of_the_likelihood_is_the_mismatch_of_the_distances() {
        let points = swiss(60);
        let edges = Edges::new(&nearest(&points, 5).union(), 3);
        for gamma in [0.0, 1e-2] {
            let w: Vec<f64> = (0..edges.ends.len()).map(|e| 0.2 + (e % 7) as f64 / 10.0).collect();
            let pattern = edges.laplacian(&w, gamma);
            let analysis = Analysis::new(&pattern).unwrap();
            let mut oracle = Oracle::new(&edges, gamma, &pattern, &analysis).unwrap();
            oracle.value(&w).unwrap();
            let ratios = oracle.ratios.clone();
            for e in (0..w.len()).step_by(11) {
                let mut at = |step: f64| {
                    let mut moved = w.clone();
                    moved[e] += step;
                    oracle.value(&moved).unwrap().unwrap()
                };
                let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((slope - (1.0 - ratios[e])).abs() < 1e-6, "{e}: {slope} {}", 1.0 - ratios[e]);
            }
            assert!(oracle.gap(&w) >= 0.0);
        }
        let (_, found, _) = solved(&points, &nearest(&points, 5), Meu { tolerance: 1e-9, ..Meu::default() });
        assert!(found.mismatch < 1e-6, "{}", found.mismatch);
    }
}
