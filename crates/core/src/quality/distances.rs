//! Quality measures of distances: sums over the other points, row by row.
//!
//! With δ the distances in the data and d those on the map, over all pairs:
//!
//! ```text
//! stress            √(Σ (δ − d)² / Σ δ²)
//! scaled stress     √(min over a of Σ (δ − a d)² / Σ δ²) = √(1 − (Σ δd)² / (Σ δ² Σ d²))
//! correlation       r of δ and d
//! residual variance 1 − r²
//! ```
//!
//! Sums of squares lose the digits of small differences. So the scaled stress is summed from δ − a₀ d, with a₀ near the
//! best a, and the correlation from distances minus numbers near their means.
//!
//! J. B. Kruskal. Multidimensional scaling by optimizing goodness of fit to a nonmetric hypothesis. Psychometrika 29, 1964. J. B.
//! Tenenbaum, V. de Silva, J. C. Langford. A global geometric framework for nonlinear dimensionality reduction. Science 290,
//! 2000, note 42 (the residual variance).

use super::sampling::Sampling;
use super::value::Value;

/// The reference values, so that sums keep their digits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference {
    /// Near the mean of δ and of d.
    pub(super) means: [f64; 2],
    /// a₀.
    pub(super) scale: f64,
}

/// Sums over the others of a row, or over all rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    count: f64,
    /// Σ δ².
    data: f64,
    /// Σ d².
    map: f64,
    /// Σ (δ − d)², both in the same unit.
    apart: f64,
    /// Σ e² and Σ e d of e = δ − a₀ d.
    off: f64,
    along: f64,
    /// Σ x, Σ y, Σ x², Σ y² and Σ xy of the distances minus numbers near their means.
    x: f64,
    y: f64,
    xx: f64,
    yy: f64,
    xy: f64,
}

impl Sums {
    /// Over the distances of all others from row `own`.
    pub(super) fn new(data: &[f64], map: &[f64], own: usize, by: &Reference) -> Sums {
        let mut sums = Sums::default();
        sums.add(&data[..own], &map[..own], by);
        sums.add(&data[own + 1..], &map[own + 1..], by);
        sums
    }

    fn add(&mut self, data: &[f64], map: &[f64], by: &Reference) {
        for (&delta, &d) in data.iter().zip(map) {
            let (x, y) = (delta - by.means[0], d - by.means[1]);
            let (e, apart) = (delta - by.scale * d, delta - d);
            self.data += delta * delta;
            self.map += d * d;
            self.apart += apart * apart;
            self.off += e * e;
            self.along += e * d;
            self.x += x;
            self.y += y;
            self.xx += x * x;
            self.yy += y * y;
            self.xy += x * y;
        }
        self.count += data.len() as f64;
    }

    fn plus(mut self, other: &Sums) -> Sums {
        let pairs = [
            (&mut self.count, other.count),
            (&mut self.data, other.data),
            (&mut self.map, other.map),
            (&mut self.apart, other.apart),
            (&mut self.off, other.off),
            (&mut self.along, other.along),
            (&mut self.x, other.x),
            (&mut self.y, other.y),
            (&mut self.xx, other.xx),
            (&mut self.yy, other.yy),
            (&mut self.xy, other.xy),
        ];
        pairs.into_iter().for_each(|(sum, more)| *sum += more);
        self
    }

    /// Σ (δ − a d)² for a = a₀ + b.
    fn off_by(&self, b: f64) -> f64 {
        (self.off - 2.0 * b * self.along + b * b * self.map).max(0.0)
    }

    /// The covariance of δ and d and their variances.
    fn moments(&self) -> [f64; 3] {
        let (x, y) = (self.x / self.count, self.y / self.count);
        [self.xy / self.count - x * y, self.xx / self.count - x * x, self.yy / self.count - y * y]
    }

    /// r; `None` if the distances in the data are all equal, and zero if those on the map are.
    fn correlation(&self, by: &Reference) -> Option<f64> {
        let [xy, xx, yy] = self.moments();
        let same = |variance: f64, mean: f64| variance <= SAME * mean * mean;
        if same(xx, by.means[0] + self.x / self.count) {
            return None;
        }
        Some(if same(yy, by.means[1] + self.y / self.count) { 0.0 } else { (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0) })
    }
}

/// Distances whose variance is at most this fraction of their squared mean differ only by rounding.
const SAME: f64 = 1e-28;

/// The measures of distances.
pub(super) struct DistanceMeasures {
    pub(super) stress: Option<Value>,
    pub(super) scaled: Option<Value>,
    pub(super) correlation: Option<Value>,
    pub(super) residual: Option<Value>,
}

/// The measures of all sampled rows.
pub(super) fn measures(rows: &[Sums], by: &Reference, sampling: &Sampling) -> DistanceMeasures {
    let total = rows.iter().fold(Sums::default(), |total, row| total.plus(row));
    let share = |of: &dyn Fn(&Sums) -> f64| {
        let root = |square: f64| square.max(0.0).sqrt();
        (total.data > 0.0).then(|| {
            let each = |row: &Sums| if row.data > 0.0 { root(of(row) / row.data) } else { f64::NAN };
            let square = of(&total) / total.data;
            let residuals = rows.iter().map(|row| of(row) - square * row.data);
            let error = sampling.error(residuals).map(|error| error * rows.len() as f64 / total.data);
            Value {
                value: root(square),
                error: error.map(|error| if square > 0.0 { error / (2.0 * root(square)) } else { 0.0 }),
                each: rows.iter().map(each).collect(),
            }
        })
    };
    let best = if total.map > 0.0 { total.along / total.map } else { 0.0 };
    let correlation = total.correlation(by).map(|r| {
        let each = |row: &Sums| row.correlation(by).unwrap_or(f64::NAN);
        Value { value: r, error: sampling.error(influences(rows, &total, r)), each: rows.iter().map(each).collect() }
    });
    let residual = correlation.as_ref().map(|Value { value: r, error, each }| Value {
        value: 1.0 - r * r,
        error: error.map(|error| 2.0 * r.abs() * error),
        each: each.iter().map(|r| 1.0 - r * r).collect(),
    });
    DistanceMeasures {
        stress: share(&|sums| sums.apart),
        scaled: share(&|sums| sums.off_by(best)),
        correlation,
        residual,
    }
}

/// The influence of a row on r, to first order: the mean over the other points of `x y − r (x² + y²) / 2`, for x and y
/// with means zero and variances one.
fn influences(rows: &[Sums], total: &Sums, r: f64) -> impl Iterator<Item = f64> + Clone {
    let (mean_x, mean_y) = (total.x / total.count, total.y / total.count);
    let [_, xx, yy] = total.moments();
    rows.iter().map(move |row| {
        let n = row.count;
        let (x, y) = (row.x / n, row.y / n);
        let across = row.xy / n - mean_x * y - mean_y * x + mean_x * mean_y;
        let square = |sum: f64, own: f64, mean: f64| sum / n - 2.0 * mean * own + mean * mean;
        let part = |square: f64, of: f64| if of > 0.0 { square / of } else { 0.0 };
        let along = part(square(row.xx, x, mean_x), xx) + part(square(row.yy, y, mean_y), yy);
        part(across, (xx * yy).sqrt()) - 0.5 * r * along
    })
}
