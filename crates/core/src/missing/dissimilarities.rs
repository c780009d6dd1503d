//! Tables of distances or similarities with missing cells, imputed by a fit to the known ones.
//!
//! Under probabilistic principal coordinates ([`Ppco`](crate::Ppco)) a squared dissimilarity is a squared distance on
//! the map plus the noise of both points. The coordinates and the noise that fit the known ones best,
//!
//! ```text
//! least over Y and λ ≥ 0:   Σ (δ²[i,j] − ‖y[i] − y[j]‖² − 2 λ)²   over the known pairs,
//! ```
//!
//! give the missing ones: δ²[i,j] = ‖y[i] − y[j]‖² + 2 λ. The number of columns of Y is chosen by held-out pairs. The
//! optimization starts from classical scaling, with shortest paths along known pairs in place of missing ones.
//!
//! This is not the EM of the model with missing dissimilarities integrated out. That likelihood has no maximum: as soon
//! as some table of rank q agrees with the known cells it grows without bound, and its expectations are those of a
//! Wishart matrix with unknown degrees of freedom (`docs/methods/ppco.md`).
//!
//! Z. Zhang, M. I. Jordan. Latent variable models for dimensionality reduction. AISTATS 2009, section 3 (the model).

use crate::field::scaling::centered::Centered;
use eigenfold_graph::components::Sets;
use eigenfold_graph::distances::{Completion, Distances};
use eigenfold_graph::points::Points;
use eigenfold_graph::{Graph, Paths};
use eigenfold_linalg::eigen::top::operator_top;
use eigenfold_linalg::error::{Error, Result, sizes_text};
use eigenfold_linalg::memory;
use eigenfold_linalg::optimize::{Bounds, Descent, Ended, Objective, Stop};
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::{Observer, Stage};
use eigenfold_linalg::sort;

/// Candidate numbers of columns, and the inverse of the fraction of known pairs that is held out.
const COLUMNS: [usize; 6] = [1, 2, 3, 5, 8, 13]; // As in `Squares::value`.
const HELD_OUT: usize = 10;
/// The minimum number of held-out pairs for a choice.
const FEW: usize = 5;
/// The relative improvement that a larger number of columns must bring.
const BETTER: f64 = 0.01;
/// An error below this counts as zero: further columns would only make the optimization slower.
const SURE: f64 = 1e-4;
/// The maximum number of evaluations of an optimization for the choice, and of the last one.
const TRIAL: usize = 120;
const EVALUATIONS: usize = 1000;
/// The optimization stops when this many evaluations reduce the value by less than this fraction: the remainder is then
/// negligible compared to the error of the model.
const GAIN: f64 = 0.01;
const WHILE: usize = 50;
/// A mean squared residual below this fraction of the squares is rounding.
const EXACT: f64 = 1e-18;

/// The distances of a square table in which some cells are missing ([`Points::with_missing`]). A cell whose mirror
/// image is known is not missing, and neither is the diagonal.
///
/// ```
/// use eigenfold::{Points, Silent, missing::complete_distances};
///
/// // Nine points on a line; the distance from the first to the last is missing.
/// let cell = |i: usize, j: usize| if i.abs_diff(j) == 8 { f64::NAN } else { i.abs_diff(j) as f64 };
/// let table = Points::with_missing(9, 9, (0..81).map(|at| cell(at / 9, at % 9)).collect())?;
/// let distances = complete_distances(&table, &Silent)?;
/// assert!((distances.between(0, 8) - 8.0).abs() < 1e-6);
/// # Ok::<(), eigenfold::Error>(())
/// ```
///
/// # Errors
///
/// As [`Distances::new`], and if the known cells do not determine the position of a point.
pub fn complete_distances(table: &Points, observer: &dyn Observer) -> Result<Distances> {
    let n = table.rows();
    if table.missing().is_empty() || table.cols() != n {
        return Distances::new(table.clone());
    }
    let (filled, missing) = mirrored(table, |_, _| 0.0)?;
    completed(Distances::new(filled)?, &missing, observer)
}

/// The same for a table of similarities: a missing similarity is a missing distance.
///
/// # Errors
///
/// As [`Distances::from_similarities`], if the similarity of a point to itself is missing, and if the known cells do
/// not determine the position of a point.
pub fn complete_similarities(table: &Points, observer: &dyn Observer) -> Result<Distances> {
    let n = table.rows();
    if table.missing().is_empty() || table.cols() != n {
        return Distances::from_similarities(table);
    }
    if let Some(i) = (0..n).find(|&i| table.missing_of(i).any(|j| j == i)) {
        let fact = format!("the similarity of point {} to itself is missing", i + 1);
        return Err(Error::data(fact, "give the diagonal, or leave the row and the column out").at_row(i).at_column(i));
    }
    let own = |i: usize| table.row(i)[i];
    let (filled, missing) = mirrored(table, |i, j| 0.5 * own(i) + 0.5 * own(j))?;
    completed(Distances::from_similarities(&filled)?, &missing, observer)
}

/// The table with mirror images and `stand_in` in missing cells, and which cells hold `stand_in`.
fn mirrored(table: &Points, stand_in: impl Fn(usize, usize) -> f64) -> Result<(Points, Vec<usize>)> {
    let n = table.rows();
    let is_missing = |at: usize| table.missing().binary_search(&at).is_ok();
    let (mut values, mut missing) = (table.values().to_vec(), Vec::new());
    for &at in table.missing() {
        let (i, j) = (at / n, at % n);
        values[at] = match (i == j, is_missing(j * n + i)) {
            (true, _) => 0.0,
            (false, false) => values[j * n + i],
            (false, true) => {
                missing.push(at);
                stand_in(i, j)
            }
        };
    }
    Ok((Points::new(n, n, values)?, missing))
}

/// Distances with the missing ones imputed.
fn completed(distances: Distances, missing: &[usize], observer: &dyn Observer) -> Result<Distances> {
    if missing.is_empty() {
        return Ok(distances);
    }
    let n = distances.len();
    let (needed, limit) = (48 * (n as u64) * (n as u64), memory::available());
    if needed > limit {
        let (what, way_out) = ("the fit of the missing cells".into(), "leave rows and columns out".into());
        return Err(Error::Memory { what, needed, limit, way_out });
    }
    let known = KnownSquares::of(&distances, missing)?;
    let (columns, error) = known.columns(observer)?;
    let fitted = known.fit(columns, EVALUATIONS, observer)?;
    let guess = |at: usize| known.unit * fitted.square(at / n, at % n).max(0.0).sqrt();
    let completion = Completion {
        columns,
        noise: known.unit * fitted.noise * known.unit,
        error,
        loose: known.counts().filter(|&count| count <= columns).count(),
        converged: fitted.converged,
    };
    distances.completed(missing, &missing.iter().map(|&at| guess(at)).collect::<Vec<_>>(), completion)
}

/// The known squared distances, in units of their root mean square.
struct KnownSquares {
    n: usize,
    unit: f64,
    /// NaN where it is unknown, and on the diagonal.
    squares: Vec<f64>,
}

impl KnownSquares {
    /// Refuses a table that does not determine the position of some point.
    fn of(distances: &Distances, missing: &[usize]) -> Result<KnownSquares> {
        let n = distances.len();
        let mut squares = distances.matrix().values().to_vec();
        missing.iter().for_each(|&at| squares[at] = f64::NAN);
        (0..n).for_each(|i| squares[i * n + i] = f64::NAN);
        let largest = squares.iter().copied().filter(|d| !d.is_nan()).fold(f64::MIN_POSITIVE, f64::max);
        let (mut sum, mut count) = (0.0, 0usize);
        for square in squares.iter_mut().filter(|d| !d.is_nan()) {
            *square = (*square / largest).powi(2);
            (sum, count) = (sum + *square, count + 1);
        }
        let mean = if sum > 0.0 { sum / count as f64 } else { 1.0 };
        squares.iter_mut().for_each(|square| *square /= mean);
        let known = KnownSquares { n, unit: largest * mean.sqrt(), squares };
        let way_out = "leave its row and column out, or give more of them";
        if let Some((i, count)) = known.counts().enumerate().find(|&(_, count)| count < 2) {
            let what = if count == 0 { "no cell of" } else { "only one cell of" };
            let fact = format!("{what} point {} is known, which does not determine its position", i + 1);
            return Err(Error::data(fact, way_out).at_row(i));
        }
        let sizes = known.components();
        if sizes.len() > 1 {
            let (count, sizes) = (sizes.len(), sizes_text(&sizes));
            let fact = format!("the known cells leave the points in {count} components ({sizes})");
            return Err(Error::data(format!("{fact}, whose distances are unknown"), "give cells between them"));
        }
        Ok(known)
    }

    /// The sizes of the components that known cells connect, largest first.
    fn components(&self) -> Vec<usize> {
        let mut sets = Sets::new(self.n);
        for i in 0..self.n {
            self.cells(i).take_while(|&(j, _)| j < i).for_each(|(j, _)| {
                sets.merge(i as u32, j as u32);
            });
        }
        let mut sizes = vec![0; self.n];
        (0..self.n).for_each(|i| sizes[sets.root(i as u32) as usize] += 1);
        sizes.retain(|&size| size > 0);
        sizes.sort_unstable_by(sort::largest_first);
        sizes
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.squares[i * self.n..(i + 1) * self.n]
    }

    /// The known cells of point `i`: the other point, and the squared distance.
    fn cells(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.row(i).iter().copied().enumerate().filter(|(_, square)| !square.is_nan())
    }

    /// How many cells of each point are known.
    fn counts(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.n).map(|i| self.cells(i).count())
    }

    fn pairs(&self) -> usize {
        self.counts().sum::<usize>() / 2
    }

    /// The number of columns that predicts held-out pairs best, and the error of that prediction: the root mean square,
    /// as a fraction of that of the distances.
    fn columns(&self, observer: &dyn Observer) -> Result<(usize, Option<f64>)> {
        let n = self.n;
        // More pairs than fitted numbers: the coordinates, without rotations and shifts, and the noise.
        let determined = |pairs: usize, r: usize| r < n - 1 && pairs + r * (r + 1) / 2 > n * r;
        let pairs = (0..n * n).filter(|&at| at / n < at % n && !self.squares[at].is_nan());
        let held: Vec<usize> = pairs.skip(HELD_OUT / 2).step_by(HELD_OUT).collect();
        let allowed = |pairs: usize| COLUMNS.into_iter().filter(move |&r| determined(pairs, r));
        if held.len() < FEW {
            return Ok((allowed(self.pairs()).next_back().unwrap_or(1), None));
        }
        let mut without = KnownSquares { squares: self.squares.clone(), ..*self };
        for &at in &held {
            (without.squares[at], without.squares[at % n * n + at / n]) = (f64::NAN, f64::NAN);
        }
        let (mut best, mut least) = (1, f64::INFINITY);
        for columns in allowed(without.pairs()) {
            let fitted = without.fit(columns, TRIAL, observer)?;
            let off = |at: usize| fitted.square(at / n, at % n).max(0.0).sqrt() - self.squares[at].sqrt();
            let error = (held.iter().map(|&at| off(at).powi(2)).sum::<f64>()
                / held.iter().map(|&at| self.squares[at]).sum::<f64>().max(f64::MIN_POSITIVE))
            .sqrt();
            if error < (1.0 - BETTER) * least {
                (best, least) = (columns, error);
            }
            if least < SURE || error > 1.5 * least {
                break;
            }
        }
        Ok((best, least.is_finite().then_some(least)))
    }

    /// The least-squares fit with this many columns.
    fn fit(&self, columns: usize, evaluations: usize, observer: &dyn Observer) -> Result<Fitted> {
        let start = self.start(columns, observer)?;
        let mut lower = vec![f64::NEG_INFINITY; start.len()];
        lower[self.n * columns] = 0.0;
        let upper = vec![f64::INFINITY; start.len()];
        let descent = Descent {
            bounds: Bounds::Box { lower, upper },
            memory: 10,
            scale: None,
            cautious: false,
            stop: Stop { gradient: 1e-14, decrease: -1.0, evaluations },
            stage: Some(Stage::Graph),
        };
        let mut objective = Squares { known: self, columns, pairs: self.pairs() as f64, lowest: Vec::new() };
        let (y, report) = descent.minimize(&start, &mut objective, observer)?;
        // If no step lowers the value, the limit of rounding is reached.
        let converged = !matches!(report.ended, Ended::Evaluations | Ended::Stopped);
        Ok(Fitted { columns, noise: y[self.n * columns], converged, y })
    }

    /// Classical scaling with shortest paths in place of missing pairs, and the remainder as the noise.
    fn start(&self, columns: usize, observer: &dyn Observer) -> Result<Vec<f64>> {
        let n = self.n;
        let lists = (0..n).map(|i| self.cells(i).map(|(j, square)| (j as u32, square.sqrt())).collect()).collect();
        let paths = Paths::new(&Graph::from_lists(lists)?.union(), n);
        let lengths = paths.from_sources(&(0..n).collect::<Vec<_>>(), observer)?;
        let square = |i: usize, j: usize| {
            let (known, length) = (self.row(i)[j], lengths[i * n + j].min(lengths[j * n + i]));
            if i == j {
                0.0
            } else if !known.is_nan() {
                known
            } else if length.is_finite() {
                length * length
            } else {
                1.0
            }
        };
        let centered = Centered::from_squares(n, square, observer)?;
        let top = operator_top(&centered, columns, 0, observer)?;
        let kept: f64 = top.values.iter().take(columns).sum();
        let noise = ((0.5 * n as f64 * centered.grand_mean() - kept) / (n - columns) as f64).max(0.0);
        let along = |i: usize, q: usize| {
            let value = top.values.get(q).map_or(0.0, |gamma| (gamma - noise).max(0.0).sqrt());
            // No column is zero for all points: there the gradient would be zero as well.
            value * top.vectors[(i, q)] + 1e-3 * ((1 + i * columns + q) as f64).sin()
        };
        let y = (0..n * columns).map(|at| along(at / columns, at % columns));
        Ok(y.chain([noise]).collect())
    }
}

/// Coordinates and noise, in the units of [`KnownSquares`].
struct Fitted {
    columns: usize,
    /// The coordinates, one row after the other, and the noise.
    y: Vec<f64>,
    noise: f64,
    converged: bool,
}

impl Fitted {
    /// ‖y[i] − y[j]‖² + 2 λ.
    fn square(&self, i: usize, j: usize) -> f64 {
        let row = |i: usize| &self.y[i * self.columns..(i + 1) * self.columns];
        row(i).iter().zip(row(j)).map(|(a, b)| (a - b).powi(2)).sum::<f64>() + 2.0 * self.noise
    }
}

/// The mean over the known pairs of (δ² − ‖y[i] − y[j]‖² − 2 λ)².
struct Squares<'a> {
    known: &'a KnownSquares,
    columns: usize,
    pairs: f64,
    /// The lowest value after each evaluation.
    lowest: Vec<f64>,
}

/// The contribution of a point to the sums over the pairs: the gradient in its coordinates, Σ e and Σ e².
type Row = (Vec<f64>, f64, f64);

/// With the number of columns as a compile-time constant, for speed.
fn of_row<const R: usize>(known: &KnownSquares, y: &[f64], noise: f64, i: usize) -> Row {
    let (places, _) = y.as_chunks::<R>();
    let (mut along, mut sum, mut squares) = ([0.0; R], 0.0, 0.0);
    for (j, square) in known.cells(i) {
        let apart: [f64; R] = std::array::from_fn(|q| places[i][q] - places[j][q]);
        let off = square - apart.iter().map(|d| d * d).sum::<f64>() - 2.0 * noise;
        sum += off;
        squares += off * off;
        along.iter_mut().zip(apart).for_each(|(s, d)| *s -= 4.0 * off * d);
    }
    (along.to_vec(), sum, squares)
}

impl Objective for Squares<'_> {
    fn value(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<Option<f64>> {
        let (n, r, pairs) = (self.known.n, self.columns, self.pairs);
        let (y, noise) = (&x[..n * r], x[n * r]);
        let of_row: fn(&KnownSquares, &[f64], f64, usize) -> Row = match r {
            1 => of_row::<1>,
            2 => of_row::<2>,
            3 => of_row::<3>,
            5 => of_row::<5>,
            8 => of_row::<8>,
            _ => of_row::<13>,
        };
        // Every pair occurs twice, once from each of its points.
        let rows = parallel::collect(n, |i| of_row(self.known, y, noise, i));
        for (i, (along, ..)) in rows.iter().enumerate() {
            gradient[i * r..(i + 1) * r].iter_mut().zip(along).for_each(|(out, s)| *out = s / pairs);
        }
        gradient[n * r] = -2.0 * rows.iter().map(|row| row.1).sum::<f64>() / pairs;
        let value = 0.5 * rows.iter().map(|row| row.2).sum::<f64>() / pairs;
        self.lowest.push(self.lowest.last().copied().unwrap_or(f64::INFINITY).min(value));
        Ok(Some(value))
    }

    fn enough(&self) -> bool {
        let Some(&now) = self.lowest.last() else { return false };
        let before = self.lowest.len().checked_sub(WHILE + 1).map(|at| self.lowest[at]);
        now <= EXACT || before.is_some_and(|before| before - now <= GAIN * now)
    }
}

#[cfg(test)]
mod tests;
