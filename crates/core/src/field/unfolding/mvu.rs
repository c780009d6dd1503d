//! Maximum variance unfolding: the largest variance that the neighborhoods allow, with a certificate of optimality.
//!
//! ```text
//! maximize tr K        K ⪰ 0, K1 = 0, K[i,i] − 2 K[i,j] + K[j,j] ≤ d²[i,j] for the pairs of a neighborhood
//! ```
//!
//! The covariance of the field is K, and its top eigenvectors are the coordinates. The solution comes with weights on
//! the pairs that bound the variance of every other solution ([`Certificate`]). The pairs are a point and its
//! neighbors, and the neighbors among each other (`angles`); without the latter a surface may become narrower in order
//! to become longer. With `equality` the distances are kept, not only bounded; the optimum may then not be unique, and
//! its analytic center is returned.
//!
//! K. Q. Weinberger, L. K. Saul. Unsupervised learning of image manifolds by semidefinite programming. CVPR 2004.
//! L. Xiao, J. Sun, S. Boyd. A duality view of spectral methods for dimensionality reduction. ICML 2006.

use crate::ended::Ended;
use crate::extend::{Barycenter, Known, Rule};
use crate::field::scaling::mds::choose_landmarks;
use crate::field::unfolding::cost::{dimension, most_work, predicted_cost};
use crate::field::unfolding::{
    Bracket, Certificate, Constraints, Distance, MvuVariant, Pairs, PathOptions, Sense, Unfolded, Web, bracket,
    bracket_of_some, cost, follow, solve, tree_weights,
};
use crate::field::{
    Basis, Build, Built, Field, Info, InputKind, Site, Weight, landmark_graph, needs_points, usual_landmarks,
};
use crate::figure::Figure;
use crate::input::Data;
use crate::input::regression::REGULARIZATION;
use crate::parameter::{Choice, Kind, Parameter, Table, field};
use crate::warning::Warning;
use eigenfold_graph::Graph;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result, bytes};
use eigenfold_linalg::progress::Silent;
use eigenfold_linalg::sparse::cholesky::Analysis;
use eigenfold_linalg::sparse::matrix::SparseSymmetric;
use faer::Mat;
use serde::{Deserialize, Serialize};

/// The usual number of factors of a path.
const FACTORS: f64 = 40.0;
/// More flops in total than this are refused: about an hour on two cores.
const DEAR_FLOPS: f64 = 6e13;
/// Up to this many points equality is exact unless a band is given; beyond, this is the band.
const EXACT: usize = 300;
const BAND: f64 = 0.01;
/// With equality the dense problem is solved at least to this relative gap.
const TIGHT: f64 = 1e-7;
/// The largest power of ten of the weights without cost.
const FLATTEST: i32 = 10;
/// More columns than this are never needed in practice, and the cost of a factor grows with their third power.
const MAX_RANK: usize = 40;

/// Maximum variance unfolding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mvu {
    /// Which distances are bounded; by default the angles, or the edges of a graph without points.
    pub constraints: Option<Constraints>,
    /// How they are bounded.
    pub variant: MvuVariant,
    /// The relative error that squared distances may have, with equality; by default zero for a few hundred points, and
    /// a hundredth for more.
    pub band: Option<f64>,
    /// How many points are unfolded exactly; all of them by default.
    pub landmarks: Option<usize>,
    /// The relative duality gap at which to stop.
    pub tolerance: f64,
    /// The maximum number of factorizations.
    pub max_iterations: usize,
}

impl Default for Mvu {
    fn default() -> Mvu {
        Mvu {
            constraints: None,
            variant: MvuVariant::Inequality,
            band: None,
            landmarks: None,
            tolerance: 1e-4,
            max_iterations: 300,
        }
    }
}

impl Table for Mvu {
    const METHOD: &'static str = "mvu";
    const TABLE: &'static [Parameter<Mvu>] = &[
        Parameter::new(
            "constraints",
            "the constrained distances",
            Kind::Choice(Constraints::NAMES),
            field!(constraints),
        )
        .auto("angles, or edges if the input is a graph"),
        Parameter::new("variant", "how distances are constrained", Kind::Choice(MvuVariant::NAMES), field!(variant)),
        Parameter::new("band", "the relative error allowed in squared distances", Kind::number(0.0, 0.9), field!(band))
            .auto("0 up to 300 points, 0.01 beyond")
            .with("variant", &["equality"]),
        Parameter::new(
            "landmarks",
            "the number of landmarks, which are unfolded exactly; all other points are embedded from them",
            Kind::at_least(3),
            field!(landmarks),
        )
        .none("all points"),
        Parameter::new("tolerance", "stop at this relative duality gap", Kind::number(1e-9, 0.5), field!(tolerance)),
        Parameter::new(
            "max-iterations",
            "the maximum number of factorizations",
            Kind::count(1, 1_000_000),
            field!(max_iterations),
        ),
    ];
}

impl Build for Mvu {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["maximum-variance-unfolding", "sde", "semidefinite-embedding"],
            summary: "maximizes the variance while keeping the distances between neighbors (semidefinite program with a duality gap)",
            title: "MVU",
            good_for: "flattening a manifold, with a certified bound on the variance of any such map",
            caution: "Lengths are kept between neighbors only; holes stay holes, and one false neighbor can fold the map.",
            basis: Basis::Covariance,
            paper: "Weinberger & Saul 2004; Xiao, Sun & Boyd 2006",
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
        if self.variant == MvuVariant::Inequality && self.band.is_some() {
            return Err(Error::inapplicable("band", "`band` is for `variant` equality", "leave it out"));
        }
        let Some(landmarks) = choose_landmarks(self.landmarks, site.len(), site.seed)? else {
            return self.over(site, site.graph()?);
        };
        if self.variant == MvuVariant::Equality {
            let fact = "points embedded between landmarks do not keep equal distances";
            return Err(Error::parameter("variant", fact, "use `variant` inequality"));
        }
        self.over_landmarks(site, landmarks)
    }
}

impl Mvu {
    /// The constrained distances.
    fn constraints(&self, site: &Site<'_>) -> Constraints {
        self.constraints.unwrap_or(if site.data.measured().is_some() {
            Constraints::Angles
        } else {
            Constraints::Edges
        })
    }

    /// The field over the points of one graph.
    fn over(&self, site: &Site<'_>, graph: &Graph) -> Result<Built> {
        let constraints = self.constraints(site);
        let pairs = pairs(site, graph, constraints)?;
        let analysis = analysis(&pairs)?;
        let max_rank = self.afford(site, graph, &pairs, &analysis)?;
        let web = Web::new(&pairs, &analysis, site.memory)?;
        let band = self.band(pairs.len());
        let (found, bracket) = match self.variant {
            MvuVariant::Inequality => {
                // The confirmation of the bound costs a little accuracy.
                let (tolerance, max_iterations) = (0.9 * self.tolerance, self.max_iterations);
                let max_work = most_work(analysis.flops, dimension(graph));
                let options = PathOptions { tolerance, max_iterations, max_rank, max_work };
                // Every point of the path gives a map, so a stop takes effect at once, however long a factor takes.
                site.observer.descends();
                let found = follow(&web, &options, site.observer)?;
                // The confirmation of a bound is never interrupted: inaccurate eigenvalues give no bound.
                let bracket = bracket((&web, &web), (self.variant, 0.0), (found.r, &found.y), &found.w, &Silent)?;
                (found, bracket)
            }
            MvuVariant::Equality => self.equality(site, &web, band)?,
        };
        let coordinates = coordinates(&pairs, found.r, &found.y)?;
        let factor = Mat::from_fn(coordinates.rows(), found.r, |i, q| coordinates.row(i)[q]);
        let rule = Rule::barycenter(REGULARIZATION);
        let mut built = Built::new(Field::Factor(Box::new(factor)), rule);
        built.figures = vec![(Figure::Factorizations, found.factorizations as f64)];
        let converged = bracket.gap.abs() <= self.tolerance && bracket.violation <= self.tolerance;
        built.ended = Ended::of(converged, found.stopped);
        if self.constraints.is_none() {
            built.used.push(("constraints", constraints.name().into()));
        }
        if self.variant == MvuVariant::Equality && self.band.is_none() {
            built.used.push(("band", band.to_string()));
        }
        if built.ended == Ended::Stopped {
            built.warnings.push(Warning::Stopped(format!(
                "stopped before it converged: the relative duality gap is {:.1e} after {} factorizations, and the tolerance \
                 is {:.1e}",
                bracket.gap, found.factorizations, self.tolerance
            )));
        } else if !converged {
            let way_out = match self.variant {
                MvuVariant::Inequality if found.spent => {
                    "it took many times the work that the neighborhoods let expect; use a smaller `neighbors`, \
                     `constraints` edges or a larger `tolerance`"
                }
                MvuVariant::Inequality => "raise `max-iterations` or `tolerance`",
                MvuVariant::Equality => {
                    "equal distances leave it no interior; give it a `band`, or use `variant` inequality"
                }
            };
            built.warnings.push(Warning::NotConverged(format!(
                "the relative duality gap is {:.1e} and distances are off by {:.1e}, and the tolerance is {:.1e}, after {} \
                 factorizations; {way_out}",
                bracket.gap, bracket.violation, self.tolerance, found.factorizations
            )));
        }
        if band > 0.0 {
            built.warnings.push(Warning::Approximate(format!(
                "squared distances may differ by {} % from the data's; `band` 0 requires equal ones",
                100.0 * band
            )));
        }
        let certificate = Certificate {
            rows: Vec::new(),
            constraints,
            variant: self.variant,
            band,
            metric: site.metric(),
            coordinates,
            weights: weights(&pairs, &found.w),
            claimed: bracket,
        };
        built.weights = Some(certificate.weights.clone());
        built.certificate = Some(certificate);
        Ok(built)
    }

    /// The relative error that squared distances may have.
    fn band(&self, n: usize) -> f64 {
        match self.variant {
            MvuVariant::Inequality => 0.0,
            MvuVariant::Equality => self.band.unwrap_or(if n <= EXACT { 0.0 } else { BAND }),
        }
    }

    /// Equal distances, by the dense problem. Where flat neighborhoods leave K no interior, weights without cost keep
    /// them flat; the more of them, the tighter the bound, up to rounding.
    fn equality(&self, site: &Site<'_>, web: &Web<'_>, band: f64) -> Result<(Unfolded, Bracket)> {
        let pairs = web.pairs;
        let (flops, memory) = cost(pairs);
        let way_out = "use `variant` inequality, a smaller `neighbors`, or `constraints` edges";
        site.afford("the equations of all distances", memory, way_out)?;
        if 30.0 * flops > DEAR_FLOPS {
            return Err(Error::too_long(
                30.0 * flops,
                format!(
                    "equality among {} points constrained by {} distances would take about {:.0e} flops",
                    pairs.len(),
                    pairs.ends.len(),
                    30.0 * flops
                ),
                way_out,
            ));
        }
        let sense = if band > 0.0 { Sense::Within(band) } else { Sense::Equal };
        // The map is the center of all optima, so the iteration goes beyond the tolerance.
        let full = solve(pairs, sense, self.tolerance.min(TIGHT), self.max_iterations, site.observer)?;
        let (n, r) = (pairs.len(), full.y.ncols());
        let y: Vec<f64> = (0..n).flat_map(|i| (0..r).map(|q| full.y[(i, q)]).collect::<Vec<f64>>()).collect();
        let flat = full.flat.iter().any(|&flat| flat != 0.0);
        let mut best: Option<(Bracket, Vec<f64>)> = None;
        for exponent in if flat { 0..=FLATTEST } else { 0..=0 } {
            let many = if flat { 10f64.powi(exponent) } else { 0.0 };
            let w: Vec<f64> = full.w.iter().zip(&full.flat).map(|(w, flat)| w + many * flat).collect();
            let found = match bracket((web, web), (self.variant, band), (r, &y), &w, &Silent) {
                Err(Error::Numerical { .. }) => continue,
                found => found?,
            };
            if found.dual > 0.0 && best.as_ref().is_none_or(|(best, _)| found.dual < best.dual) {
                best = Some((found, w));
            }
        }
        let (found, w) = best.ok_or_else(|| {
            let (ended, gap, off) = (if full.converged { "ended" } else { "got stuck" }, full.gap, full.violation);
            let how = format!("the solver {ended} at a gap of {gap:.1e}, squares off by {off:.1e}");
            let fact = format!("equal distances left no upper bound ({how})");
            Error::numerical(fact, "give them a `band` 0.01, or use `variant` inequality")
        })?;
        Ok((Unfolded { r, y, w, factorizations: full.iterations, stopped: full.stopped, spent: false }, found))
    }

    /// Unfolds some points and embeds the others by local weights; the certificate covers the whole map.
    fn over_landmarks(&self, site: &Site<'_>, landmarks: Vec<u32>) -> Result<Built> {
        let points = site.data.points().ok_or_else(|| needs_points("mvu with `landmarks`", "leave them out"))?;
        let (some, graph) = landmark_graph(site, points, &landmarks)?;
        let data = Data::Points(&some, site.metric());
        let mut built = self.over(&Site { data, graph: Some(&graph), ..*site }, &graph)?;
        built.rule = Rule::Barycenter(Barycenter { regularization: REGULARIZATION, landmarks: Some(landmarks) });
        let Some(certificate) = &mut built.certificate else { return Ok(built) };
        let own = certificate.claimed;
        built.figures.extend([
            (Figure::LandmarkPrimal, own.primal),
            (Figure::LandmarkDual, own.dual),
            (Figure::LandmarkGap, own.gap),
        ]);
        let known = Known {
            points: Some((points, site.metric())),
            k: graph.edge_count() / graph.len(),
            map: &certificate.coordinates,
            eigenvalues: &[],
            radius: None,
        };
        let placed = built.rule.place_all(&known, site.data, None)?;
        *certificate = self.whole(site, certificate, placed)?;
        built.weights = Some(certificate.weights.clone());
        built.warnings.push(Warning::Approximate(format!(
            "the duality gap of {:.1e} is that of the landmarks; with all points the gap is {:.1e}",
            own.gap, certificate.claimed.gap
        )));
        Ok(built)
    }

    /// The certificate for coordinates of all points on the whole graph, by weights along shortest paths, which need no
    /// factor with fill.
    fn whole(&self, site: &Site<'_>, of_landmarks: &Certificate, placed: Points) -> Result<Certificate> {
        let pairs = pairs(site, site.graph()?, of_landmarks.constraints)?;
        let (r, w) = (placed.cols(), tree_weights(&pairs));
        let y: Vec<f64> = pairs.first.iter().flat_map(|&i| placed.row(i as usize)).map(|y| y / pairs.unit).collect();
        let claimed = bracket_of_some(&pairs, (self.variant, 0.0), (r, &y), &w, site.memory, &Silent)?;
        // Coinciding points get the same coordinates, whatever the rule returned.
        let coordinates = coordinates(&pairs, r, &y)?;
        Ok(Certificate { coordinates, weights: weights(&pairs, &w), claimed, ..of_landmarks.clone() })
    }

    /// Refuses a problem that would take hours or exceed the memory limit, before any work; else returns the number of
    /// columns that fit.
    fn afford(&self, site: &Site<'_>, graph: &Graph, pairs: &Pairs, analysis: &Analysis) -> Result<usize> {
        let r = (site.dims.max(2) + 1).min(pairs.len() - 1);
        if self.variant == MvuVariant::Equality {
            return Ok(r);
        }
        let flops = FACTORS * analysis.flops * (r as f64).powi(3);
        let n = site.len();
        let way_out = format!("use `landmarks` {}, a smaller `neighbors`, or `constraints` edges", usual_landmarks(n));
        let memory = |r: usize| 2 * analysis.memory() * (r * r) as u64;
        site.afford("the factor of the unfolding", memory(r), &way_out)?;
        if flops > DEAR_FLOPS {
            return Err(Error::too_long(
                flops,
                format!(
                    "unfolding {n} points constrained by {} distances would take about {flops:.0e} flops \
                     ({FACTORS} factors in {r} columns, {} each)",
                    pairs.ends.len(),
                    bytes(memory(r))
                ),
                way_out,
            ));
        }
        let most = (r..MAX_RANK.min(pairs.len())).take_while(|&r| memory(r) <= site.memory).last().unwrap_or(r);
        let what = format!("unfolding {n} points constrained by {} distances", pairs.ends.len());
        predicted_cost(analysis.flops, dimension(graph), most).announce(site.observer, &what, &way_out);
        Ok(most)
    }
}

/// The pairs of a graph over the site's points.
fn pairs(site: &Site<'_>, graph: &Graph, constraints: Constraints) -> Result<Pairs> {
    let distance = site.data.measured().map(|measured| move |i: usize, j: usize| measured.distance(i, j));
    Pairs::new(graph, constraints, distance.as_ref().map(|distance| distance as &Distance<'_>))
}

fn analysis(pairs: &Pairs) -> Result<Analysis> {
    Analysis::new(&SparseSymmetric::laplacian(pairs.len(), &pairs.ends, &vec![1.0; pairs.ends.len()], 0.0))
}

/// The coordinates of all points of the input, in its units.
fn coordinates(pairs: &Pairs, r: usize, y: &[f64]) -> Result<Points> {
    let row = |&at: &u32| y[at as usize * r..][..r].iter().map(|y| y * pairs.unit);
    Points::new(pairs.of.len(), r, pairs.of.iter().flat_map(row).collect())
}

/// The pairs with their weights, in the units of the data.
fn weights(pairs: &Pairs, w: &[f64]) -> Vec<Weight> {
    let weight = |(e, &(i, j)): (usize, &(u32, u32))| Weight {
        i: pairs.first[i as usize],
        j: pairs.first[j as usize],
        distance: pairs.squares[e].sqrt() * pairs.unit,
        weight: w[e],
    };
    pairs.ends.iter().enumerate().map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Observes whether a stop would yield a map.
    #[derive(Default)]
    struct Recorder(std::sync::atomic::AtomicBool);

    impl eigenfold_linalg::progress::Observer for Recorder {
        fn inner(&self) -> Option<&dyn eigenfold_linalg::progress::Observer> {
            None
        }

        fn descends(&self) {
            self.0.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }

    #[test]
    fn an_observer_that_may_interrupt_is_notified_that_there_will_be_a_map() {
        let points = Points::from_rows(&(0..20).map(|i| [f64::from(i), 0.0]).collect::<Vec<_>>()).unwrap();
        let lists = |i: u32| [i.wrapping_sub(1), i + 1].into_iter().filter(|&j| j < 20).map(|j| (j, 1.0)).collect();
        let (graph, recorder) = (Graph::from_lists((0..20).map(lists).collect()).unwrap(), Recorder::default());
        let data = Data::Points(&points, eigenfold_graph::Metric::Euclidean);
        Mvu::default().build(&Site { graph: Some(&graph), observer: &recorder, ..Site::of(data) }).unwrap();
        assert!(recorder.0.into_inner());
    }
}
