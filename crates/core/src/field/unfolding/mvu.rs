//! Maximum variance unfolding: the points as far apart as their neighborhoods allow, with a proof.
//!
//! ```text
//! maximize tr K        K ⪰ 0, K1 = 0, K[i,i] − 2 K[i,j] + K[j,j] ≤ d²[i,j] for the pairs of a neighborhood
//! ```
//!
//! The field's covariance is K, and its top eigenvectors are the coordinates. The answer comes with weights on the pairs that
//! bound the variance of every other answer ([`Certificate`]). The pairs are a point and its neighbors, and the neighbors among
//! each other (`angles`); without those a sheet may narrow sideways to become longer. With `equality` the distances are
//! kept, not only bounded; then there may be many optima, and the center of them is meant.
//!
//! K. Q. Weinberger, L. K. Saul. Unsupervised learning of image manifolds by semidefinite programming. CVPR 2004.
//! L. Xiao, J. Sun, S. Boyd. A duality view of spectral methods for dimensionality reduction. ICML 2006.

use crate::extend::{Barycenter, Known, Rule};
use crate::field::scaling::mds::choose_landmarks;
use crate::field::unfolding::cost::{dimension, most_work, price};
use crate::field::unfolding::{
    Bracket, Certificate, Constraints, Distance, MvuVariant, Pairs, PathOptions, Sense, Unfolded, Web, bracket,
    bracket_of_some, cost, follow, solve, tree_weights,
};
use crate::field::{
    Basis, Build, Built, Field, Info, InputKind, Lengths, Site, Weight, landmark_graph, needs_points, usual_landmarks,
};
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

/// How many factors the path takes.
const FACTORS: f64 = 40.0;
/// More flops than this in all are refused: about an hour of two processors.
const DEAR_FLOPS: f64 = 6e13;
/// Up to so many points equality is exact unless a band is given; beyond, this is the band.
const EXACT: usize = 300;
const BAND: f64 = 0.01;
/// The gap of the dense problem that equality asks for at least.
const TIGHT: f64 = 1e-7;
/// The largest power of ten of the weights without cost.
const FLATTEST: i32 = 10;
/// More columns than this are never needed in practice, and each factor grows with their third power.
const MAX_RANK: usize = 40;

/// Maximum variance unfolding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mvu {
    /// Which distances are bound; if not given, the angles, or the edges of a graph whose points are not known.
    pub constraints: Option<Constraints>,
    /// How they are bound.
    pub variant: MvuVariant,
    /// The part by which squared distances may differ from those of the data, with equality; if not given, none for a few
    /// hundred points, and a hundredth for more.
    pub band: Option<f64>,
    /// How many points are unfolded exactly; all of them if not given.
    pub landmarks: Option<usize>,
    /// The relative duality gap to stop at.
    pub tolerance: f64,
    /// How many factorizations there may be.
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
            "which distances are bound",
            Kind::Choice(Constraints::NAMES),
            field!(constraints),
        )
        .auto("angles, or edges where only a graph is known"),
        Parameter::new("variant", "how distances are bound", Kind::Choice(MvuVariant::NAMES), field!(variant)),
        Parameter::new("band", "the part by which squared distances may differ", Kind::number(0.0, 0.9), field!(band))
            .auto("0 up to 300 points, 0.01 beyond")
            .with("variant", &["equality"]),
        Parameter::new(
            "landmarks",
            "how many points to unfold exactly, the others placed by them",
            Kind::at_least(3),
            field!(landmarks),
        )
        .none("all are unfolded"),
        Parameter::new("tolerance", "the relative duality gap to stop at", Kind::number(1e-9, 0.5), field!(tolerance)),
        Parameter::new(
            "max-iterations",
            "how many factorizations there may be",
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
            summary: "points as far apart as the neighbors' distances allow, with a proof",
            title: "MVU",
            good_for: "a sheet laid flat with a proof of how much variance any such map could have",
            caution: "Lengths hold between neighbors only; holes in the sheet stay holes, and one false neighbor can fold it.",
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

    fn lengths(&self, _: Data<'_>) -> Option<Lengths> {
        Some(Lengths::COVARIANCE)
    }

    fn has_weights(&self) -> bool {
        true
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        if self.variant == MvuVariant::Inequality && self.band.is_some() {
            return Err(Error::parameter("`band` is for `variant` equality; leave it out"));
        }
        let Some(landmarks) = choose_landmarks(self.landmarks, site.len(), site.seed)? else {
            return self.over(site, site.graph()?);
        };
        if self.variant == MvuVariant::Equality {
            let fact = "points placed between landmarks do not keep equal distances; use `variant` inequality";
            return Err(Error::parameter(fact));
        }
        self.over_landmarks(site, landmarks)
    }
}

impl Mvu {
    /// The distances to bind.
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
                // A little is lost when the bound is confirmed.
                let (tolerance, max_iterations) = (0.9 * self.tolerance, self.max_iterations);
                let max_work = most_work(analysis.flops, dimension(graph));
                let asked = PathOptions { tolerance, max_iterations, max_rank, max_work };
                // Every point of the path is a map: whoever asks for a stop gets it, however long a factor takes.
                site.observer.descends();
                let found = follow(&web, &asked, site.observer)?;
                // A bound is confirmed to the end, whatever the observer says: half-known eigenvalues bound nothing.
                let bracket = bracket((&web, &web), (self.variant, 0.0), (found.r, &found.y), &found.w, &Silent)?;
                (found, bracket)
            }
            MvuVariant::Equality => self.equality(site, &web, band)?,
        };
        let coordinates = coordinates(&pairs, found.r, &found.y)?;
        let factor = Mat::from_fn(coordinates.rows(), found.r, |i, q| coordinates.row(i)[q]);
        let rule = Rule::Barycenter(Barycenter { regularization: REGULARIZATION, landmarks: None });
        let mut built = Built::new(Field::Factor(factor), rule);
        built.figures = vec![("factorizations", found.factorizations as f64)];
        built.converged = bracket.gap.abs() <= self.tolerance && bracket.violation <= self.tolerance;
        if self.constraints.is_none() {
            built.used.push(("constraints", constraints.name().into()));
        }
        if self.variant == MvuVariant::Equality && self.band.is_none() {
            built.used.push(("band", band.to_string()));
        }
        if !built.converged && found.stopped {
            built.warnings.push(Warning::Stopped(format!(
                "stopped before it converged: the relative duality gap is {:.1e} after {} factorizations, and the tolerance \
                 is {:.1e}",
                bracket.gap, found.factorizations, self.tolerance
            )));
        } else if !built.converged {
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
                "squared distances may differ by {} % from the data's; `band` 0 asks for equal ones",
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

    /// The part by which squared distances may differ.
    fn band(&self, n: usize) -> f64 {
        match self.variant {
            MvuVariant::Inequality => 0.0,
            MvuVariant::Equality => self.band.unwrap_or(if n <= EXACT { 0.0 } else { BAND }),
        }
    }

    /// Equal distances, by the dense problem. Where flat neighborhoods leave K no interior, weights without cost hold them
    /// flat, and the more of them the lower the bound, until rounding ends that.
    fn equality(&self, site: &Site<'_>, web: &Web<'_>, band: f64) -> Result<(Unfolded, Bracket)> {
        let pairs = web.pairs;
        let (flops, memory) = cost(pairs);
        let way_out = "use `variant` inequality, a smaller `neighbors`, or `constraints` edges";
        site.afford("the equations of all distances", memory, way_out)?;
        if 30.0 * flops > DEAR_FLOPS {
            return Err(Error::parameter(format!(
                "equality among {} points held by {} distances would take about {:.0e} flops; {way_out}",
                pairs.len(),
                pairs.ends.len(),
                30.0 * flops
            )));
        }
        let sense = if band > 0.0 { Sense::Within(band) } else { Sense::Equal };
        // The map is the center of all optima, so it is worth going beyond the tolerance.
        let full = solve(pairs, sense, self.tolerance.min(TIGHT), self.max_iterations, site.observer)?;
        let (n, r) = (pairs.len(), full.y.ncols());
        let y: Vec<f64> = (0..n).flat_map(|i| (0..r).map(|q| full.y[(i, q)]).collect::<Vec<f64>>()).collect();
        let flat = full.flat.iter().any(|&flat| flat != 0.0);
        let mut best: Option<(Bracket, Vec<f64>)> = None;
        for exponent in if flat { 0..=FLATTEST } else { 0..=0 } {
            let many = if flat { 10f64.powi(exponent) } else { 0.0 };
            let w: Vec<f64> = full.w.iter().zip(&full.flat).map(|(w, flat)| w + many * flat).collect();
            let found = match bracket((web, web), (self.variant, band), (r, &y), &w, &Silent) {
                Err(Error::Numerical(_)) => continue,
                found => found?,
            };
            if found.dual > 0.0 && best.as_ref().is_none_or(|(best, _)| found.dual < best.dual) {
                best = Some((found, w));
            }
        }
        let (found, w) = best.ok_or_else(|| {
            let (ended, gap, off) = (if full.converged { "ended" } else { "got stuck" }, full.gap, full.violation);
            Error::Numerical(format!(
                "equal distances left no upper bound (the solver {ended} at a gap of {gap:.1e}, squares off by {off:.1e}); \
                 give them a `band` 0.01, or use `variant` inequality"
            ))
        })?;
        Ok((Unfolded { r, y, w, factorizations: full.iterations, stopped: full.stopped, spent: false }, found))
    }

    /// Unfolds some points and places the others by local weights; what is certified is how good the whole is.
    fn over_landmarks(&self, site: &Site<'_>, landmarks: Vec<u32>) -> Result<Built> {
        let points = site.data.points().ok_or_else(|| needs_points("mvu with `landmarks`", "leave them out"))?;
        let (some, graph) = landmark_graph(site, points, &landmarks)?;
        let data = Data::Points(&some, site.metric());
        let mut built = self.over(&Site { data, graph: Some(&graph), ..*site }, &graph)?;
        built.rule = Rule::Barycenter(Barycenter { regularization: REGULARIZATION, landmarks: Some(landmarks) });
        let Some(certificate) = &mut built.certificate else { return Ok(built) };
        let own = certificate.claimed;
        built.figures.extend([("landmark_primal", own.primal), ("landmark_dual", own.dual), ("landmark_gap", own.gap)]);
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
            "what is certified to {:.1e} is the unfolding of the landmarks; with the points placed between them the gap is {:.1e}",
            own.gap, certificate.claimed.gap
        )));
        Ok(built)
    }

    /// What coordinates of all points are worth on the whole graph, by weights along shortest paths, which need no factor
    /// that fills.
    fn whole(&self, site: &Site<'_>, of_landmarks: &Certificate, placed: Points) -> Result<Certificate> {
        let pairs = pairs(site, site.graph()?, of_landmarks.constraints)?;
        let (r, w) = (placed.cols(), tree_weights(&pairs));
        let y: Vec<f64> = pairs.first.iter().flat_map(|&i| placed.row(i as usize)).map(|y| y / pairs.unit).collect();
        let claimed = bracket_of_some(&pairs, (self.variant, 0.0), (r, &y), &w, site.memory, &Silent)?;
        // Points at one place have one row, whatever the rule made of them.
        let coordinates = coordinates(&pairs, r, &y)?;
        Ok(Certificate { coordinates, weights: weights(&pairs, &w), claimed, ..of_landmarks.clone() })
    }

    /// Refuses what would take hours or not fit, before the work; the columns that fit otherwise.
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
            return Err(Error::parameter(format!(
                "unfolding {n} points held by {} distances would take about {flops:.0e} flops ({FACTORS} factors in {r} \
                 columns, {} each); {way_out}",
                pairs.ends.len(),
                bytes(memory(r))
            )));
        }
        let most = (r..MAX_RANK.min(pairs.len())).take_while(|&r| memory(r) <= site.memory).last().unwrap_or(r);
        let what = format!("unfolding {n} points held by {} distances", pairs.ends.len());
        price(analysis.flops, dimension(graph), most).announce(site.observer, &what, &way_out);
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

    /// Hears whether a stop would give a map.
    #[derive(Default)]
    struct Heard(std::sync::atomic::AtomicBool);

    impl eigenfold_linalg::progress::Observer for Heard {
        fn inner(&self) -> Option<&dyn eigenfold_linalg::progress::Observer> {
            None
        }

        fn descends(&self) {
            self.0.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }

    #[test]
    fn whoever_may_stop_it_is_told_that_there_will_be_a_map() {
        let points = Points::from_rows(&(0..20).map(|i| [f64::from(i), 0.0]).collect::<Vec<_>>()).unwrap();
        let lists = |i: u32| [i.wrapping_sub(1), i + 1].into_iter().filter(|&j| j < 20).map(|j| (j, 1.0)).collect();
        let (graph, heard) = (Graph::from_lists((0..20).map(lists).collect()).unwrap(), Heard::default());
        let data = Data::Points(&points, eigenfold_graph::Metric::Euclidean);
        Mvu::default().build(&Site { graph: Some(&graph), observer: &heard, ..Site::of(data) }).unwrap();
        assert!(heard.0.into_inner());
    }
}
