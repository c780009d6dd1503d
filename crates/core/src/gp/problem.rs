//! The data and the map as the likelihood uses them: centered, in units in which both have size one.
//!
//! The variance of the data over all varying features and the median distance on the map are the units, so that the
//! same bounds of the parameters fit all data and nothing overflows. The likelihood in the data's own units is smaller
//! by n p log u, with u their standard deviation.

use crate::gp::GpParameters;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};

/// The maximum number of points whose distances give the median; of more points, evenly spaced ones are used.
const MEDIAN_POINTS: usize = 1000;

/// Data and map in their own units.
pub(crate) struct Problem {
    /// Points.
    pub(crate) n: usize,
    /// Features that vary.
    pub(crate) features: usize,
    /// The centered varying features, row after row, of mean square one.
    pub(crate) data: Vec<f64>,
    /// Coordinates of the map.
    pub(crate) dims: usize,
    /// The map, row after row, with median distance one.
    pub(crate) map: Vec<f64>,
    /// Which features vary, and their means.
    pub(crate) varying: Vec<(usize, f64)>,
    /// The data's standard deviation, in its units.
    data_unit: f64,
    /// The median distance on the map, in its units, after scaling.
    map_unit: f64,
}

impl Problem {
    pub(crate) fn new(data: &Points, map: &Points, raw: bool) -> Result<Problem> {
        let n = data.rows();
        if map.rows() != n {
            return Err(Error::mismatch(
                "rows",
                (map.rows(), n),
                format!("the data have {n} rows and the map has {}", map.rows()),
                "give a map with one row for every point, in the same order",
            ));
        }
        if n < 2 {
            return Err(Error::too_small(n, 2, "there is only 1 point", "give at least two"));
        }
        let varying: Vec<usize> =
            (0..data.cols()).filter(|&j| (1..n).any(|i| data.row(i)[j] != data.row(0)[j])).collect();
        if varying.is_empty() {
            return Err(Error::data("no feature of the data varies", "a map has no variance to explain"));
        }
        let (data, means, data_unit) = unit_data(data, &varying);
        let (map_values, map_unit) = unit_map(map, raw);
        let varying: Vec<(usize, f64)> = varying.into_iter().zip(means).collect();
        let (features, dims) = (varying.len(), map.cols());
        Ok(Problem { n, features, data, dims, map: map_values, varying, data_unit, map_unit })
    }

    /// At most `most` of the points, evenly spaced in their order, in the same units; their features centered again.
    pub(crate) fn subset(&self, most: usize) -> Problem {
        let rows = spaced(self.n, most.min(self.n));
        let pick = |values: &[f64], width: usize| -> Vec<f64> {
            rows.iter().flat_map(|&i| values[i * width..(i + 1) * width].iter().copied()).collect()
        };
        let mut data = pick(&self.data, self.features);
        center(&mut data, self.features);
        let map = pick(&self.map, self.dims);
        Problem { n: rows.len(), data, map, varying: self.varying.clone(), ..*self }
    }

    /// The root of the sum of squares of every coordinate of the map.
    pub(crate) fn spreads(&self) -> Vec<f64> {
        let square = |q: usize| self.map.iter().skip(q).step_by(self.dims).map(|y| y * y).sum::<f64>();
        (0..self.dims).map(|q| square(q).sqrt()).collect()
    }

    /// The varying features of another row, in the units of the problem.
    pub(crate) fn row(&self, row: &[f64]) -> Vec<f64> {
        self.varying.iter().map(|&(j, mean)| (row[j] - mean) / self.data_unit).collect()
    }

    /// n p.
    pub(crate) fn cells(&self) -> f64 {
        (self.n * self.features) as f64
    }

    /// A unit of the problem's data in the data's own units.
    pub(crate) fn unit(&self) -> f64 {
        self.data_unit
    }

    /// The row of the data of point `i`.
    pub(crate) fn data_row(&self, i: usize) -> &[f64] {
        &self.data[i * self.features..(i + 1) * self.features]
    }

    /// The map coordinates of point `i`.
    pub(crate) fn place(&self, i: usize) -> &[f64] {
        &self.map[i * self.dims..(i + 1) * self.dims]
    }

    /// Squared distance on the map.
    pub(crate) fn squared_distance(&self, i: usize, j: usize) -> f64 {
        self.place(i).iter().zip(self.place(j)).map(|(a, b)| (a - b) * (a - b)).sum()
    }

    /// The log likelihood in the data's own units.
    pub(crate) fn log_likelihood(&self, negative: f64) -> f64 {
        -negative - self.cells() * self.data_unit.ln()
    }

    /// Parameters in the units of the data and the map.
    pub(crate) fn in_units(&self, parameters: &GpParameters) -> GpParameters {
        let square = self.data_unit * self.data_unit;
        GpParameters {
            variance: parameters.variance * square,
            length: parameters.length * self.map_unit,
            bias: parameters.bias * square,
            noise: parameters.noise * square,
        }
    }

    /// Parameters in the units of the problem.
    pub(crate) fn to_own_units(&self, parameters: &GpParameters) -> GpParameters {
        let square = self.data_unit * self.data_unit;
        GpParameters {
            variance: parameters.variance / square,
            length: parameters.length / self.map_unit,
            bias: parameters.bias / square,
            noise: parameters.noise / square,
        }
    }
}

/// m of n rows, evenly spaced, the first and the last among them.
pub(crate) fn spaced(n: usize, m: usize) -> Vec<usize> {
    if m < 2 { vec![0; m] } else { (0..m).map(|i| (2 * i * (n - 1) + m - 1) / (2 * (m - 1))).collect() }
}

/// The varying features, centered and of mean square one, their means and their unit.
fn unit_data(points: &Points, varying: &[usize]) -> (Vec<f64>, Vec<f64>, f64) {
    let pick = |i: usize| varying.iter().map(move |&j| points.row(i)[j]);
    let mut values: Vec<f64> = (0..points.rows()).flat_map(pick).collect();
    let means = center(&mut values, varying.len());
    let largest = divide_by_largest(&mut values);
    let spread = (values.iter().map(|x| x * x).sum::<f64>() / values.len() as f64).sqrt();
    values.iter_mut().for_each(|x| *x /= spread);
    (values, means, largest * spread)
}

/// The map, centered, with unit variance (n − 1) in every column unless raw, and median distance one; and the unit. A
/// column without variance stays zero.
fn unit_map(map: &Points, raw: bool) -> (Vec<f64>, f64) {
    let (n, dims) = (map.rows(), map.cols());
    let mut values = map.values().to_vec();
    let sizes: Vec<f64> = (0..dims).map(|j| (0..n).map(|i| map.row(i)[j].abs()).fold(0.0, f64::max)).collect();
    center(&mut values, dims);
    for j in 0..dims {
        let column = || (0..n).map(|i| i * dims + j);
        let largest = column().map(|at| values[at].abs()).fold(0.0, f64::max);
        // The remainder of a constant after centering is rounding.
        if largest <= 1e-14 * sizes[j] {
            column().for_each(|at| values[at] = 0.0);
        } else if !raw {
            column().for_each(|at| values[at] /= largest);
            let variance = column().map(|at| values[at] * values[at]).sum::<f64>() / (n as f64 - 1.0);
            column().for_each(|at| values[at] /= variance.sqrt());
        }
    }
    let largest = divide_by_largest(&mut values);
    let median = median_distance(&values, n, dims);
    values.iter_mut().for_each(|y| *y /= median);
    (values, largest * median)
}

/// Subtracts the mean of each column, and returns the means.
fn center(values: &mut [f64], cols: usize) -> Vec<f64> {
    let rows = values.len() / cols;
    let mut means = vec![0.0; cols];
    values.chunks_exact(cols).for_each(|row| means.iter_mut().zip(row).for_each(|(mean, x)| *mean += x / rows as f64));
    values.chunks_exact_mut(cols).for_each(|row| row.iter_mut().zip(&means).for_each(|(x, mean)| *x -= mean));
    means
}

/// Divides by the largest magnitude and returns it; 1 if all are zero.
fn divide_by_largest(values: &mut [f64]) -> f64 {
    let largest = values.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
    let unit = if largest > 0.0 { largest } else { 1.0 };
    values.iter_mut().for_each(|x| *x /= unit);
    unit
}

/// The median of the distances between different positions; 1 if there is only one position.
fn median_distance(map: &[f64], n: usize, dims: usize) -> f64 {
    let rows = spaced(n, n.min(MEDIAN_POINTS));
    let place = |i: usize| &map[i * dims..(i + 1) * dims];
    let mut distances = Vec::with_capacity(rows.len() * (rows.len() - 1) / 2);
    for (a, &i) in rows.iter().enumerate() {
        for &j in &rows[..a] {
            let squared: f64 = place(i).iter().zip(place(j)).map(|(a, b)| (a - b) * (a - b)).sum();
            if squared > 0.0 {
                distances.push(squared.sqrt());
            }
        }
    }
    if distances.is_empty() {
        return 1.0;
    }
    let middle = distances.len() / 2;
    *distances.select_nth_unstable_by(middle, f64::total_cmp).1
}
