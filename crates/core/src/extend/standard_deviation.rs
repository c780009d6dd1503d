//! The standard deviation of the coordinates of new points.
//!
//! A training row that is left out and embedded by the others misses its own coordinates by some distance. That
//! distance grows with the standard deviation u of a Gaussian field over the data given the neighbors (`taper.rs`),
//! which is known for new rows too:
//!
//! ```text
//! SD of coordinate q at x = a[q] u(x)      a[q] the least with |y[i,q] − ŷ[i,q]| ≤ a[q] u(x[i]) for 68 % of the rows i
//! ```
//!
//! The map is fixed here: a map that is fitted with the new rows differs from it, for most methods by more than that
//! (docs/internals/calibration.md has the measurements).

use super::rule::{PreparedRule, ready};
use super::{DESCENTS, Known, Rule, SAMPLED};
use eigenfold_graph::Index;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;

/// The share of left-out rows within their standard deviations.
const SHARE: f64 = 0.68;
/// A difference below this fraction of the map's extent is rounding: the rule does not depend on the other rows.
const ROUNDING: f64 = 1e-9;
/// The number of rows that are left out if each requires an optimization.
const FEW: usize = DESCENTS / 3;

/// The standard deviations of a rule, prepared for any number of new rows.
pub(super) struct Deviations<'a> {
    index: Index<'a>,
    /// a of every coordinate.
    slopes: Vec<f64>,
}

impl PreparedRule<'_> {
    /// The standard deviation of every coordinate of new rows at their positions; `None` for rules that do not depend
    /// on the neighbors. A process has its own density (`process.rs`).
    pub(crate) fn deviations(&self, new: &Points, placed: &Points) -> Result<Option<Points>> {
        let (rule, known) = (self.rule, &self.known);
        if let Some(own) = rule.inner().own_deviations(known, new, placed)? {
            return Ok(Some(own));
        }
        let learned = ready(&self.deviations, || rule.learn_deviations(known))?;
        let Some(Deviations { index, slopes }) = learned else { return Ok(None) };
        let dims = slopes.len();
        let near = known.nearest(Some(index), new, None)?;
        let deviation = |at: usize| slopes[at % dims] * near.deviation(at / dims, known.k);
        Ok(Some(Points::computed(new.rows(), dims, (0..new.rows() * dims).map(deviation).collect())?))
    }
}

impl Rule {
    /// Leaves training rows out, to learn how the deviations of coordinates follow from those of the field.
    fn learn_deviations<'a>(&self, known: &Known<'a>) -> Result<Option<Deviations<'a>>> {
        let Some((points, metric)) = known.points.filter(|_| self.traits().uses_others && known.map.rows() > 2) else {
            return Ok(None);
        };
        let (n, dims) = (points.rows(), known.map.cols());
        let index = Index::new(points, metric)?;
        let most = n.min(if self.traits().optimizes { FEW } else { SAMPLED });
        let sampled: Vec<usize> = (0..most).map(|i| i * n / most).collect();
        let own: Vec<u32> = sampled.iter().map(|&i| i as u32).collect();
        let others = Known { k: known.k.min(n - 1), ..*known };
        let near = others.nearest(Some(&index), &points.select(&sampled), Some(&own))?;
        let placed = self.place_without(known, &sampled)?;
        let extent = known.map.values().iter().fold(0.0, |most: f64, y| most.max(y.abs()));
        let stays = |at: usize| {
            let own = known.map.row(sampled[at]).iter().zip(placed.row(at));
            own.map(|(y, there)| (y - there).abs()).all(|off| off <= ROUNDING * extent)
        };
        if (0..most).all(stays) {
            return Ok(None);
        }
        let slope = |q: usize| {
            let off = |at: usize| (placed.row(at)[q] - known.map.row(sampled[at])[q]).abs();
            let one = |at: usize| Some((off(at), near.deviation(at, others.k))).filter(|(_, u)| *u > 0.0);
            let mut slopes: Vec<f64> = (0..most).filter_map(one).map(|(off, u)| off / u).collect();
            slopes.sort_unstable_by(f64::total_cmp);
            let at = (SHARE * (slopes.len() + 1) as f64).ceil() as usize;
            slopes.get(at.clamp(1, slopes.len().max(1)) - 1).copied().unwrap_or(0.0)
        };
        let slopes = parallel::collect(dims, slope);
        Ok(Some(Deviations { index, slopes }))
    }
}
