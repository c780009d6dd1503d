//! Quality measures of neighborhoods, row by row.
//!
//! With r[j] and s[j] the ranks of the others by their distances from row i in the data and on the map (1 is the nearest), and
//! N(k) and M(k) the k nearest on either side:
//!
//! ```text
//! trustworthiness = 1 − Σ (r[j] − k) / G        over j in M(k) and not in N(k)
//! continuity      = 1 − Σ (s[j] − k) / G        over j in N(k) and not in M(k)
//!   G = k (2n − 3k − 1) / 2  for k ≤ n/2,  (n − k)(n − k − 1) / 2  beyond: the most that the sum can be
//! kept(k) = |N(k) ∩ M(k)| / k = #{j: max(r[j], s[j]) ≤ k} / k
//! R_NX(k) = ((n − 1) kept(k) − k) / (n − 1 − k)         1 is perfect, 0 what chance gives
//! area = Σ R_NX(k) / k  /  Σ 1/k                        over k from 1 to n − 2: the area under the curve over log k
//! ```
//!
//! All of them are means over the rows. The area is a sum over j of a number that depends on max(r[j], s[j]) alone, and
//! is tabulated.
//!
//! J. Venna, S. Kaski. Neighborhood preservation in nonlinear projection methods: an experimental study. ICANN 2001. J. A. Lee,
//! D. H. Peluffo-Ordóñez, M. Verleysen. Multi-scale similarities in stochastic neighbour embedding: reducing dimensionality
//! while preserving both local and global structure. Neurocomputing 169, 2015, section 2.

use super::ranks::Ranks;

/// Points of the curve per factor of ten, beyond the first few.
const PER_DECADE: f64 = 24.0;

/// The quantities that are the same for all rows.
pub(super) struct Neighborhoods {
    k: usize,
    /// G.
    most: f64,
    /// The contribution of each rank to the area; `None` if there are fewer than three points.
    area: Option<Area>,
    /// The k at which the curve is evaluated, ascending.
    pub(super) sizes: Vec<usize>,
    /// For every rank, the first of these sizes that it is within.
    first: Vec<u16>,
}

struct Area {
    by_rank: Vec<f64>,
    chance: f64,
}

/// The measures of one row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Near {
    pub(super) trustworthiness: f64,
    pub(super) continuity: f64,
    pub(super) kept: f64,
    pub(super) area: Option<f64>,
}

impl Neighborhoods {
    /// For n points and k neighbors, 0 < k < n.
    pub(super) fn new(n: usize, k: usize) -> Neighborhoods {
        let (points, near) = (n as f64, k as f64);
        let most = if 2 * k <= n {
            near * (2.0 * points - 3.0 * near - 1.0) / 2.0
        } else {
            (points - near) * (points - near - 1.0) / 2.0
        };
        let sizes = sizes(n);
        let mut first = Vec::with_capacity(n);
        let mut at = 0;
        for rank in 0..n {
            at += usize::from(sizes.get(at).is_some_and(|&size| size < rank));
            first.push(at as u16);
        }
        Neighborhoods { k, most, area: Area::new(n), sizes, first }
    }

    /// The measures of row `own`; adds to `shared[a]` how many others become shared when k grows to `sizes[a]`.
    pub(super) fn of(&self, data: &Ranks, map: &Ranks, own: usize, shared: &mut [u64]) -> Near {
        let k = self.k;
        let beyond = |order: &[u32], of: &[u32]| -> u64 {
            order[..k].iter().map(|&j| u64::from(of[j as usize]).saturating_sub(k as u64)).sum()
        };
        let kept = map.order[..k].iter().filter(|&&j| data.of[j as usize] as usize <= k).count();
        let part = |sum: u64| if self.most > 0.0 { 1.0 - sum as f64 / self.most } else { 1.0 };
        let mut sum = 0.0;
        for (j, (&r, &s)) in data.of.iter().zip(&map.of).enumerate() {
            if j != own {
                let both = r.max(s) as usize;
                // Those that join with the last size are beyond the curve.
                if let Some(count) = shared.get_mut(usize::from(self.first[both])) {
                    *count += 1;
                }
                sum += self.area.as_ref().map_or(0.0, |area| area.by_rank[both]);
            }
        }
        Near {
            trustworthiness: part(beyond(&map.order, &data.of)),
            continuity: part(beyond(&data.order, &map.of)),
            kept: kept as f64 / k as f64,
            area: self.area.as_ref().map(|area| sum - area.chance),
        }
    }

    /// The curve R_NX from the sums over `rows` rows.
    pub(super) fn curve(&self, shared: &[u64], rows: usize) -> Vec<(usize, f64)> {
        let others = (self.first.len() - 1) as f64;
        let mut sum = 0;
        let at = |(&k, &count): (&usize, &u64)| {
            sum += count;
            let kept = sum as f64 / (k as f64 * rows as f64);
            (k, (others * kept - k as f64) / (others - k as f64))
        };
        self.sizes.iter().zip(shared).map(at).collect()
    }
}

impl Area {
    /// `area = Σ_j a(max(r[j], s[j])) − chance` with a(m) = Σ_{k ≥ m} (n − 1) / (k² (n − 1 − k)) / H and H = Σ 1/k.
    fn new(n: usize) -> Option<Area> {
        let (last, others) = (n.checked_sub(2).filter(|&last| last > 0)?, (n - 1) as f64);
        let total: f64 = (1..=last).map(|k| 1.0 / k as f64).sum();
        let mut by_rank = vec![0.0; n];
        for k in (1..=last).rev() {
            let size = k as f64;
            by_rank[k] = by_rank[k + 1] + others / (size * size * (others - size)) / total;
        }
        let chance = (1..=last).map(|k| 1.0 / (others - k as f64)).sum::<f64>() / total;
        Some(Area { by_rank, chance })
    }
}

/// The sizes of neighborhoods at which the curve is evaluated: all of the small ones, then this many per factor of ten.
fn sizes(n: usize) -> Vec<usize> {
    let last = n.saturating_sub(2);
    let mut sizes: Vec<usize> = Vec::new();
    let mut k = 1;
    while k < last {
        sizes.push(k);
        k = (k + 1).max((k as f64 * 10f64.powf(1.0 / PER_DECADE)).round() as usize);
    }
    sizes.extend((last > 0).then_some(last));
    sizes
}
