//! Quality measures of labels, row by row. Rows without a label are left out, also as neighbors.
//!
//! ```text
//! hit          the share of the k nearest on the map with the label of the row
//! accuracy     1 if that label is the commonest among them (of equally common ones the first counts), else 0
//! silhouette   (b − a) / max(a, b), a the mean distance to the others of the label, b that to those of the next label;
//!              0 for a row whose label no other has
//! ```
//!
//! F. V. Paulovich, L. G. Nonato, R. Minghim, H. Levkowitz. Least square projection. IEEE Transactions on Visualization and
//! Computer Graphics 14, 2008 (the neighborhood hit). P. J. Rousseeuw. Silhouettes: a graphical aid to the interpretation and
//! validation of cluster analysis. Journal of Computational and Applied Mathematics 20, 1987.

use super::ranks::Ranks;

/// No class.
const NONE: u32 = u32::MAX;

/// The classes of all points, counted from zero without gaps.
pub(super) struct Classes {
    of: Vec<u32>,
    sizes: Vec<usize>,
    k: usize,
    /// Points with a label.
    pub(super) labeled: usize,
}

/// The measures of one row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Alike {
    pub(super) hit: f64,
    pub(super) right: f64,
    /// `None` if the silhouette is undefined: one label for all points, or one for each.
    pub(super) silhouette: Option<f64>,
}

impl Classes {
    /// `None` if fewer than two points have a label.
    pub(super) fn new(labels: &[Option<u32>], k: usize) -> Option<Classes> {
        let mut names: Vec<u32> = labels.iter().flatten().copied().collect();
        let labeled = names.len();
        names.sort_unstable();
        names.dedup();
        let place = |name: u32| names.partition_point(|&other| other < name) as u32;
        let of: Vec<u32> = labels.iter().map(|label| label.map_or(NONE, place)).collect();
        let mut sizes = vec![0; names.len()];
        of.iter().filter(|&&class| class != NONE).for_each(|&class| sizes[class as usize] += 1);
        (labeled > 1).then_some(Classes { of, sizes, k: k.min(labeled - 1), labeled })
    }

    /// The measures of row `own`; `None` if it has no label.
    pub(super) fn of(&self, map: &Ranks, distances: &[f64], own: usize) -> Option<Alike> {
        let class = Some(self.of[own]).filter(|&class| class != NONE)?;
        let near = map.order.iter().map(|&j| self.of[j as usize]).filter(|&class| class != NONE);
        let mut counts = vec![0usize; self.sizes.len()];
        near.take(self.k).for_each(|class| counts[class as usize] += 1);
        let most = counts.iter().copied().max().unwrap_or(0);
        let commonest = counts.iter().position(|&count| count == most);
        Some(Alike {
            hit: counts[class as usize] as f64 / self.k as f64,
            right: f64::from(u8::from(commonest == Some(class as usize))),
            silhouette: self.silhouette(class as usize, distances, own),
        })
    }

    fn silhouette(&self, class: usize, distances: &[f64], own: usize) -> Option<f64> {
        let classes = self.sizes.len();
        if classes < 2 || classes == self.labeled {
            return None;
        }
        if self.sizes[class] == 1 {
            return Some(0.0);
        }
        let mut sums = vec![0.0; classes];
        for (j, (&class, d)) in self.of.iter().zip(distances).enumerate() {
            if class != NONE && j != own {
                sums[class as usize] += d;
            }
        }
        let within = sums[class] / (self.sizes[class] - 1) as f64;
        let others = (0..classes).filter(|&other| other != class);
        let next = others.map(|other| sums[other] / self.sizes[other] as f64).fold(f64::INFINITY, f64::min);
        let larger = within.max(next);
        Some(if larger > 0.0 { (next - within) / larger } else { 0.0 })
    }
}
