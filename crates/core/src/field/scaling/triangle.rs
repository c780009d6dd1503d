//! The squared distances between all pairs, one triangle of them, and their product with a block of vectors.
//!
//! S is symmetric with a zero diagonal and is stored once: panels of [`LANES`] columns hold the rows from their own
//! diagonal on, with zeros above it, and each entry serves both halves of the product:
//!
//! ```text
//! y[i] += s[i, j] x[j],   y[j] += s[i, j] x[i]    j < i
//! ```
//!
//! That halves memory and traffic. Sums are in double precision, split into a fixed number of groups of panels and
//! added in a fixed order, so that the result does not depend on the number of threads.

use eigenfold_graph::paths::in_blocks;
use eigenfold_graph::paths::sweep::{LANES, Real};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::Observer;

/// The number of partial sums of a product, whatever the number of threads.
const GROUPS: usize = 16;

/// All panels one after the other: each filled, passed through `map`, and cleared above its diagonal.
pub(crate) fn fill<R: Real>(
    n: usize,
    observer: &dyn Observer,
    fill_panel: impl Fn(usize, &mut [R]) + Sync,
    map: impl Fn(R) -> R + Sync,
) -> Result<Vec<R>> {
    let mut panels = vec![R::ZERO; (0..n).step_by(LANES).map(|first| (n - first) * LANES).sum()];
    in_blocks(panels_mut(&mut panels, n), observer, |(first, panel)| {
        fill_panel(first, panel);
        panel.iter_mut().for_each(|entry| *entry = map(*entry));
        for (i, row) in panel.chunks_exact_mut(LANES).enumerate().take(LANES) {
            row[i..].fill(R::ZERO);
        }
    })?;
    Ok(panels)
}

/// The first column of each panel and its entries.
fn panels_mut<R>(mut rest: &mut [R], n: usize) -> Vec<(usize, &mut [R])> {
    let mut panels = Vec::with_capacity(n.div_ceil(LANES));
    for first in (0..n).step_by(LANES) {
        let (panel, after) = rest.split_at_mut((n - first) * LANES);
        panels.push((first, panel));
        rest = after;
    }
    panels
}

/// S x in the panels' order, x row-major with C columns. Group g sums the panels g, g + GROUPS, ...; the groups are
/// added in order.
pub(crate) fn grouped_product<R: Real, const C: usize>(panels: &[R], x: &[[f64; C]]) -> Vec<[f64; C]> {
    let n = x.len();
    let mut starts = vec![0usize];
    for first in (0..n).step_by(LANES) {
        starts.push(starts[starts.len() - 1] + (n - first) * LANES);
    }
    let partial: Vec<Vec<[f64; C]>> = parallel::collect(GROUPS.min(starts.len() - 1), |group| {
        let mut y = vec![[0.0; C]; n];
        for index in (group..starts.len() - 1).step_by(GROUPS) {
            let (panel, first) = (&panels[starts[index]..starts[index + 1]], index * LANES);
            pulp::Arch::new().dispatch(PanelProduct { panel, x: &x[first..], y: &mut y[first..] });
        }
        y
    });
    let mut sums = vec![[0.0; C]; n];
    for y in &partial {
        for (sum, y) in sums.iter_mut().zip(y) {
            (0..C).for_each(|c| sum[c] += y[c]);
        }
    }
    sums
}

/// `y[i] += s x[j]` and `y[j] += s x[i]` over the entries of one panel; x and y begin with the panel's first point.
struct PanelProduct<'a, R, const C: usize> {
    panel: &'a [R],
    x: &'a [[f64; C]],
    y: &'a mut [[f64; C]],
}

impl<R: Real, const C: usize> pulp::WithSimd for PanelProduct<'_, R, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let PanelProduct { panel, x, y } = self;
        let lanes = LANES.min(x.len());
        // The panel's own part of x and y, padded to whole lanes.
        let (mut x_here, mut y_here) = ([[0.0; C]; LANES], [[0.0; C]; LANES]);
        x_here[..lanes].copy_from_slice(&x[..lanes]);
        let (pairs, last) = panel.as_chunks::<{ 2 * LANES }>();
        let ((x_pairs, x_last), (y_pairs, y_last)) = (x.as_chunks::<2>(), y.as_chunks_mut::<2>());
        for ((entries, x), y) in pairs.iter().zip(x_pairs).zip(y_pairs) {
            rows_product(entries, &x_here, &mut y_here, x, y);
        }
        for ((entries, x), y) in last.chunks_exact(LANES).zip(x_last).zip(y_last) {
            rows_product(entries, &x_here, &mut y_here, &[*x], std::array::from_mut(y));
        }
        for (y, sum) in y.iter_mut().zip(y_here) {
            (0..C).for_each(|c| y[c] += sum[c]);
        }
    }
}

/// A few rows of a panel: `y_rows += entries x_here` and `y_here += entries' x_rows`.
#[inline(always)]
fn rows_product<R: Real, const ROWS: usize, const C: usize>(
    entries: &[R],
    x_here: &[[f64; C]; LANES],
    y_here: &mut [[f64; C]; LANES],
    x_rows: &[[f64; C]; ROWS],
    y_rows: &mut [[f64; C]; ROWS],
) {
    let mut wide = [[0.0; LANES]; ROWS];
    for (wide, entries) in wide.iter_mut().zip(entries.chunks_exact(LANES)) {
        (0..LANES).for_each(|lane| wide[lane] = entries[lane].widen());
    }
    let mut sums = *y_rows;
    for lane in 0..LANES {
        let mut down = y_here[lane];
        for row in 0..ROWS {
            for c in 0..C {
                sums[row][c] += wide[row][lane] * x_here[lane][c];
                down[c] += wide[row][lane] * x_rows[row][c];
            }
        }
        y_here[lane] = down;
    }
    *y_rows = sums;
}
