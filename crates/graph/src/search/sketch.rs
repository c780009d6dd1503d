//! The points in an order in which neighbors are mostly close to each other, and a sketch of them.
//!
//! With V of m orthonormal columns, p = Vᵀx and ρ = ‖x − Vp‖, the distance of two points is about
//!
//! ```text
//! ‖x[i] − x[j]‖² ≈ ‖p[i] − p[j]‖² + ρ[i]² + ρ[j]² − 2 c ρ[i] ρ[j],
//! ```
//!
//! where c is the cosine that what V leaves out of two neighbors usually has. It is exact on average, where a
//! [PCA bound](super::pca_bound) has c = 1 and is a bound: fewer pairs to look at again, and nothing certain. The true
//! neighbors of some points give c. Points of few features are their own sketch.

use crate::metric::Metric;
use crate::points::Points;
use crate::search::brute::Rounding;
use crate::search::cells;
use crate::search::features::{Features, Values};
use crate::search::groups::GROUP;
use crate::search::pca_bound::{in_order, leading};
use crate::search::rank_block::{BLOCK, sum};
use crate::search::spread::spread;
use crate::search::truth::Truth;
use eigenfold_linalg::parallel;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// Fewer features than this are not worth a sketch.
const DIMS_FROM: usize = 96;

/// Directions of a sketch; with the remainder, a multiple of what a processor multiplies at once.
const WIDTH: usize = 63;

/// Points whose principal directions are taken.
const SAMPLE: usize = 512;

/// All points, and a sketch of each.
#[derive(Debug)]
pub(crate) struct Sketch {
    /// The points in an order in which neighbors are mostly close to each other; all rows below are in this order.
    pub(crate) order: Vec<u32>,
    /// All features.
    full: Features,
    dims: usize,
    /// p and √c ρ; nothing if the points are their own sketch.
    narrow: Option<Vec<f32>>,
    width: usize,
    /// ‖x‖², or 0 for Manhattan: what turns a product into a rank when added for both its points.
    pub(crate) sizes: Vec<f32>,
    metric: Metric,
}

impl Sketch {
    /// The sketch of all points; the truth gives c.
    pub(crate) fn new(points: &Points, rounding: &Rounding, truth: &Truth) -> Sketch {
        let (n, dims, metric) = (points.rows(), rounding.dims, rounding.metric);
        let directions = match dims >= DIMS_FROM && metric != Metric::Manhattan {
            true => principal(points, rounding),
            false => Mat::zeros(dims, 0),
        };
        if directions.ncols() == 0 {
            let everyone: Vec<u32> = (0..n as u32).collect();
            let (values, sizes) = rounding.rows(points, &everyone);
            let order = cells::order(&values, dims, metric, GROUP);
            let full = Features::plain(in_order(&values, dims, &order));
            let sizes = order.iter().map(|&i| sizes[i as usize]).collect();
            return Sketch { order, full, dims, narrow: None, width: dims, sizes, metric };
        }
        let width = directions.ncols() + 1;
        let mut narrow = project(points, rounding, &directions);
        let cosine = cosine(points, rounding, &narrow, width, truth);
        narrow.chunks_exact_mut(width).for_each(|row| row[width - 1] *= cosine.sqrt());
        let order = cells::order(&narrow, width, metric, GROUP);
        let narrow = in_order(&narrow, width, &order);
        let (full, sizes) = Features::new(points, rounding, truth, &order);
        Sketch { order, full, dims, narrow: Some(narrow), width, sizes, metric }
    }

    /// The sketch of all points, row after row, and how many numbers a row has.
    pub(crate) fn rows(&self) -> (&[f32], usize) {
        match (&self.narrow, &self.full.values) {
            (None, Values::Single(full)) => (full, self.width),
            (narrow, _) => (narrow.as_deref().unwrap_or_default(), self.width),
        }
    }

    /// The bytes of the sketch of `n` points of `dims` features; of many features, if a byte of each is enough.
    pub(crate) fn bytes(n: usize, dims: usize) -> u64 {
        let single = size_of::<f32>();
        let of_point = if dims < DIMS_FROM { 2 * single * dims } else { single * (WIDTH + 1) + dims };
        (n * of_point) as u64
    }

    /// How many features a point has.
    pub(crate) fn dims(&self) -> usize {
        self.dims
    }

    /// The metric.
    pub(crate) fn metric(&self) -> Metric {
        self.metric
    }

    /// Whether the sketch has less than the points.
    pub(crate) fn is_narrow(&self) -> bool {
        self.narrow.is_some()
    }

    /// Puts the rank by all features, a squared distance or the Manhattan distance, beside every index; many that have a larger
    /// one than `most` are left out.
    #[inline(always)]
    pub(crate) fn measure(&self, own: usize, candidates: &mut Vec<(f32, u32)>, most: f32) {
        self.full.measure((self.metric, self.dims), own, candidates, most);
    }
}

/// The principal directions of some points from all over the data.
fn principal(points: &Points, rounding: &Rounding) -> Mat<f64> {
    let (n, count) = (points.rows(), SAMPLE.min(points.rows()));
    let ids: Vec<u32> = spread(count, n, 0).collect();
    let values = rounding.rows(points, &ids).0;
    let found = leading(Mat::from_fn(count, rounding.dims, |i, c| f64::from(values[i * rounding.dims + c])).as_ref());
    let width = found.ncols().min(WIDTH);
    found.get(.., ..width).to_owned()
}

/// p and ρ of every point, in the order of the points.
fn project(points: &Points, rounding: &Rounding, directions: &Mat<f64>) -> Vec<f32> {
    let (dims, width) = (rounding.dims, directions.ncols());
    let directions = Mat::from_fn(dims, width, |c, q| directions[(c, q)] as f32);
    let mut out = vec![0.0f32; points.rows() * (width + 1)];
    parallel::chunks_mut(&mut out, BLOCK * (width + 1), |block, out| {
        let count = out.len() / (width + 1);
        let ids: Vec<u32> = (0..count).map(|at| (block * BLOCK + at) as u32).collect();
        let (values, sizes) = rounding.rows_here(points, &ids);
        let mut p = vec![0.0f32; count * width];
        matmul(
            MatMut::from_row_major_slice_mut(&mut p, count, width),
            Accum::Replace,
            MatRef::from_row_major_slice(&values, count, dims),
            directions.as_ref(),
            1.0f32,
            Par::Seq,
        );
        for ((out, p), size) in out.chunks_exact_mut(width + 1).zip(p.chunks_exact(width)).zip(sizes) {
            out[..width].copy_from_slice(p);
            out[width] = (size - p.iter().map(|x| x * x).sum::<f32>()).max(0.0).sqrt();
        }
    });
    out
}

/// c by least squares over the true neighbors of some points: the product of what is left out of two of them is
/// c ρ[i] ρ[j] on average.
fn cosine(points: &Points, rounding: &Rounding, narrow: &[f32], width: usize, truth: &Truth) -> f32 {
    let row = |i: u32| &narrow[i as usize * width..][..width];
    let (mut both, mut square) = (0.0f64, 0.0f64);
    for (&i, near) in truth.rows.iter().zip(&truth.neighbors) {
        let ids: Vec<u32> = std::iter::once(i).chain(near.iter().map(|&(_, j)| j)).collect();
        let (values, _) = rounding.rows_here(points, &ids);
        let (own, others) = values.split_at(rounding.dims);
        for (&(_, j), other) in near.iter().zip(others.chunks_exact(rounding.dims)) {
            let (p, q) = (row(i), row(j));
            let difference = |x: f32, y: f32| (x - y) * (x - y);
            let seen = sum(&p[..width - 1], &q[..width - 1], difference);
            let (a, b) = (p[width - 1], q[width - 1]);
            let all = sum(own, other, difference);
            let (rests, product) = (f64::from(a * b), 0.5 * f64::from(a * a + b * b - (all - seen)));
            (both, square) = (both + product * rests, square + rests * rests);
        }
    }
    if square > 0.0 { (both / square).clamp(0.0, 1.0) as f32 } else { 0.0 }
}
