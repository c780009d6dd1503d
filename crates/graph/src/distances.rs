//! Distances between points without features, checked once.

use crate::points::Points;
use eigenfold_linalg::error::{Error, Result};

/// Entries may differ from their mirror images by this much of the largest one, as printed numbers do.
const ASYMMETRY: f64 = 1e-9;

/// The distances between n points: square, symmetric to the last bit, none negative, the diagonal zero.
///
/// Everything downstream relies on the checks made here and does not repeat them.
///
/// ```
/// use eigenfold_graph::{Distances, Points};
///
/// let triangle = Distances::new(Points::from_rows(&[[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])?)?;
/// assert_eq!(triangle.len(), 3);
/// # Ok::<(), eigenfold_linalg::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Distances {
    matrix: Points,
    of_similarities: bool,
    completion: Option<Completion>,
}

/// How the missing cells of a table were fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Completion {
    /// The number of columns of the fit.
    pub columns: usize,
    /// λ, what the noise of one point adds to a squared distance.
    pub noise: f64,
    /// The root mean square error of held-out distances, as a part of that of the distances; none if there were too few.
    pub error: Option<f64>,
    /// How many points have no more known cells than the fit has columns, so that they may be in several places.
    pub loose: usize,
    /// Whether the fit converged.
    pub converged: bool,
}

impl Distances {
    /// Distances from a square matrix; entries that differ from their mirror images by rounding are averaged.
    ///
    /// # Errors
    ///
    /// If the matrix is not square, its diagonal not zero, an entry negative, or an entry differs from its mirror image;
    /// the message names the first such cell (row and column counted from 1).
    pub fn new(matrix: Points) -> Result<Distances> {
        let n = matrix.rows();
        if matrix.cols() != n {
            return Err(Error::mismatch(
                "columns",
                (matrix.cols(), n),
                format!("the distances have {n} rows and {} columns", matrix.cols()),
                "give one row and one column for each point",
            ));
        }
        if let Some(&at) = matrix.missing().first() {
            let (row, column) = (at / n + 1, at % n + 1);
            return Err(Error::data(
                format!("row {row}, column {column} is missing"),
                "use `missing` model, or give every distance",
            )
            .at_row(row - 1)
            .at_column(column - 1));
        }
        let largest = largest(&matrix);
        for i in 0..n {
            for (j, &d) in matrix.row(i).iter().enumerate() {
                let cell = format_args!("row {}, column {}", i + 1, j + 1);
                if i == j && d != 0.0 {
                    return Err(Error::data(
                        format!("{cell} is {d} and the distance of a point to itself is 0"),
                        "give distances, not similarities",
                    )
                    .at_row(i)
                    .at_column(j));
                }
                if d < 0.0 {
                    return Err(Error::data(format!("{cell} is {d} and no distance is negative"), "correct the cell")
                        .at_row(i)
                        .at_column(j));
                }
                let mirrored = matrix.row(j)[i];
                if (d - mirrored).abs() > ASYMMETRY * largest {
                    return Err(Error::data(
                        format!("{cell} is {d} and its mirror image {mirrored}"),
                        "give the same distance both ways",
                    )
                    .at_row(i)
                    .at_column(j));
                }
            }
        }
        Ok(Distances { matrix: mirrored(matrix), of_similarities: false, completion: None })
    }

    /// `√(k[i,i] − 2 k[i,j] + k[j,j])`: the distances in the feature space of a positive semidefinite matrix of inner
    /// products.
    ///
    /// # Errors
    ///
    /// If the matrix is not square or not symmetric, or two points are more similar to each other than to themselves.
    pub fn from_similarities(similarities: &Points) -> Result<Distances> {
        let n = similarities.rows();
        if let Some(&at) = similarities.missing().first() {
            let (row, column) = (at / similarities.cols() + 1, at % similarities.cols() + 1);
            let way_out = "use `missing` model, or give every similarity";
            return Err(Error::data(format!("row {row}, column {column} is missing"), way_out)
                .at_row(row - 1)
                .at_column(column - 1));
        }
        if similarities.cols() != n {
            return Err(Error::mismatch(
                "columns",
                (similarities.cols(), n),
                format!("the similarities have {n} rows and {} columns", similarities.cols()),
                "give a square matrix",
            ));
        }
        let k = |i: usize, j: usize| similarities.row(i)[j];
        let largest = largest(similarities);
        let mut values = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..i {
                if (k(i, j) - k(j, i)).abs() > ASYMMETRY * largest {
                    return Err(Error::data(
                        format!("row {}, column {} is {} and its mirror {}", i + 1, j + 1, k(i, j), k(j, i)),
                        "give a symmetric matrix",
                    )
                    .at_row(i)
                    .at_column(j));
                }
                let square = k(i, i) - k(i, j) - k(j, i) + k(j, j);
                if square < -ASYMMETRY * largest {
                    return Err(Error::data(
                        format!("points {} and {} are more similar to each other than to themselves", i + 1, j + 1),
                        "give inner products, or distances",
                    )
                    .at_row(i)
                    .at_column(j));
                }
                values[i * n + j] = square.max(0.0).sqrt();
                values[j * n + i] = values[i * n + j];
            }
        }
        Ok(Distances { matrix: Points::new(n, n, values)?, of_similarities: true, completion: None })
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.matrix.rows()
    }

    /// Whether there is no point at all, which no checked matrix is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The distance between two points.
    #[inline(always)]
    pub fn between(&self, i: usize, j: usize) -> f64 {
        self.row(i)[j]
    }

    /// The distances of point `i` to all points.
    pub fn row(&self, i: usize) -> &[f64] {
        self.matrix.row(i)
    }

    /// The square matrix.
    pub fn matrix(&self) -> &Points {
        &self.matrix
    }

    /// Whether they were similarities.
    pub fn of_similarities(&self) -> bool {
        self.of_similarities
    }

    /// How missing cells were fitted, if some were missing. [`Distances::matrix`] marks them.
    pub fn completion(&self) -> Option<&Completion> {
        self.completion.as_ref()
    }

    /// The same with fitted values in some cells, which are marked as missing.
    pub fn completed(self, missing: &[usize], guesses: &[f64], completion: Completion) -> Result<Distances> {
        let (n, of_similarities) = (self.len(), self.of_similarities);
        let mut values = self.matrix.into_values();
        missing.iter().for_each(|&at| values[at] = f64::NAN);
        let matrix = Points::with_missing(n, n, values)?.with_guesses(guesses)?;
        Ok(Distances { matrix, of_similarities, completion: Some(completion) })
    }
    /// The distances among some of the points, in the given order.
    pub fn select(&self, rows: &[usize]) -> Distances {
        Distances { matrix: self.matrix.select(rows).select_columns(rows), ..*self }
    }
}

fn largest(matrix: &Points) -> f64 {
    matrix.values().iter().fold(0.0f64, |most, d| most.max(d.abs()))
}

/// The mean of the matrix and its mirror image.
fn mirrored(matrix: Points) -> Points {
    let n = matrix.rows();
    let same = (0..n).all(|i| (0..i).all(|j| matrix.row(i)[j] == matrix.row(j)[i]));
    if same {
        return matrix;
    }
    let mean = |at: usize| 0.5 * (matrix.row(at / n)[at % n] + matrix.row(at % n)[at / n]);
    Points::new(n, n, (0..n * n).map(mean).collect()).unwrap_or(matrix)
}

/// One sentence about points that look like a table of distances or of similarities: square and symmetric, with zeros or
/// with ones on the diagonal, and nothing larger than that among similarities.
pub fn mistaken(points: &Points) -> Option<String> {
    let n = points.rows();
    if n < 3 || points.cols() != n || !points.missing().is_empty() {
        return None;
    }
    let diagonal = |value: f64| (0..n).all(|i| points.row(i)[i] == value);
    let all = |is: &dyn Fn(f64) -> bool| points.values().iter().all(|&x| is(x));
    let (kind, on) = if diagonal(0.0) && all(&|x| x >= 0.0) && !all(&|x| x == 0.0) {
        ("distances", "zeros")
    } else if diagonal(1.0) && all(&|x| x.abs() <= 1.0) {
        ("similarities", "ones")
    } else {
        return None;
    };
    let alike = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
    let symmetric = (0..n).all(|i| (0..i).all(|j| alike(points.row(i)[j], points.row(j)[i])));
    symmetric.then(|| {
        let fact = format!("the {n} points are a square symmetric table with {on} on its diagonal");
        format!("{fact}, and were read as points with {n} features; if they are {kind}, use `input-kind` {kind}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_of_not_being_a_distance_is_named() {
        let wrong = |rows: &[[f64; 2]]| Distances::new(Points::from_rows(rows).unwrap()).unwrap_err().to_string();
        assert!(wrong(&[[0.0, 1.0]]).starts_with("the distances have 1 rows and 2 columns"));
        assert!(wrong(&[[1.0, 0.5], [0.5, 1.0]]).starts_with("row 1, column 1 is 1 and"));
        assert!(wrong(&[[0.0, -1.0], [-1.0, 0.0]]).starts_with("row 1, column 2 is -1 and no"));
        assert!(wrong(&[[0.0, 1.0], [2.0, 0.0]]).starts_with("row 1, column 2 is 1 and its mirror image 2"));
    }

    #[test]
    fn printed_distances_are_the_same_both_ways() {
        let printed = Points::from_rows(&[[0.0, 1.0], [1.0 + 1e-12, 0.0]]).unwrap();
        let distances = Distances::new(printed).unwrap();
        assert_eq!(distances.between(0, 1), distances.between(1, 0));
    }

    #[test]
    fn similarities_of_orthogonal_unit_vectors_are_at_distance_root_two() {
        let identity = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        assert_eq!(Distances::from_similarities(&identity).unwrap().between(0, 1), 2f64.sqrt());
        let odd = Points::from_rows(&[[1.0, 2.0], [2.0, 1.0]]).unwrap();
        assert!(Distances::from_similarities(&odd).is_err());
    }

    #[test]
    fn a_table_of_distances_that_is_read_as_points_is_noticed() {
        let table = |values: [f64; 9]| mistaken(&Points::new(3, 3, values.to_vec()).unwrap());
        let said = table([0.0, 1.0, 2.0, 1.0, 0.0, 3.0, 2.0, 3.0, 0.0]).unwrap();
        assert!(said.ends_with("use `input-kind` distances"), "{said}");
        assert!(table([1.0, 0.5, 0.2, 0.5, 1.0, -0.3, 0.2, -0.3, 1.0]).unwrap().ends_with("`input-kind` similarities"));
        // Not symmetric, negative, not zero on the diagonal, all zero.
        assert_eq!(table([0.0, 1.0, 2.0, 1.1, 0.0, 3.0, 2.0, 3.0, 0.0]), None);
        assert_eq!(table([0.0, -1.0, 2.0, -1.0, 0.0, 3.0, 2.0, 3.0, 0.0]), None);
        assert_eq!(table([0.1, 1.0, 2.0, 1.0, 0.0, 3.0, 2.0, 3.0, 0.0]), None);
        assert_eq!(table([0.0; 9]), None);
    }
}
