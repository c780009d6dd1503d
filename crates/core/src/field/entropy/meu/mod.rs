//! Maximum entropy unfolding: the field of maximum entropy whose neighbors are as far apart as they are in the data.
//!
//! ```text
//! precision L = Σ_e λ[e] b[e] b[e]ᵀ        b[e] = e[i] − e[j] for an edge between i and j, one multiplier each
//! maximize  p/2 log det (L + γI) − ½ Σ_e λ[e] d²[e]        over λ ≥ 0
//! ```
//!
//! At the optimum the field expects p R[e] ≤ d²[e], R[e] = b[e]ᵀ(L + γI)⁻¹b[e], with equality wherever λ[e] > 0. The free
//! variant lets λ have any sign while L + γI is positive definite, and has equality on all edges; noise of variance ε
//! at every point, d² + 2pε in place of d², gives it a solution. In units s[e] = d²[e]/p + 2ε and with w[e] = λ[e] s[e]
//! the problem is min −log det (L + γI) + Σ w[e], w ≥ 0, whose gradient is 1 − R[e]/s[e] (w of any sign in the free
//! variant); for γ = 0 one point is grounded (its row and column dropped), which changes no R. Scaling the covariance
//! until no edge is too long gives a feasible point of the dual, and so a bound on the duality gap:
//!
//! ```text
//! gap = Σ w[e] − (n − 1) − (n − 1) log c + c (γ tr K − 1) [γ > 0],    1/c = max R[e]/s[e]
//! ```
//!
//! N. D. Lawrence. A unifying probabilistic perspective for spectral dimensionality reduction: insights and new models.
//! JMLR 13, 2012, section 2.5. (It prints ⟨d²⟩ = p/2 R; its own gradient, and the released code, have p R.)

mod curvature;
mod fit;
mod resistances;

use crate::ended::Ended;
use crate::extend::{Barycenter, Rule};
use crate::field::entropy::meu::fit::{Multipliers, fit};
use crate::field::entropy::meu::resistances::Edges;
use crate::field::scaling::mds::choose_landmarks;
use crate::field::{
    Basis, Build, Built, CoordinateScale, Field, Info, InputKind, Site, landmark_graph, needs_points, shown,
    usual_landmarks,
};
use crate::input::Data;
use crate::input::regression::REGULARIZATION;
use crate::parameter::{Choice, Kind, Parameter, Table, choices, field};
use crate::warning::Warning;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Graph, Metric, Undirected};
use eigenfold_linalg::Operator;
use eigenfold_linalg::error::{Error, Result, bytes};
use eigenfold_linalg::optimize::Bounds;
use eigenfold_linalg::power::times_two_to;
use eigenfold_linalg::sparse::cholesky::Analysis;
use serde::{Deserialize, Serialize};

/// The default noise of the free variant, as a fraction of the mean d²/p.
const NOISE: f64 = 0.1;
/// More flops than this for one factor are refused (half a minute each with its inverse, and some sixty are needed).
const DEAR_FLOPS: f64 = 1e11;

/// Maximum entropy unfolding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meu {
    /// Which signs the multipliers may have.
    pub variant: MeuVariant,
    /// γ: the ridge added to the Laplacian.
    pub gamma: f64,
    /// ε: the noise variance of every point; if not given, 0, or a tenth of the mean d²/p for the free variant.
    pub noise: Option<f64>,
    /// How many points the field is over; all of them by default.
    pub landmarks: Option<usize>,
    /// When the optimizer stops: the duality gap per point, or for the free variant the largest |R/s − 1|.
    pub tolerance: f64,
    /// The maximum number of likelihood evaluations.
    pub max_iterations: usize,
}

/// Which signs the multipliers of [`Meu`] may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MeuVariant {
    /// None is negative: neighbors are expected to be no farther apart than in the data.
    #[default]
    Standard,
    /// Any sign: all neighbors are expected to be exactly as far apart as in the data.
    Free,
}

choices! {
    MeuVariant {
        Standard: "standard", "not negative";
        Free: "free", "any";
    }
}

impl MeuVariant {
    /// The default noise.
    fn noise(self, squares: &[f64]) -> f64 {
        match self {
            MeuVariant::Standard => 0.0,
            MeuVariant::Free => NOISE * squares.iter().sum::<f64>() / squares.len().max(1) as f64,
        }
    }

    /// The feasible set of the multipliers.
    fn bounds(self) -> Bounds {
        match self {
            MeuVariant::Standard => Bounds::AtLeast(0.0),
            MeuVariant::Free => Bounds::None,
        }
    }
}

impl Default for Meu {
    fn default() -> Meu {
        Meu {
            variant: MeuVariant::Standard,
            gamma: 0.0,
            noise: None,
            landmarks: None,
            tolerance: 1e-6,
            max_iterations: 500,
        }
    }
}

impl Table for Meu {
    const METHOD: &'static str = "meu";
    const TABLE: &'static [Parameter<Meu>] = &[
        Parameter::new("variant", "the signs of the multipliers", Kind::Choice(MeuVariant::NAMES), field!(variant)),
        Parameter::new("gamma", "the ridge added to the Laplacian", Kind::number(0.0, 1e12), field!(gamma)),
        Parameter::new("noise", "the noise variance of every point", Kind::number(0.0, 1e150), field!(noise))
            .auto("0; with `variant` free, 10 % of the neighbors' mean squared distance per feature"),
        Parameter::new(
            "landmarks",
            "the number of landmarks, which the model covers; all other points are embedded from them",
            Kind::at_least(3),
            field!(landmarks),
        )
        .none("all points"),
        Parameter::new(
            "tolerance",
            "stop at this duality gap per point; with `variant` free, at this relative error of the distances",
            Kind::number(1e-12, 1.0),
            field!(tolerance),
        ),
        Parameter::new(
            "max-iterations",
            "the maximum number of evaluations",
            Kind::count(1, 1_000_000),
            field!(max_iterations),
        ),
    ];
}

impl Build for Meu {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["maximum-entropy-unfolding"],
            summary: "maximum entropy unfolding: a Gaussian Markov random field over the points that keeps the expected distances of neighbors",
            title: "MEU",
            good_for: "groups and manifolds, with a likelihood of the model itself and a duality gap",
            caution: "Distances between groups are those of a random walk; do not read them as distances of the data.",
            basis: Basis::Precision,
            paper: "Lawrence 2012, section 2.5",
            accepts: InputKind::ALL,
            needs_graph: true,
            uses_metric: true,
        }
    }

    /// The field is fitted.
    fn efforts(&self) -> [f64; 3] {
        [1.0, 18.0, 1.0]
    }

    fn has_weights(&self) -> bool {
        true
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let Some(landmarks) = choose_landmarks(self.landmarks, site.len(), site.seed)? else {
            return self.over(site, site.graph()?);
        };
        let points = site.data.points().ok_or_else(|| needs_points("meu with `landmarks`", "leave them out"))?;
        let (points, graph) = landmark_graph(site, points, &landmarks)?;
        let data = Data::Points(&points, site.metric());
        let mut built = self.over(&Site { data, graph: Some(&graph), ..*site }, &graph)?;
        built.log_likelihood = None;
        built.rule =
            Rule::Barycenter(Barycenter { regularization: REGULARIZATION, landmarks: Some(landmarks.clone()) });
        for weight in built.weights.iter_mut().flatten() {
            (weight.i, weight.j) = (landmarks[weight.i as usize], landmarks[weight.j as usize]);
        }
        Ok(built)
    }
}

impl Meu {
    /// The field over the points of one graph.
    fn over(&self, site: &Site<'_>, graph: &Graph) -> Result<Built> {
        let union = graph.union();
        let edges = Edges::new(&union, site.data.points().map_or(1, Points::cols));
        let noise = self.noise.unwrap_or_else(|| self.variant.noise(&edges.squares));
        if let Some(points) = site.data.points().filter(|_| noise == 0.0 && site.metric() == Metric::Euclidean) {
            self.check_cliques(&union, points.cols())?;
        }
        let mut edges = edges.with_noise(noise);
        // The search sees squares of order one, so that its decisions, which compare logarithms, do not depend on the
        // unit.
        let power = edges.power();
        edges.times_two_to(-power);
        let inside = Meu { gamma: times_two_to(self.gamma, power), ..*self };
        let pattern = edges.laplacian(&vec![1.0; edges.ends.len()], inside.gamma);
        let analysis = Analysis::new(&pattern)?;
        afford(site, &analysis)?;
        let mut found = fit(&inside, site.observer, &edges, (&pattern, &analysis))?;
        edges.times_two_to(power);
        found.log_determinant -= pattern.dim() as f64 * f64::from(power) * std::f64::consts::LN_2;
        // L + γI over all points, with constants in its null space only where γ = 0; stage 3 centers it either way.
        let (matrix, scale) =
            (edges.precision(&found.w, self.gamma), CoordinateScale::Covariance(edges.features as f64));
        let rule = Rule::barycenter(REGULARIZATION);
        let mut built = Built::new(Field::Precision { matrix, order: None, normalization: None, scale }, rule);
        built.weights = Some(edges.weights(&found.w));
        built.log_likelihood = site.data.points().map(|points| self.log_likelihood(points, &edges, &found));
        built.ended = Ended::of(found.off <= self.tolerance, found.stopped);
        built.figures = found.figures(self.variant);
        built.used = self.noise.map_or(vec![("noise", shown(noise))], |_| Vec::new());
        if edges.coincident > 0 {
            built.warnings.push(Warning::Data(format!(
                "edges join points that coincide ({}); their multipliers are large",
                edges.coincident
            )));
        }
        if !built.ended.is_converged() {
            let (what, way_out) = match self.variant {
                MeuVariant::Standard => ("duality gap per point", "raise `max-iterations`"),
                MeuVariant::Free => ("relative error of the distances", "raise `noise` or `max-iterations`"),
            };
            let stopped = if found.stopped { "stopped before it converged: " } else { "" };
            let early = if found.stopped { Warning::Stopped } else { Warning::NotConverged };
            built.warnings.push(early(format!(
                "{stopped}the {what} is {:.1e}, above the tolerance of {:.1e}, after {} evaluations; {way_out}",
                found.off, self.tolerance, found.evaluations
            )));
        }
        Ok(built)
    }

    /// Refuses multipliers of any sign where a few points determine all distances among them: p + 2 points in p
    /// dimensions leave a direction without variance, and the likelihood has no maximum. The search is greedy and may
    /// miss such sets.
    fn check_cliques(&self, graph: &Undirected, p: usize) -> Result<()> {
        if self.variant == MeuVariant::Standard {
            return Ok(());
        }
        let joined = |i: usize, j: usize| graph.neighbors(i).binary_search(&(j as u32)).is_ok();
        for i in 0..graph.len() {
            let mut clique = vec![i];
            for (j, _) in graph.edges(i) {
                if clique[1..].iter().all(|&member| joined(member, j)) {
                    clique.push(j);
                }
            }
            if clique.len() > p + 1 {
                return Err(Error::parameter(
                    "noise",
                    format!(
                        "{} points are all neighbors of each other and have {p} features, so that free multipliers \
                         have no best values without noise",
                        clique.len()
                    ),
                    "leave out `noise` 0, or use `variant` standard",
                ));
            }
        }
        Ok(())
    }

    /// −(k/2) p log 2π + p/2 log det − ½ Σ λ d² − γ/2 ‖X̃‖², k = n − 1 for γ = 0 (differences from the grounded point).
    fn log_likelihood(&self, points: &Points, edges: &Edges, found: &Multipliers) -> f64 {
        let (n, p) = (edges.n as f64, edges.features as f64);
        let mean = points.column_means();
        let spread: f64 = points.values().iter().enumerate().map(|(at, x)| (x - mean[at % mean.len()]).powi(2)).sum();
        let free = if self.gamma > 0.0 { n } else { n - 1.0 };
        let pull: f64 = edges.weights(&found.w).iter().map(|edge| edge.weight * edge.distance.powi(2)).sum();
        0.5 * (p * found.log_determinant - free * p * std::f64::consts::TAU.ln() - pull - self.gamma * spread)
    }
}

/// Refuses a factor that would exceed the memory limit, or sixty of which would take hours.
fn afford(site: &Site<'_>, analysis: &Analysis) -> Result<()> {
    let landmarks = usual_landmarks(site.len());
    let way_out = format!("use a smaller `neighbors`, `graph` mutual, or `landmarks` {landmarks}");
    site.afford("the factor and the inverse on its pattern", 2 * analysis.memory(), &way_out)?;
    if analysis.flops > DEAR_FLOPS {
        return Err(Error::too_long(
            analysis.flops,
            format!(
                "each of about 60 factorizations would take {:.1e} flops and {}",
                analysis.flops,
                bytes(2 * analysis.memory())
            ),
            way_out,
        ));
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::field::entropy::meu::resistances::Oracle;
    use crate::recipe::Recipe;
    use crate::sample::r2_swiss_roll as swiss;
    use eigenfold_graph::{Neighbors, Search};
    use eigenfold_linalg::progress::Silent;

    fn solved(points: &Points, graph: &Graph, meu: Meu) -> (Edges, Multipliers, f64) {
        let edges = Edges::new(&graph.union(), points.cols()).with_noise(meu.noise.unwrap_or(0.0));
        let pattern = edges.laplacian(&vec![1.0; edges.ends.len()], meu.gamma);
        let analysis = Analysis::new(&pattern).unwrap();
        let found = fit(&meu, &Silent, &edges, (&pattern, &analysis)).unwrap();
        let value = Oracle::new(&edges, meu.gamma, &pattern, &analysis).unwrap().value(&found.w).unwrap().unwrap();
        (edges, found, value)
    }

    fn nearest(points: &Points, k: usize) -> Graph {
        let search = Search { neighbors: Neighbors::Nearest(k), ..Search::default() };
        search.of_points(points, &Silent).unwrap().graph
    }

    /// Values by a projected Newton method on dense matrices, to a gradient of 2e-14.
    #[test]
    fn a_small_roll_has_the_optimum_that_newtons_method_finds() {
        let points = swiss(200);
        for (gamma, value, sum) in [(0.0, 230.300516716393, 169.6099959629), (1e-4, 234.075655911550, 169.5915869100)] {
            let meu = Meu { gamma, tolerance: 1e-10, max_iterations: 2000, ..Meu::default() };
            let (edges, found, ours) = solved(&points, &nearest(&points, 6), meu);
            assert_eq!(edges.ends.len(), 668);
            assert!(found.off <= 1e-10, "{} after {}", found.off, found.evaluations);
            assert!((ours / value - 1.0).abs() < 1e-9, "{ours} {value}");
            let multipliers: f64 = found.w.iter().zip(&edges.squares).map(|(w, s)| w / s).sum();
            assert!((multipliers / sum - 1.0).abs() < 1e-6, "{multipliers} {sum}");
            assert_eq!(found.w.iter().filter(|&&w| w > 1e-6).count(), 289);
            assert!(found.evaluations < 150, "{}", found.evaluations);
        }
    }

    /// Values by Newton's method on dense matrices, to a mismatch of 1e-12 and 1e-11; s = d²/3 + 2ε.
    #[test]
    fn multipliers_of_any_sign_have_the_optimum_that_newtons_method_finds() {
        let points = swiss(200);
        let graph = nearest(&points, 6);
        for (noise, value, negative) in [(0.1, 64.5172651817, 285), (0.01, -258.8824975113, 294)] {
            let meu = Meu { variant: MeuVariant::Free, noise: Some(noise), tolerance: 1e-8, ..Meu::default() };
            let (_, found, ours) = solved(&points, &graph, meu);
            assert!(found.off <= 1e-8 && found.mismatch <= 1e-8, "{} after {}", found.off, found.evaluations);
            assert!((ours / value - 1.0).abs() < 1e-9, "{ours} {value}");
            assert_eq!(found.w.iter().filter(|&&w| w < 0.0).count(), negative);
        }
    }

    /// Six points of a plane that are all neighbors have a likelihood without a maximum; with noise it has one.
    #[test]
    fn free_multipliers_of_a_clique_need_noise() {
        let points =
            Points::from_rows(&[[0.0, 0.0], [1.0, 0.1], [0.2, 1.0], [1.3, 1.1], [0.6, 0.4], [2.0, 1.7]]).unwrap();
        let free = |noise| {
            let method = Meu { variant: MeuVariant::Free, noise, ..Meu::default() };
            Recipe { method: method.into(), neighbors: Neighbors::All, ..Recipe::default() }
                .fit(&points, &eigenfold_linalg::progress::Silent)
        };
        let message = free(Some(0.0)).unwrap_err().to_string();
        assert!(message.contains("6 points are all neighbors of each other and have 2 features"), "{message}");
        let model = free(None).unwrap();
        assert!(model.report().ended.is_converged(), "{:?}", model.report());
        assert!(model.weights().unwrap().iter().any(|edge| edge.weight < 0.0));
        let noise: f64 = model.report().parameters.iter().find(|p| p.name == "noise").unwrap().used.parse().unwrap();
        assert!(noise > 0.0);
    }

    /// A path: every edge is the only connection, so that all of its length is expected, λ = 1/s.
    #[test]
    fn on_a_path_every_edge_keeps_its_length() {
        let points = Points::from_rows(&[[0.0], [1.0], [3.0], [3.5]]).unwrap();
        let lists = vec![vec![(1, 1.0)], vec![(2, 2.0)], vec![(3, 0.5)], vec![]];
        let (_, found, _) = solved(&points, &Graph::from_lists(lists).unwrap(), Meu::default());
        assert!(found.w.iter().all(|w| (w - 1.0).abs() < 1e-5), "{:?}", found.w);
        assert!(found.mismatch < 1e-5);
    }

    /// Lawrence 2012, section 2.5.1: the gradient of the log likelihood in λ is ½ (p R − d²), zero exactly where the
    /// expected squared distance is the observed one.
    #[test]
    fn l02_the_gradient_of_the_likelihood_is_the_mismatch_of_the_distances() {
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
                let derivative = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((derivative - (1.0 - ratios[e])).abs() < 1e-6, "{e}: {derivative} {}", 1.0 - ratios[e]);
            }
            assert!(oracle.gap(&w) >= 0.0);
        }
        let (_, found, _) = solved(&points, &nearest(&points, 5), Meu { tolerance: 1e-9, ..Meu::default() });
        assert!(found.mismatch < 1e-6, "{}", found.mismatch);
    }
}
