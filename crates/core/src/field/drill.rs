//! Dimensionality reduction through regularization of the inverse covariance in the log likelihood (DRILL): the field's
//! precision is a matrix T on the graph, found by maximum likelihood with an L1 penalty.
//!
//! ```text
//! minimize −log det T + tr S T + α Σ_{i≠j} |T[i,j]|,    S = X̃ X̃ᵀ/p + ε s̄ I,    s̄ the mean of the diagonal of X̃ X̃ᵀ/p
//! ```
//!
//! Entries that the penalty drives to zero leave the graph, so that the graph is learned as well. Without a penalty (α = 0)
//! the covariance W = T⁻¹ agrees with S on all edges, and with it the expected distances. There is a maximum only where the
//! cliques of the graph have more variance than points, so the ridge ε is there by default. The coordinates are the top
//! eigenvectors of p H W H.
//!
//! N. D. Lawrence. A unifying probabilistic perspective for spectral dimensionality reduction: insights and new models.
//! JMLR 13, 2012, section 3. (Its penalty ρ on Σ_{i<j} is α = ρ/p here; the released code penalizes the diagonal as well.)

use super::ground::{Ground, INPUTS};
use super::penalty::Penalty;
use super::{Built, Field, FieldModel, Info, Parameter, Site, Weight, no_such_parameter, number, shown};
use crate::error::{Error, Result, bytes};
use crate::extend::Rule;
use crate::graph::{Found, Graph, Pieces, Search, Undirected};
use crate::lasso::{Arithmetic, Lasso, Precision, Support, is_nearly_full};
use crate::linalg::cholesky::Analysis;
use crate::points::Points;
use crate::progress::Observer;
use serde::{Deserialize, Serialize};

/// The part of the mean variance that is the penalty, if none is given.
const AUTO: f64 = 0.01;
/// Features are left out in so many groups to judge the penalties of a path.
const FOLDS: usize = 5;
/// More flops than this for one product with the second derivative are refused (some thousand are needed).
const DEAR_FLOPS: f64 = 5e10;

/// What [`Found::route`] says of a learned graph.
const ROUTE: &str = "learned";

/// DRILL.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drill {
    /// α, the strength of the penalty.
    pub penalty: Penalty,
    /// ε, a variance that every point has of its own, as a part of their mean variance.
    pub ridge: f64,
    /// Whether the diagonal is penalized as well.
    pub penalize_diagonal: bool,
    /// The duality gap per point at which the optimizer stops.
    pub tolerance: f64,
    /// The most Newton steps for one penalty.
    pub max_iterations: usize,
}

impl Default for Drill {
    fn default() -> Drill {
        Drill { penalty: Penalty::Auto, ridge: 0.1, penalize_diagonal: false, tolerance: 1e-6, max_iterations: 200 }
    }
}

/// One penalty of a path, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathStep {
    /// α.
    pub penalty: f64,
    /// The edges that are left.
    pub edges: usize,
    /// The duality gap per point.
    pub gap: f64,
    /// The log likelihood of features left out of the fit, summed over all groups.
    pub held_out: f64,
}

/// What the learning of a graph has to show for itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learned {
    /// The penalty that was used.
    pub penalty: f64,
    /// How many edges there were to choose from.
    pub candidates: usize,
    /// The duality gap per point.
    pub gap: f64,
    /// Whether the gap met the tolerance.
    pub converged: bool,
}

impl FieldModel for Drill {
    fn info(&self) -> Info {
        Info {
            name: "drill",
            aliases: &["graphical-lasso", "glasso"],
            summary: "the likeliest sparse precision; learns which neighbors matter",
            stage: "precision",
            paper: "Lawrence 2012, section 3",
            accepts: INPUTS,
            needs_graph: true,
            uses_metric: true,
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![
            Parameter::new("penalty", self.penalty, "the L1 penalty: a number, or a path FROM:TO:COUNT to choose from"),
            Parameter::new("ridge", self.ridge, "a variance of every point's own, as a part of the mean variance"),
            Parameter::new("penalize-diagonal", self.penalize_diagonal, "whether the diagonal is penalized as well"),
            Parameter::new("tolerance", self.tolerance, "the duality gap per point to stop at"),
            Parameter::new("max-iterations", self.max_iterations, "the most steps of the optimizer"),
        ]
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "penalty" => self.penalty = value.parse()?,
            "ridge" => self.ridge = number(name, value, 0.0..=1e6)?,
            "penalize-diagonal" => {
                let wrong = |_| Error::parameter(format!("--penalize-diagonal is {value:?}; give true or false"));
                self.penalize_diagonal = value.parse().map_err(wrong)?;
            }
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
        let ground = Ground::new(site, "drill")?;
        let union = site.graph()?.union();
        let support = Support::new(&union);
        let fitted = self.fit(ground, &support, site.memory, site.observer)?;
        let features = ground.features().unwrap_or(1) as f64;
        let found = &fitted.found;
        let matrix = support.sparsest(&found.values);
        let active = (matrix.entry_count() - support.n) / 2;
        let mut built = Built::new(
            Field::Definite { matrix, features },
            Rule::Barycenter { regularization: 1e-3, landmarks: None },
        );
        built.neighbors = Some((2 * active).div_ceil(support.n).max(1));
        built.log_likelihood = site.points.map(|_| fitted.log_likelihood(&support, features));
        let edges = edges_of(&union).zip(&found.values[support.n..]);
        let weight = |((i, j, distance), value): ((u32, u32, f64), &f64)| Weight { i, j, distance, weight: -value };
        built.weights = Some(edges.map(weight).collect());
        built.converged = found.gap <= self.tolerance;
        built.used.push(("penalty", shown(fitted.penalty)));
        built.path = fitted.path;
        built.figures = vec![
            ("gap", found.gap),
            ("evaluations", found.products as f64),
            ("edges", support.ends.len() as f64),
            ("active_edges", active as f64),
            ("objective", found.value),
        ];
        if !built.converged {
            built.warnings.push(unmet(found, self.tolerance));
        }
        Ok(built)
    }
}

/// The edges (i, j, length), i < j, in the order of the support.
fn edges_of(union: &Undirected) -> impl Iterator<Item = (u32, u32, f64)> + '_ {
    let of_row =
        |i: usize| union.edges(i).filter(move |&(j, _)| j > i).map(move |(j, length)| (i as u32, j as u32, length));
    (0..union.len()).flat_map(of_row)
}

fn unmet(found: &Precision, tolerance: f64) -> String {
    let gap = if found.gap.is_finite() { format!("{:.1e} per point", found.gap) } else { "not known".into() };
    let steps = found.steps;
    format!(
        "the duality gap is {gap}, above the tolerance of {tolerance:.1e}, after {steps} steps; a larger --ridge helps"
    )
}

/// A fit with what it was fitted to.
struct Fitted {
    found: Precision,
    penalty: f64,
    /// X̃ X̃ᵀ/p on the support.
    moments: Vec<f64>,
    path: Vec<PathStep>,
}

impl Fitted {
    /// p/2 (log det T − tr T X̃X̃ᵀ/p − n log 2π).
    fn log_likelihood(&self, support: &Support, features: f64) -> f64 {
        density(support, &self.found, &self.moments, features)
    }
}

/// The log density of features with these second moments.
fn density(support: &Support, found: &Precision, moments: &[f64], features: f64) -> f64 {
    let constant = support.n as f64 * std::f64::consts::TAU.ln();
    0.5 * features * (found.log_determinant - support.inner(&found.values, moments) - constant)
}

impl Drill {
    /// Stage 1: of the neighbors that a search finds, those whose entry in the precision is not zero.
    ///
    /// # Errors
    ///
    /// As the search, and if the work would not fit or a path of penalties has no features to choose by.
    pub fn graph_of_points(
        &self,
        search: &Search,
        points: &Points,
        memory: u64,
        observer: &dyn Observer,
    ) -> Result<(Found, Learned)> {
        let candidates = Search { pieces: Pieces::Separate, ..search.clone() }.of_points(points, observer)?;
        let (graph, learned) = self.learn(Ground::Points(points), &candidates.graph, memory, observer)?;
        Ok((Found { route: ROUTE, ..search.mended(graph, points, observer)? }, learned))
    }

    /// As [`Drill::graph_of_points`], where only distances are known.
    ///
    /// # Errors
    ///
    /// As [`Drill::graph_of_points`].
    pub fn graph_of_distances(
        &self,
        search: &Search,
        distances: &Points,
        memory: u64,
        observer: &dyn Observer,
    ) -> Result<(Found, Learned)> {
        let candidates = Search { pieces: Pieces::Separate, ..search.clone() }.of_distances(distances, observer)?;
        let (graph, learned) = self.learn(Ground::Distances(distances), &candidates.graph, memory, observer)?;
        Ok((Found { route: ROUTE, ..search.mended_by_distances(graph, distances, observer)? }, learned))
    }

    fn learn(
        &self,
        ground: Ground<'_>,
        candidates: &Graph,
        memory: u64,
        observer: &dyn Observer,
    ) -> Result<(Graph, Learned)> {
        let union = candidates.union();
        let support = Support::new(&union);
        let Fitted { found, penalty, .. } = self.fit(ground, &support, memory, observer)?;
        let mut lists = vec![Vec::new(); support.n];
        for ((i, j, length), value) in edges_of(&union).zip(&found.values[support.n..]) {
            if *value != 0.0 {
                lists[i as usize].push((j, length));
                lists[j as usize].push((i, length));
            }
        }
        let converged = found.gap <= self.tolerance;
        let learned = Learned { penalty, candidates: support.ends.len(), gap: found.gap, converged };
        Ok((Graph::from_lists(lists)?, learned))
    }

    fn fit(&self, ground: Ground<'_>, support: &Support, memory: u64, observer: &dyn Observer) -> Result<Fitted> {
        let analysis;
        let arithmetic = if is_nearly_full(support) {
            afford_dense(support.n, memory)?;
            Arithmetic::dense(support)
        } else {
            analysis = Analysis::new(&support.matrix(&vec![1.0; support.len()]))?;
            afford_sparse(&analysis, memory)?;
            Arithmetic::sparse(support, &analysis)?
        };
        let moments = second_moments(ground, support, |_| true)?;
        let mean = moments[..support.n].iter().sum::<f64>() / support.n as f64;
        let solve = |moments: &[f64], penalty: f64| {
            let own = self.ridge * mean + if self.penalize_diagonal { penalty } else { 0.0 };
            let lifted: Vec<f64> =
                moments.iter().enumerate().map(|(at, s)| if at < support.n { s + own } else { *s }).collect();
            let lasso = Lasso {
                support,
                arithmetic: &arithmetic,
                moments: &lifted,
                penalty,
                tolerance: self.tolerance,
                max_steps: self.max_iterations,
            };
            // Inside the pool, where the many short pieces of parallel work start at once.
            rayon::scope(|_| lasso.minimize(observer))
        };
        let (penalty, path) = match self.penalty {
            Penalty::Auto => (AUTO * mean, Vec::new()),
            Penalty::Value(value) => (value, Vec::new()),
            Penalty::Path { from, to, count } => {
                let penalties = Penalty::path(from, to, count);
                let path = follow(ground, support, &penalties, &solve)?;
                let best = path.iter().max_by(|a, b| a.held_out.total_cmp(&b.held_out));
                (best.map_or(to, |step| step.penalty), path)
            }
        };
        Ok(Fitted { found: solve(&moments, penalty)?, penalty, moments, path })
    }
}

/// The penalties of a path, largest first, each judged by the features that were left out of its fit.
fn follow(
    ground: Ground<'_>,
    support: &Support,
    penalties: &[f64],
    solve: &dyn Fn(&[f64], f64) -> Result<Precision>,
) -> Result<Vec<PathStep>> {
    let Some(p) = ground.features().filter(|&p| p >= 2) else {
        return Err(Error::parameter(
            "a path of penalties needs at least two features to choose by; give one --penalty",
        ));
    };
    let folds = FOLDS.min(p);
    let mut path: Vec<PathStep> = Vec::new();
    let whole = second_moments(ground, support, |_| true)?;
    for &penalty in penalties {
        let found = solve(&whole, penalty)?;
        let edges = found.values[support.n..].iter().filter(|value| **value != 0.0).count();
        path.push(PathStep { penalty, edges, gap: found.gap, held_out: 0.0 });
    }
    for fold in 0..folds {
        let kept = second_moments(ground, support, |feature| feature % folds != fold)?;
        let out = second_moments(ground, support, |feature| feature % folds == fold)?;
        let count = (fold..p).step_by(folds).len() as f64;
        for step in &mut path {
            step.held_out += density(support, &solve(&kept, step.penalty)?, &out, count);
        }
    }
    Ok(path)
}

/// X̃ X̃ᵀ/p on the support, of the chosen features; where only distances are known −½ H D² H, as if of one feature.
fn second_moments(ground: Ground<'_>, support: &Support, chosen: impl Fn(usize) -> bool) -> Result<Vec<f64>> {
    let n = support.n;
    let pairs = (0..n).map(|i| (i, i)).chain(support.ends.iter().map(|&(i, j)| (i as usize, j as usize)));
    let moments: Vec<f64> = match ground {
        Ground::Points(points) => {
            let mean = points.column_means();
            let columns: Vec<usize> = (0..points.cols()).filter(|&c| chosen(c)).collect();
            let product = |(i, j): (usize, usize)| {
                let (a, b) = (points.row(i), points.row(j));
                let sum: f64 = columns.iter().map(|&c| (a[c] - mean[c]) * (b[c] - mean[c])).sum();
                sum / columns.len() as f64
            };
            pairs.map(product).collect()
        }
        Ground::Distances(distances) => {
            let square = |i: usize, j: usize| distances.row(i)[j].powi(2);
            let means: Vec<f64> = (0..n).map(|i| (0..n).map(|j| square(i, j)).sum::<f64>() / n as f64).collect();
            let all = means.iter().sum::<f64>() / n as f64;
            pairs.map(|(i, j)| 0.5 * (means[i] + means[j] - all - square(i, j))).collect()
        }
    };
    if moments[..n].iter().all(|s| *s <= 0.0) {
        return Err(Error::data("all points coincide and have no covariance; give points that differ"));
    }
    Ok(moments)
}

fn afford_sparse(analysis: &Analysis, memory: u64) -> Result<()> {
    let way_out = "use a smaller -k, --graph mutual, or fewer points";
    let needed = 3 * analysis.memory();
    if needed > memory {
        let what = "the factors and the inverse on their pattern".into();
        return Err(Error::Memory { what, needed, limit: memory, way_out: way_out.into() });
    }
    if analysis.flops > DEAR_FLOPS {
        return Err(Error::parameter(format!(
            "every one of some 1,000 factors would take {:.1e} flops and {}; {way_out}",
            analysis.flops,
            bytes(needed)
        )));
    }
    Ok(())
}

fn afford_dense(n: usize, memory: u64) -> Result<()> {
    let needed = 12 * 8 * (n * n) as u64;
    if needed > memory {
        let what = format!("the matrices of all pairs of {n} points");
        return Err(Error::Memory { what, needed, limit: memory, way_out: "give -k, as in -k 20".into() });
    }
    let flops = 6.0 * (n as f64).powi(3);
    if flops > DEAR_FLOPS {
        return Err(Error::parameter(format!(
            "some 1,000 products of all pairs of {n} points would take {flops:.1e} flops each; give -k, as in -k 20"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Neighbors;
    use crate::io::{ReadOptions, read};
    use crate::linalg::dense::symmetric_eigen;
    use crate::linalg::positive::Positive;
    use crate::progress::Silent;

    fn every(name: &str, step: usize, count: usize) -> Points {
        let points = read(name, &ReadOptions::default()).unwrap().points;
        points.select(&(0..points.rows()).step_by(step).take(count).collect::<Vec<_>>())
    }

    fn graph(points: &Points, neighbors: Neighbors) -> Graph {
        let pieces = crate::graph::Pieces::Separate;
        Search { neighbors, pieces, ..Search::default() }.of_points(points, &Silent).unwrap().graph
    }

    fn fitted(drill: &Drill, points: &Points, graph: &Graph) -> (Support, Fitted) {
        let support = Support::new(&graph.union());
        let fitted = drill.fit(Ground::Points(points), &support, u64::MAX, &Silent).unwrap();
        (support, fitted)
    }

    /// The mean variance of the points.
    fn mean_variance(points: &Points) -> f64 {
        Ground::Points(points).variance()
    }

    /// Optima by alternating directions and then Newton's method on dense matrices, to a gap of 1e-12.
    #[test]
    fn small_problems_have_the_optima_that_alternating_directions_find() {
        let sets = [every("iris", 3, 50), every("digits", 1, 50)];
        let cases = [
            (0, Neighbors::All, 0.02, -98.426311170585, Some(344)),
            (0, Neighbors::All, 0.1, -45.147574944382, Some(342)),
            (0, Neighbors::Nearest(6), 0.0, -112.523967338044, Some(188)),
            (0, Neighbors::Nearest(6), 0.02, -76.239880381975, Some(136)),
            (0, Neighbors::Nearest(6), 0.1, -31.079184341508, Some(149)),
            (1, Neighbors::All, 0.02, 140.155321565746, Some(763)),
            (1, Neighbors::All, 0.1, 163.977651400881, Some(414)),
        ];
        for (set, neighbors, part, value, edges) in cases {
            let points = &sets[set];
            let penalty = Penalty::Value(part * mean_variance(points));
            let drill = Drill { penalty, ridge: 0.01, tolerance: 1e-9, ..Drill::default() };
            let (support, Fitted { found, .. }) = fitted(&drill, points, &graph(points, neighbors));
            assert!(found.gap <= 1e-9, "{set} {neighbors:?} {part}: gap {} after {}", found.gap, found.steps);
            let per_point = (found.value - value) / support.n as f64;
            assert!(per_point.abs() < 1e-8, "{set} {neighbors:?} {part}: {} {value}", found.value);
            let active = found.values[support.n..].iter().filter(|t| **t != 0.0).count();
            assert_eq!(Some(active), edges, "{set} {neighbors:?} {part}");
        }
    }

    /// Lawrence 2012, section 3: without a penalty the covariance agrees with the data on every edge, and so do the
    /// expected distances; the ridge adds twice its variance to each.
    #[test]
    fn l11_without_a_penalty_the_expected_distances_are_those_of_the_data() {
        for (points, ridge) in [(every("iris", 3, 50), 0.01), (every("digits", 1, 60), 0.01)] {
            let drill = Drill { penalty: Penalty::Value(0.0), ridge, tolerance: 1e-12, ..Drill::default() };
            let graph = graph(&points, Neighbors::Nearest(5));
            let (support, Fitted { found, .. }) = fitted(&drill, &points, &graph);
            assert!(found.gap <= 1e-12, "{}", found.gap);
            let covariance = Positive::factor(support.matrix(&found.values).to_dense()).unwrap().inverse();
            let own = 2.0 * ridge * mean_variance(&points);
            for &(i, j) in &support.ends {
                let (i, j) = (i as usize, j as usize);
                let expected = covariance[(i, i)] + covariance[(j, j)] - 2.0 * covariance[(j, i)];
                let (a, b) = (points.row(i), points.row(j));
                let observed = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() / points.cols() as f64;
                assert!((expected - observed - own).abs() < 1e-6 * (observed + own), "{i} {j}");
            }
        }
    }

    /// Lawrence 2012, section 2.8: where isomap's similarity has negative eigenvalues, this one has none.
    #[test]
    fn l10_the_covariance_of_drill_has_no_negative_eigenvalue() {
        let at = |i: usize| std::f64::consts::TAU * i as f64 / 60.0;
        let ring = Points::from_rows(&(0..60).map(|i| [at(i).cos(), at(i).sin()]).collect::<Vec<_>>()).unwrap();
        let (support, Fitted { found, .. }) = fitted(&Drill::default(), &ring, &graph(&ring, Neighbors::Nearest(4)));
        let (values, _) = symmetric_eigen(support.matrix(&found.values).to_dense().as_ref()).unwrap();
        assert!(values.iter().all(|&value| value > 0.0));
    }

    /// Scaling the data by s scales the penalty by s², and nothing else changes.
    #[test]
    fn the_automatic_penalty_follows_the_units() {
        let points = every("iris", 3, 50);
        let scaled = Points::new(50, 4, points.values().iter().map(|x| 1024.0 * x).collect()).unwrap();
        let of = |points: &Points| fitted(&Drill::default(), points, &graph(points, Neighbors::Nearest(6))).1;
        let (a, b) = (of(&points), of(&scaled));
        assert!((b.penalty / a.penalty / 1024f64.powi(2) - 1.0).abs() < 1e-12);
        let zeros = |fitted: &Fitted| fitted.found.values.iter().map(|t| *t == 0.0).collect::<Vec<_>>();
        assert_eq!(zeros(&a), zeros(&b));
    }

    /// The bound is never below the true distance from the optimum, wherever the descent stops.
    #[test]
    fn the_gap_bounds_the_distance_from_the_optimum_at_every_step() {
        let points = every("digits", 1, 50);
        let drill = |max_iterations| Drill {
            penalty: Penalty::Value(0.1 * mean_variance(&points)),
            tolerance: 1e-10,
            max_iterations,
            ..Drill::default()
        };
        let graph = graph(&points, Neighbors::Nearest(6));
        let best = fitted(&drill(200), &points, &graph).1.found.value;
        let mut known = 0;
        for steps in 1..25 {
            let found = fitted(&drill(steps), &points, &graph).1.found;
            assert!(found.gap >= 0.0 && found.value >= best - 1e-9);
            assert!(found.value - best <= 50.0 * found.gap + 1e-9, "{steps}: {} {}", found.value - best, found.gap);
            known += usize::from(found.gap.is_finite());
        }
        assert!(known > 5, "{known}");
    }

    #[test]
    fn a_path_is_judged_by_features_that_were_left_out() {
        let points = every("iris", 5, 30);
        let drill = Drill { penalty: "0.005:0.5:3".parse().unwrap(), ..Drill::default() };
        let (_, fitted) = fitted(&drill, &points, &graph(&points, Neighbors::Nearest(6)));
        assert_eq!(fitted.path.len(), 3);
        let best = fitted.path.iter().max_by(|a, b| a.held_out.total_cmp(&b.held_out)).unwrap();
        assert_eq!(best.penalty, fitted.penalty);
        assert!(fitted.path.iter().all(|step| step.gap <= 1e-6 && step.held_out.is_finite()));
        let line = Points::new(30, 1, (0..30).map(f64::from).collect()).unwrap();
        let support = Support::new(&graph(&line, Neighbors::Nearest(2)).union());
        let error = drill.fit(Ground::Points(&line), &support, u64::MAX, &Silent).err().unwrap().to_string();
        assert!(error.contains("at least two features"), "{error}");
    }

    #[test]
    fn all_pairs_of_many_points_are_refused_before_the_work() {
        assert!(afford_dense(500, u64::MAX).is_ok());
        assert!(afford_dense(5000, u64::MAX).unwrap_err().to_string().contains("give -k"));
        assert!(afford_dense(500, 1_000_000).unwrap_err().to_string().contains("give -k"));
    }
}
