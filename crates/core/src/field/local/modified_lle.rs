//! Modified locally linear embedding: every point has several weight vectors over its neighbors, and the map preserves
//! all of them.
//!
//! ```text
//! C = U Λ Uᵀ                   the local Gram matrix, λ₁ ≥ ... ≥ λ_k;  w = its regularized weights, as in lle
//! s = the most directions (at most k − d) with Σ_{last s} λ / Σ_{others} λ ≤ η,  η the median of that ratio at s = k − d
//! P = the projector on the last s columns of U,  α = ‖P1‖/√s
//! W = (1 − α) w 1ᵀ + V R        k × s: V spans P, R the reflection that takes Vᵀ1 to α1
//! precision Σᵢ Sᵢ [−1ᵀ; W][−1ᵀ; W]ᵀ Sᵢᵀ
//! ```
//!
//! Each column of W sums to one and reconstructs the point from its neighbors almost as well as w. The form needs
//! neither V nor
//! R: W 1 = (1 − α) s w + P1/α, and W Wᵀ = (1 − α)² s w wᵀ + (1 − α)/α (w (P1)ᵀ + (P1) wᵀ) + P.
//!
//! Z. Zhang, J. Wang. MLLE: modified locally linear embedding using multiple weights. NIPS 19, 2006.

use crate::extend::Rule;
use crate::field::local::lle::REGULARIZATION_HELP;
use crate::field::local::patches::{data, glue};
use crate::field::{Basis, Build, Built, CoordinateScale, Field, Info, InputKind, Site};
use crate::input::Cloud;
use crate::input::regression::REGULARIZATION;
use crate::input::tangent::complement;
use crate::parameter::{Kind, Parameter, Table, field};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use serde::{Deserialize, Serialize};

/// Modified locally linear embedding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModifiedLle {
    /// r: the fraction of the local trace that is added to the diagonal for the weights w.
    pub regularization: f64,
}

impl Default for ModifiedLle {
    fn default() -> ModifiedLle {
        ModifiedLle { regularization: REGULARIZATION }
    }
}

impl Table for ModifiedLle {
    const METHOD: &'static str = "modified-lle";
    const TABLE: &'static [Parameter<ModifiedLle>] =
        &[Parameter::new("regularization", REGULARIZATION_HELP, Kind::number(1e-15, 1e3), field!(regularization))];
}

impl Build for ModifiedLle {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["mlle", "modified-locally-linear-embedding"],
            summary: "LLE with several weight vectors per point",
            title: "Modified LLE",
            good_for: "a smooth manifold on which LLE loses a coordinate",
            caution: "Axes are scaled to unit variance: lengths and the aspect ratio are not those of the data.",
            basis: Basis::Precision,
            paper: "Zhang & Wang 2006",
            accepts: InputKind::MEASURED,
            needs_graph: true,
            uses_metric: true,
        }
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let (graph, d) = (site.graph()?, site.dims);
        let data = data(site, graph, self.info().name, d + 1)?;
        let locals = parallel::collect(graph.len(), |i| {
            Local::new(&data.around(i, graph.neighbors(i)), graph.neighbors(i).len(), self.regularization)
        });
        let eta = median(locals.iter().map(|local| local.ratio(d)).collect());
        let (matrix, order) = glue(site, graph, |i, _, form| locals[i].form(locals[i].kept(d, eta), form))?;
        let field = Field::Precision { matrix, order, normalization: None, scale: CoordinateScale::Unit };
        Ok(Built::new(field, Rule::barycenter(self.regularization)))
    }
}

/// The neighbors of one point relative to it.
struct Local {
    /// The eigenvalues of the Gram matrix that are not zero, largest first, with their eigenvectors.
    pairs: Vec<(f64, Vec<f64>)>,
    /// The regularized weights.
    weights: Vec<f64>,
}

impl Local {
    fn new(cloud: &Cloud, k: usize, regularization: f64) -> Local {
        Local { pairs: cloud.principal(k, k), weights: cloud.regression(k, regularization).weights }
    }

    /// The variance outside the first `kept` directions over that inside; none if there is none at all.
    fn ratio(&self, kept: usize) -> f64 {
        let (inside, outside) = self.pairs.split_at(kept.min(self.pairs.len()));
        let sum = |pairs: &[(f64, Vec<f64>)]| pairs.iter().map(|pair| pair.0).sum::<f64>();
        if inside.is_empty() { 0.0 } else { sum(outside) / sum(inside) }
    }

    /// How many directions are kept out of P: the fewest, but at least d, that leave a ratio of at most η.
    fn kept(&self, dims: usize, eta: f64) -> usize {
        let most = self.weights.len() - 1;
        (dims..most).find(|&kept| self.ratio(kept) <= eta).unwrap_or(most)
    }

    /// [−1ᵀ; W][−1ᵀ; W]ᵀ over the point and its neighbors, with that many directions kept out of P.
    fn form(&self, kept: usize, form: &mut [f64]) {
        let (k, w) = (self.weights.len(), &self.weights);
        let kept = kept.min(self.pairs.len());
        let s = (k - kept) as f64;
        let out: Vec<f64> = self.pairs[..kept].iter().flat_map(|pair| pair.1.iter().copied()).collect();
        let mut projector = vec![0.0; k * k];
        complement(&out, k, &mut projector);
        let image: Vec<f64> = projector.chunks_exact(k).map(|row| row.iter().sum()).collect();
        let alpha = (image.iter().sum::<f64>().max(0.0) / s).sqrt();
        // Where P annihilates constants, P1/α has no direction; its length is at most √s and it is left out.
        let across = |a: usize| if alpha > 1e-12 { image[a] / alpha } else { 0.0 };
        let size = k + 1;
        form[0] = s;
        for a in 0..k {
            let sum = (1.0 - alpha) * s * w[a] + across(a);
            (form[a + 1], form[(a + 1) * size]) = (-sum, -sum);
            for b in 0..k {
                let crossed = (1.0 - alpha) * (w[a] * across(b) + across(a) * w[b]);
                let own = (1.0 - alpha).powi(2) * s * w[a] * w[b];
                form[(a + 1) * size + b + 1] = own + crossed + projector[a * k + b];
            }
        }
    }
}

/// The middle value, or the mean of the two middle ones.
fn median(mut values: Vec<f64>) -> f64 {
    let half = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    let (below, middle, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    if even { 0.5 * (*middle + below.iter().copied().fold(f64::MIN, f64::max)) } else { *middle }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The form against W built as the paper has it: V, the reflection, and the outer product.
    #[test]
    fn the_form_is_that_of_the_papers_weights() {
        let (k, kept) = (6, 2);
        let away: Vec<f64> = (0..k * 3).map(|at| ((at * 7 + at * at) % 13) as f64 / 5.0 - 1.0).collect();
        let mut gram = crate::input::cloud::products(&away, k);
        let (_, vectors) = eigenfold_linalg::dense::small::symmetric_eigen(&mut gram, k);
        let local = Local::new(&Cloud::Rows(away), k, 1e-3);
        let s = k - kept;
        let v = |a: usize, c: usize| vectors[(kept + c) * k + a];
        let sums: Vec<f64> = (0..s).map(|c| (0..k).map(|a| v(a, c)).sum()).collect();
        let alpha = (sums.iter().map(|x| x * x).sum::<f64>() / s as f64).sqrt();
        let mut h: Vec<f64> = sums.iter().map(|x| alpha - x).collect();
        let length = h.iter().map(|x| x * x).sum::<f64>().sqrt();
        h.iter_mut().for_each(|x| *x /= length);
        let weight = |a: usize, c: usize| {
            let along: f64 = (0..s).map(|e| v(a, e) * h[e]).sum();
            (1.0 - alpha) * local.weights[a] + v(a, c) - 2.0 * along * h[c]
        };
        let row = |a: usize, c: usize| if a == 0 { -1.0 } else { weight(a - 1, c) };
        for c in 0..s {
            assert!(((0..k).map(|a| weight(a, c)).sum::<f64>() - 1.0).abs() < 1e-13, "each column sums to one");
        }
        let mut form = vec![0.0; (k + 1) * (k + 1)];
        local.form(kept, &mut form);
        for (at, value) in form.iter().enumerate() {
            let (a, b) = (at / (k + 1), at % (k + 1));
            let expected: f64 = (0..s).map(|c| row(a, c) * row(b, c)).sum();
            assert!((value - expected).abs() < 1e-13, "{a} {b}: {value} {expected}");
        }
    }

    #[test]
    fn medians_of_odd_and_even_counts() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
