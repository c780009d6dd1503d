//! Feature columns as the likelihood uses them: centered, and in units of their own size.

use eigenfold_graph::points::Points;
use eigenfold_linalg::dense::col_chunks_mut;
use eigenfold_linalg::parallel;
use faer::Mat;

/// Columns that are written together.
const TOGETHER: usize = 8;

/// Centered columns of points, divided by `size`.
pub(crate) struct Columns {
    /// One row per point.
    pub(crate) values: Mat<f64>,
    /// The unit: where it is the columns' own, Σ values² = (n − 1) p.
    pub(crate) size: f64,
}

impl Columns {
    /// The given columns in their own size.
    pub(crate) fn new(points: &Points, which: &[usize]) -> Columns {
        // Sums of squares of numbers up to 1e150 would overflow without the first division.
        let largest = points.magnitude().max(f64::MIN_POSITIVE);
        let centered = Columns::in_units(points, which, largest);
        let size = largest * (centered.square() / centered.count()).sqrt();
        if size > 0.0 { Columns::in_units(points, which, size) } else { Columns { size: 0.0, ..centered } }
    }

    /// All columns in their own size.
    pub(crate) fn all(points: &Points) -> Columns {
        Columns::new(points, &(0..points.cols()).collect::<Vec<_>>())
    }

    /// The given columns in a given unit.
    pub(crate) fn in_units(points: &Points, which: &[usize], size: f64) -> Columns {
        let mean = points.column_means();
        let mut values = Mat::zeros(points.rows(), which.len());
        // As many columns together as share the cache lines of a row.
        parallel::each_of(col_chunks_mut(values.as_mut(), TOGETHER), |chunk, mut columns| {
            let which = &which[chunk * TOGETHER..chunk * TOGETHER + columns.ncols()];
            for i in 0..points.rows() {
                for (f, &feature) in which.iter().enumerate() {
                    columns[(i, f)] = (points.at(i, feature) - mean[feature]) / size;
                }
            }
        });
        Columns { values, size }
    }

    /// n − 1.
    pub(crate) fn directions(&self) -> f64 {
        self.values.nrows() as f64 - 1.0
    }

    /// p.
    pub(crate) fn features(&self) -> f64 {
        self.values.ncols() as f64
    }

    /// (n − 1) p.
    pub(crate) fn count(&self) -> f64 {
        self.directions() * self.features()
    }

    /// Σ values².
    pub(crate) fn square(&self) -> f64 {
        self.values.col_iter().map(|column| column.iter().map(|v| v * v).sum::<f64>()).sum()
    }

    /// The contribution of 2π and the unit to every log density.
    pub(crate) fn constant(&self) -> f64 {
        -self.count() * (0.5 * std::f64::consts::TAU.ln() + self.size.ln())
    }

    /// The log density under noise alone.
    pub(crate) fn of_noise(&self, noise: f64) -> f64 {
        let noise = noise / self.size / self.size;
        self.constant() - 0.5 * (self.count() * noise.ln() + self.square() / noise)
    }
}
