//! How far an unfolding can be from the optimum, by bounds that can be verified independently.
//!
//! Coordinates Y that satisfy their distance bounds, if need be after scaling by the worst violation, bound the largest
//! variance from below; weights W bound it from above by Σ D W / λ, with λ the smallest eigenvalue of the Laplacian
//! L(W) beyond that of the constant vector. Each takes one pass over the pairs and one eigenvalue, and neither depends
//! on how Y and W were computed.

use crate::field::unfolding::pairs::{Constraints, Distance, Pairs};
use crate::field::unfolding::weighted_laplacian::Web;
use crate::input::Data;
use crate::parameter::{Choice, choices};
use eigenfold_graph::Weight;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Graph, Metric};
use eigenfold_linalg::dense::symmetric_eigen;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::{Observer, Silent};
use eigenfold_linalg::sparse::cholesky::Analysis;
use eigenfold_linalg::sparse::fronts::Factor;
use eigenfold_linalg::sparse::matrix::SparseSymmetric;
use faer::Mat;
use serde::{Deserialize, Serialize};

/// Whether neighbors may come closer to each other than they are in the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MvuVariant {
    /// They may: distances are at most those of the data, and no weight is negative.
    #[default]
    Inequality,
    /// They may not: distances are those of the data, and weights have any sign.
    Equality,
}

impl MvuVariant {
    /// One lower-case word.
    pub fn name(self) -> &'static str {
        self.word()
    }
}

choices! {
    MvuVariant {
        Inequality: "inequality", "at most those of the data";
        Equality: "equality", "equal to those of the data";
    }
}

/// Bounds on the largest variance, and how well the conditions of the optimum hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bracket {
    /// The variance tr K of the coordinates, scaled down until no distance is too long: a lower bound of the maximum.
    pub primal: f64,
    /// Σ D W / λ: an upper bound of the maximum.
    pub dual: f64,
    /// (dual − primal) / dual.
    pub gap: f64,
    /// ‖L K − K‖ / ‖K‖ with L the Laplacian of the weights scaled to λ = 1; zero at the optimum (11).
    pub kkt: f64,
    /// The number of directions of K with more than a fraction ρ of the variance: the dimension of the unfolding, as
    /// far as it is known. With ε = tr (L − I)K / tr K or the gap, whichever is larger, ρ is √ε, and at most a tenth.
    pub rank: usize,
    /// The number of eigenvalues of L that are at most 1 + ε/ρ: never fewer than the rank (13, see `bracket`). Three
    /// more than there are coordinates are computed.
    pub multiplicity: usize,
    /// The largest relative excess of a squared distance, or with equality its largest relative error.
    pub violation: f64,
    /// The number of bounded distances.
    pub pairs: usize,
    /// Whether λ is confirmed by the signs of a factor's pivots, in addition to the eigen-solver.
    pub confirmed: bool,
}

impl Bracket {
    /// The bracket of separate components together.
    pub(crate) fn merge(&mut self, other: &Bracket) {
        self.primal += other.primal;
        self.dual += other.dual;
        self.gap = (self.dual - self.primal) / self.dual;
        self.kkt = self.kkt.max(other.kkt);
        self.rank = self.rank.max(other.rank);
        self.multiplicity = self.multiplicity.max(other.multiplicity);
        self.violation = self.violation.max(other.violation);
        self.pairs += other.pairs;
        self.confirmed &= other.confirmed;
    }
}

/// Coordinates and weights, and the bracket they are claimed to give.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// The rows of the input that it covers; all of them if empty.
    pub rows: Vec<u32>,
    /// Which distances are bounded.
    pub constraints: Constraints,
    /// How they are bounded.
    pub variant: MvuVariant,
    /// The relative error that squared distances may have, with equality.
    pub band: f64,
    /// The metric of the points.
    pub metric: Metric,
    /// All coordinates Y with K = Y Yᵀ, not only those of the map.
    pub coordinates: Points,
    /// The weights W, one per pair, by ascending ends; pairs at distance zero are held together at no cost and left
    /// out.
    pub weights: Vec<Weight>,
    /// The claimed bracket.
    pub claimed: Bracket,
}

impl Certificate {
    /// Recomputes the bracket from the coordinates, the weights and the input alone, and compares it with the claim.
    ///
    /// ```
    /// use eigenfold::{Neighbors, Search};
    /// use eigenfold::Silent;
    /// use eigenfold::{Mvu, Recipe, sample::Sample};
    ///
    /// let roll = Sample::SwissRoll.draw(300, 0.0, 1)?;
    /// let neighbors = Neighbors::Nearest(6);
    /// let model = Recipe { neighbors, method: Mvu::default().into(), ..Recipe::default() }.fit(&roll.points, &eigenfold::Silent)?;
    /// let graph = Search { neighbors, ..Search::default() }.of_points(&roll.points, &Silent)?.graph;
    /// let bracket = model.certificates()[0].verify(&roll.points, &graph)?;
    /// assert!(bracket.gap <= 1e-4 && bracket.primal <= bracket.dual);
    /// # Ok::<(), eigenfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the weights are not those of the graph's pairs, a weight is negative that must not be, or the bracket is not as claimed.
    pub fn verify<'a>(&self, data: impl Into<Data<'a>>, graph: &Graph) -> Result<Bracket> {
        data.into().measured_by(self.metric).whitened(|data| self.verify_on(data, graph))
    }

    /// As [`Certificate::verify`], with the metric of the data.
    fn verify_on(&self, data: Data<'_>, graph: &Graph) -> Result<Bracket> {
        let rows: Vec<usize> = self.rows.iter().map(|&row| row as usize).collect();
        let induced;
        let graph = if rows.is_empty() {
            graph
        } else {
            induced = graph.induced(&rows);
            &induced
        };
        let measured = data.measured();
        let at = |i: usize| rows.get(i).copied().unwrap_or(i);
        let distance = measured.map(|measured| move |i: usize, j: usize| measured.distance(at(i), at(j)));
        let distance = distance.as_ref().map(|distance| distance as &Distance<'_>);
        let pairs = Pairs::new(graph, self.constraints, distance)?;
        let w = self.weights_of(&pairs)?;
        if self.coordinates.rows() != graph.len() {
            let (have, want) = (self.coordinates.rows(), graph.len());
            return Err(refused(format!("it has coordinates of {have} points and the graph has {want}")));
        }
        let y: Vec<f64> =
            pairs.first.iter().flat_map(|&i| self.coordinates.row(i as usize)).map(|y| y / pairs.unit).collect();
        let stray = (0..graph.len()).any(|i| {
            let first = pairs.first[pairs.of[i] as usize] as usize;
            self.coordinates.row(i) != self.coordinates.row(first)
        });
        if stray {
            return Err(refused("points at distance zero have different coordinates".into()));
        }
        let map = (self.coordinates.cols(), y.as_slice());
        let found = bracket_of_some(
            &pairs,
            (self.variant, self.band),
            map,
            &w,
            eigenfold_linalg::memory::available(),
            &Silent,
        )?;
        let agree = |a: f64, b: f64| (a - b).abs() <= 1e-6 * found.dual.abs();
        let claimed = &self.claimed;
        if !agree(found.primal, claimed.primal) || !agree(found.dual, claimed.dual) {
            return Err(refused(format!(
                "it claims a variance between {:.9e} and {:.9e}, and its coordinates and weights give {:.9e} and {:.9e}",
                claimed.primal, claimed.dual, found.primal, found.dual
            )));
        }
        if found.violation > claimed.violation + 1e-6 {
            return Err(refused(format!("a squared distance has a relative error of {:.1e}", found.violation)));
        }
        Ok(found)
    }

    /// W in the order and the units of the pairs.
    fn weights_of(&self, pairs: &Pairs) -> Result<Vec<f64>> {
        let ends = pairs.ends.iter().map(|&(i, j)| (pairs.first[i as usize], pairs.first[j as usize]));
        if self.weights.len() != pairs.ends.len() || !ends.eq(self.weights.iter().map(|w| (w.i, w.j))) {
            let fact = format!("its {} weights are not those of the {} pairs", self.weights.len(), pairs.ends.len());
            return Err(refused(fact));
        }
        if self.variant == MvuVariant::Inequality && !self.weights.iter().all(|w| w.weight >= 0.0) {
            return Err(refused("a weight is negative".into()));
        }
        Ok(self.weights.iter().map(|w| w.weight).collect())
    }
}

fn refused(fact: String) -> Error {
    Error::data(format!("the certificate does not hold: {fact}"), "fit the model again")
}

/// The bracket of coordinates and weights that may be zero for most pairs: only the others are factored.
pub(crate) fn bracket_of_some(
    pairs: &Pairs,
    sense: (MvuVariant, f64),
    map: (usize, &[f64]),
    w: &[f64],
    memory: u64,
    observer: &dyn Observer,
) -> Result<Bracket> {
    let held: Vec<usize> = (0..w.len()).filter(|&e| w[e] != 0.0).collect();
    let holding = Pairs {
        ends: held.iter().map(|&e| pairs.ends[e]).collect(),
        squares: held.iter().map(|&e| pairs.squares[e]).collect(),
        ..pairs.clone()
    };
    let w: Vec<f64> = held.iter().map(|&e| w[e]).collect();
    let analysis = Analysis::new(&SparseSymmetric::laplacian(holding.len(), &holding.ends, &w, 0.0))?;
    bracket((&Web::bare(pairs, memory), &Web::new(&holding, &analysis, memory)?), sense, map, &w, observer)
}

/// The bracket of coordinates (r numbers per point) and weights over some pairs, in the units of the data. Squares with
/// a relative error of up to ε allow a variance of (Σ D W + ε Σ D |W|) / λ. The first weighted Laplacian has all pairs,
/// the second those with weights.
///
/// Rank and multiplicity: with L scaled to λ = 1, v[q] the variances of K and δ[q] ≥ 0 the Rayleigh quotients of L − I
/// along its directions, Σ v[q] δ[q] = tr (L − I)K = ε tr K, zero at the optimum. Over the directions with v[q] > ρ tr K
/// the δ[q] sum to less than ε/ρ, and no combination of them has a larger quotient; so L has at least as many eigenvalues
/// of at most 1 + ε/ρ (Courant and Fischer).
pub(crate) fn bracket(
    (all, web): (&Web<'_>, &Web<'_>),
    (variant, band): (MvuVariant, f64),
    (r, y): (usize, &[f64]),
    w: &[f64],
    observer: &dyn Observer,
) -> Result<Bracket> {
    let (pairs, n) = (web.pairs, web.pairs.len());
    let unit = pairs.unit * pairs.unit;
    let y = centered(r, y, &pairs.counts);
    let differences = all.differences(r, &y);
    let ratio = |e: usize| differences[e * r..][..r].iter().map(|d| d * d).sum::<f64>() / all.pairs.squares[e];
    let longest = -all.least(|e| -ratio(e));
    let violation = match variant {
        MvuVariant::Inequality => (longest - 1.0).max(0.0),
        MvuVariant::Equality => (-all.least(|e| -(ratio(e) - 1.0).abs()) - band).max(0.0),
    };
    let moment = moment(r, &y, &pairs.counts);
    let variance: f64 = (0..r).map(|q| moment[(q, q)]).sum();
    let primal = match variant {
        MvuVariant::Inequality => variance / longest.max(1.0),
        MvuVariant::Equality => variance,
    };
    let eigen = web.bottom(w, (r + 3, 1e-6), None, observer)?;
    let sure = confirmed(web, w, eigen.values[0], MARGINS)?;
    let lambda = sure.unwrap_or(eigen.values[0]);
    if lambda.is_nan() || lambda <= 0.0 {
        return Err(Error::numerical(
            "the weights leave the graph without an upper bound",
            "raise `max-iterations`, or use another k",
        ));
    }
    let dual = bound_at(web, w, band, lambda);
    let gap = (dual - primal) / dual.abs();
    let pulled = web.laplacian(r, w, &web.differences(r, &y));
    let off: Vec<f64> = (0..n * r).map(|at| pulled[at] / lambda - pairs.counts[at / r] * y[at]).collect();
    let weighted: Vec<f64> = (0..n * r).map(|at| pairs.counts[at / r] * y[at]).collect();
    let ones = vec![1.0; n];
    let norm = |x: &[f64]| trace_of_product(&self::moment(r, x, &ones), &moment).sqrt();
    let (values, _) = symmetric_eigen(moment.as_ref())?;
    let open = off.iter().zip(&y).map(|(off, y)| off * y).sum::<f64>() / variance.max(f64::MIN_POSITIVE);
    let open = open.max(gap).max(LEAST_OPEN);
    let part = open.sqrt().min(LARGEST_PART);
    let near = open / part;
    Ok(Bracket {
        primal: primal * unit,
        dual: dual * unit,
        gap,
        kkt: norm(&off) / norm(&weighted).max(f64::MIN_POSITIVE),
        rank: values.iter().filter(|&&value| value > part * variance).count(),
        multiplicity: eigen.values.iter().take(r + 3).filter(|&&value| value <= lambda * (1.0 + near)).count(),
        violation,
        pairs: all.pairs.ends.len(),
        confirmed: sure.is_some(),
    })
}

/// A remainder below this fraction of the variance is rounding: eigenvalues of L are known to a millionth.
const LEAST_OPEN: f64 = 1e-10;
/// A direction with more than this fraction of the variance always counts.
const LARGEST_PART: f64 = 0.1;

/// How far below λ, as fractions of it, the signs of the pivots are checked.
pub(crate) const MARGINS: [f64; 7] = [1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3];

/// The largest number slightly below λ that the signs of the pivots confirm; `None` if rounding hides them, or there is
/// no factor.
pub(crate) fn confirmed(
    web: &Web<'_>,
    w: &[f64],
    lambda: f64,
    margins: impl IntoIterator<Item = f64>,
) -> Result<Option<f64>> {
    let mut factor = Factor::default();
    for below in margins {
        let level = lambda * (1.0 - below);
        if lambda > 0.0 && web.is_bottom(w, level, &mut factor)? {
            return Ok(Some(level));
        }
    }
    Ok(None)
}

/// (Σ D W + ε Σ D |W|) / λ, in the units of the pairs.
pub(crate) fn bound_at(web: &Web<'_>, w: &[f64], band: f64, lambda: f64) -> f64 {
    web.sum(|e| web.pairs.squares[e] * (w[e] + band * w[e].abs())) / lambda
}

fn centered(r: usize, y: &[f64], counts: &[f64]) -> Vec<f64> {
    let mut y = y.to_vec();
    super::central_path::center(r, &mut y, counts);
    y
}

/// Yᵀ M Y.
fn moment(r: usize, y: &[f64], counts: &[f64]) -> Mat<f64> {
    Mat::from_fn(r, r, |a, b| y.chunks_exact(r).zip(counts).map(|(row, m)| m * row[a] * row[b]).sum())
}

fn trace_of_product(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    (0..a.nrows()).map(|i| (0..a.ncols()).map(|j| a[(i, j)] * b[(j, i)]).sum::<f64>()).sum()
}
