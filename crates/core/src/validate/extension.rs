//! The uncertainty of new points, including the variability of the map itself.
//!
//! A map that is fitted with a new row differs from the map on which the row is embedded, for most methods by more than
//! the error of the extension. The difference is estimated from the training rows: they are divided into folds, and for
//! every fold g the map is fitted to the other rows, aligned with the model's (`procrustes.rs`), and compared with it.
//!
//! ```text
//! m[g,j,q]           how far the map without fold g is from the model's at a row j that it kept
//! c[q](x)² = ½ (mean of m[g,j,q]² over folds g and the ten rows j nearest to x  +  the same over all rows j)
//! SD[q](x) = s (p[q](x)² + c[q](x)²)^½       p the SD of the extension alone (`extend/standard_deviation.rs`)
//! ```
//!
//! The rows of a fold are embedded on the map without them. s is the smallest number for which 68 % of their
//! coordinates are within their standard deviations of their coordinates in the model, p being that of the fold's own
//! map, and c that of the other folds. So the standard deviation estimates the distance of the row from its position on
//! a map of more rows, including this one.
//!
//! M. H. Quenouille. Notes on bias in estimation. Biometrika 43, 1956 (maps without groups of rows: the jackknife). J. Lei, M.
//! G'Sell, A. Rinaldo, R. J. Tibshirani, L. Wasserman. Distribution-free predictive inference for regression. JASA 113, 2018.

use crate::extend::Transformed;
use crate::likelihood::Likelihood;
use crate::model::{Model, Transformer};
use crate::quality::procrustes::Onto;
use crate::recipe::Recipe;
use crate::reconstruct::{HELD_OUT, LEVELS, counted};
use crate::validate::reconstruction::dealt;
use eigenfold_graph::Disconnected;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::Observer;

/// The number of rows around a new one that determine how much the map changes there.
const AROUND: usize = 10;
/// The minimum number of rows for holding out.
const LEAST: usize = 20;
/// The 97.5 % quantile of a standard Gaussian.
const GAUSSIAN: f64 = 1.959_963_984_540_054;

/// The uncertainty of points on a map, by maps without some of its rows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HeldOutExtension {
    /// How many rows were held out, each once.
    pub rows: usize,
    /// In how many folds.
    pub folds: usize,
    /// s.
    pub calibration_factor: f64,
    /// The share of their coordinates within one standard deviation (nominal 0.68) and within 1.96 (0.95 if errors are
    /// Gaussian), each fold with the calibration factor of the other folds.
    pub within: [f64; 2],
    variability: MapVariability,
}

/// The differences of the maps without some rows from the model's.
#[derive(Clone, Debug, PartialEq)]
struct MapVariability {
    dims: usize,
    /// The fold of every row.
    fold: Vec<usize>,
    /// m² of every fold, all rows and coordinates; zero for the rows of the fold itself.
    squares: Vec<Vec<f64>>,
}

/// A held-out row: its error, and the standard deviation of the extension alone.
struct Missed {
    row: usize,
    off: Vec<f64>,
    placing: Vec<f64>,
}

impl Model {
    /// Whether the map can be refitted without some of its rows, and aligned with this one: not if it used classes,
    /// which a model does not store, or if components were kept separate; PPCA and factor analysis have a posterior
    /// instead.
    pub fn can_hold_out_extension(&self) -> bool {
        let recipe = self.recipe();
        let again = !recipe.method.is_supervised() && recipe.disconnected != Disconnected::Separate;
        again && self.latent().is_none() && self.points().is_some()
    }

    /// Whether rows should be held out for the uncertainty of new points: if that is possible, and few rows make it
    /// cheap. A process (GPLVM) has its own density, and takes long to fit.
    pub fn holds_out_extension(&self) -> bool {
        let process = self.recipe().method.has_density();
        self.can_hold_out_extension() && !process && HELD_OUT.contains(&self.embedding().rows())
    }

    /// Refits the map without some of its rows, fold by fold, to estimate the uncertainty of new points
    /// ([`Model::transform_held_out`]). It costs five fits.
    ///
    /// ```
    /// use eigenfold::{Isomap, Recipe, io};
    ///
    /// let iris = io::read("iris", &io::ReadOptions::default())?.points;
    /// let model = Recipe { method: Isomap::default().into(), ..Recipe::default() }.fit(&iris, &eigenfold::Silent)?;
    /// let held_out = model.held_out_extension(&eigenfold::Silent)?;
    /// let placed = model.transform_held_out(&iris, &held_out)?;
    /// assert_eq!((held_out.rows, placed.deviations.map(|all| all.cols())), (150, Some(2)));
    /// # Ok::<(), eigenfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the model was not fitted to points, or to too few, if its components were kept separate, or as [`Recipe::fit`] for a fold.
    pub fn held_out_extension(&self, observer: &dyn Observer) -> Result<HeldOutExtension> {
        let method = &self.report().method;
        let points = self.points().ok_or_else(|| {
            Error::input_kind(
                &["points"],
                format!("this {method} model was not fitted to points"),
                "none can be held out",
            )
        })?;
        if self.components_kept() > 1 {
            let fact = "components that are kept separate lie side by side at arbitrary distances";
            return Err(Error::parameter("disconnected", fact, "use `disconnected` join"));
        }
        let (n, dims) = (points.rows(), self.embedding().cols());
        if n < LEAST {
            return Err(Error::too_small(
                n,
                LEAST,
                format!("{n} points are too few to hold rows out"),
                format!("give {LEAST} or more"),
            ));
        }
        let recipe = Recipe { likelihood: Likelihood::Never, snapshots: 0, ..self.recipe().clone() };
        let dealt = dealt(n, self.recipe().seed);
        let (mut variability, mut missed) =
            (MapVariability { dims, fold: vec![0; n], squares: Vec::new() }, Vec::new());
        for (number, (left, kept)) in dealt.iter().enumerate() {
            observer.trial(&format!("fold {} of {}", number + 1, dealt.len()));
            let model = recipe.fit(&points.select(kept), observer)?;
            if observer.stop() {
                return Err(Error::Stopped);
            }
            let onto = Onto::new(model.embedding(), &self.embedding().select(kept));
            let off = |row: usize, there: &[f64]| -> Vec<f64> {
                onto.place(there).iter().zip(self.embedding().row(row)).map(|(a, b)| (a - b).abs()).collect()
            };
            let mut squares = vec![0.0; n * dims];
            for (at, &row) in kept.iter().enumerate() {
                let off = off(row, model.embedding().row(at));
                squares[row * dims..(row + 1) * dims].iter_mut().zip(off).for_each(|(square, off)| *square = off * off);
            }
            variability.squares.push(squares);
            let placed = model.transform_with_std(&points.select(left))?;
            missed.push(Vec::with_capacity(left.len()));
            for (at, &row) in left.iter().enumerate() {
                variability.fold[row] = number;
                let placing = placed.deviations.as_ref().map_or(vec![0.0; dims], |all| onto.width(all.row(at)));
                missed[number].push(Missed { row, off: off(row, placed.coordinates.row(at)), placing });
            }
        }
        observer.trial("");
        let needed = self.needed(&variability, &missed, points)?;
        Ok(HeldOutExtension {
            rows: n,
            folds: dealt.len(),
            calibration_factor: calibration_factor(&needed, None),
            within: within(&needed),
            variability,
        })
    }

    /// The calibration factor that every coordinate of every held-out row needs, fold by fold.
    fn needed(&self, variability: &MapVariability, missed: &[Vec<Missed>], points: &Points) -> Result<Vec<Vec<f64>>> {
        let (mut all, transformer) = (Vec::with_capacity(missed.len()), self.transformer()?);
        for (number, fold) in missed.iter().enumerate() {
            let rows: Vec<usize> = fold.iter().map(|missed| missed.row).collect();
            let usual = variability.usual(Some(number));
            let k = (AROUND + 1).min(points.rows());
            let near = transformer.nearest_rows(&points.select(&rows), k)?;
            let mut needed = Vec::with_capacity(fold.len() * variability.dims);
            for (missed, near) in fold.iter().zip(near.chunks_exact(k)) {
                let near: Vec<u32> = near.iter().copied().filter(|&j| j as usize != missed.row).take(AROUND).collect();
                for q in 0..variability.dims {
                    let width = missed.placing[q].hypot(variability.around(&near, Some(number), usual[q], q));
                    needed.push(match (missed.off[q], width) {
                        (0.0, _) => 0.0,
                        (off, width) => off / width,
                    });
                }
            }
            all.push(needed);
        }
        Ok(all)
    }

    /// Embeds new rows with standard deviations that include the variability of the map itself.
    ///
    /// # Errors
    ///
    /// As [`Model::transform`], and if the held-out rows belong to a model of another size.
    pub fn transform_held_out(&self, new: &Points, held_out: &HeldOutExtension) -> Result<Transformed> {
        self.transformer()?.transform_held_out(new, held_out)
    }
}

impl Transformer<'_> {
    /// Embeds new rows as [`Model::transform_held_out`] does.
    ///
    /// # Errors
    ///
    /// As [`Model::transform_held_out`].
    pub fn transform_held_out(&self, new: &Points, held_out: &HeldOutExtension) -> Result<Transformed> {
        let model = self.model();
        let (variability, dims) = (&held_out.variability, model.embedding().cols());
        if (held_out.rows, variability.dims) != (model.embedding().rows(), dims) {
            let fact = "the rows held out are not those of this model";
            let counts = [("rows", held_out.rows, model.embedding().rows()), ("coordinates", variability.dims, dims)];
            return Err(Error::other_shape(&counts, fact, "hold out its own"));
        }
        let placed = self.transform_with_std(new)?;
        let k = AROUND.min(held_out.rows);
        let near = self.nearest_rows(new, k)?;
        let usual = variability.usual(None);
        let deviation = |at: usize| {
            let (i, q) = (at / dims, at % dims);
            let placing = placed.deviations.as_ref().map_or(0.0, |all| all.row(i)[q]);
            held_out.calibration_factor
                * placing.hypot(variability.around(&near[i * k..(i + 1) * k], None, usual[q], q))
        };
        let deviations = Points::computed(new.rows(), dims, (0..new.rows() * dims).map(deviation).collect())?;
        Ok(Transformed { deviations: Some(deviations), ..placed })
    }
}

impl MapVariability {
    /// The mean of m² of a row and a coordinate over the folds that kept the row, except one.
    fn of(&self, row: usize, but: Option<usize>, q: usize) -> f64 {
        let others = (0..self.squares.len()).filter(|&g| g != self.fold[row] && Some(g) != but);
        let (sum, count) =
            others.fold((0.0, 0.0), |(sum, count), g| (sum + self.squares[g][row * self.dims + q], count + 1.0));
        if count > 0.0 { sum / count } else { 0.0 }
    }

    /// The mean over all rows, of every coordinate.
    fn usual(&self, but: Option<usize>) -> Vec<f64> {
        let n = self.fold.len();
        (0..self.dims).map(|q| (0..n).map(|row| self.of(row, but, q)).sum::<f64>() / n as f64).collect()
    }

    /// c of an embedding point with these rows near it.
    fn around(&self, near: &[u32], but: Option<usize>, usual: f64, q: usize) -> f64 {
        let local = near.iter().map(|&j| self.of(j as usize, but, q)).sum::<f64>() / near.len().max(1) as f64;
        (0.5 * (local + usual)).sqrt()
    }
}

/// s by all folds, or by all but one; 1 if there are no errors.
fn calibration_factor(needed: &[Vec<f64>], but: Option<usize>) -> f64 {
    let others = needed.iter().enumerate().filter(|(at, _)| Some(*at) != but);
    let all: Vec<f64> = others.flat_map(|(_, fold)| fold).copied().collect();
    let most = all.iter().copied().filter(|needed| needed.is_finite()).fold(0.0, f64::max);
    if most > 0.0 { counted(all, LEVELS[0]).min(most) } else { 1.0 }
}

/// The shares within one standard deviation and within 1.96, each fold with the calibration factor of the others.
fn within(needed: &[Vec<f64>]) -> [f64; 2] {
    let count = needed.iter().map(Vec::len).sum::<usize>().max(1) as f64;
    [1.0, GAUSSIAN].map(|width| {
        let inside = |(at, fold): (usize, &Vec<f64>)| {
            let most = width * calibration_factor(needed, Some(at));
            fold.iter().filter(|needed| **needed <= most).count() as f64
        };
        needed.iter().enumerate().map(inside).sum::<f64>() / count
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;
    use crate::{LaplacianEigenmaps, Pca};

    /// Rows that were not used for a map are embedded on it; a map of all rows gives their reference coordinates.
    #[test]
    fn new_rows_are_as_far_from_where_they_belong_as_their_deviations_say() {
        let points = Sample::SCurve.draw(300, 0.05, 3).unwrap().points;
        for recipe in [
            Recipe { method: LaplacianEigenmaps::default().into(), ..Recipe::default() },
            Recipe { method: Pca::default().into(), ..Recipe::default() },
        ] {
            let whole = recipe.fit(&points, &eigenfold_linalg::progress::Silent).unwrap();
            let (mut within, mut placing, mut count) = ([0.0; 2], 0.0, 0.0);
            for (left, kept) in dealt(300, 7) {
                let model = recipe.fit(&points.select(&kept), &eigenfold_linalg::progress::Silent).unwrap();
                let held_out = model.held_out_extension(&eigenfold_linalg::progress::Silent).unwrap();
                let new = points.select(&left);
                let placed = model.transform_held_out(&new, &held_out).unwrap();
                let alone = model.transform_with_std(&new).unwrap().deviations;
                let onto = Onto::new(&whole.embedding().select(&kept), model.embedding());
                let deviations = placed.deviations.unwrap();
                for (at, &row) in left.iter().enumerate() {
                    for (q, there) in onto.place(whole.embedding().row(row)).into_iter().enumerate() {
                        let (off, deviation) = ((there - placed.coordinates.row(at)[q]).abs(), deviations.row(at)[q]);
                        within[0] += f64::from(u8::from(off <= deviation));
                        within[1] += f64::from(u8::from(off <= GAUSSIAN * deviation));
                        placing += f64::from(u8::from(alone.as_ref().is_some_and(|alone| off <= alone.row(at)[q])));
                        count += 1.0;
                    }
                }
            }
            let (method, [one, two]) = (recipe.method.info().name, within.map(|within| within / count));
            // A linear map errs as a whole and in few directions, so that five folds determine little.
            let [least, most, least_two] = if method == "pca" { [0.4, 1.0, 0.7] } else { [0.56, 0.85, 0.82] };
            assert!((least..=most).contains(&one) && two > least_two, "{method}: {one} {two}");
            assert!(placing / count < 0.4, "{method}: the placing alone is far too sure: {}", placing / count);
        }
    }

    #[test]
    fn training_rows_and_units_are_answered_alike() {
        let points = Sample::SCurve.draw(80, 0.05, 3).unwrap().points;
        let recipe = Recipe { method: Pca::default().into(), ..Recipe::default() };
        let times = |points: &Points, power: i32| {
            points.with_values(points.values().iter().map(|x| x * 2f64.powi(power)).collect())
        };
        let deviations = |power: i32| {
            let model = recipe.fit(&times(&points, power), &eigenfold_linalg::progress::Silent).unwrap();
            let held_out = model.held_out_extension(&eigenfold_linalg::progress::Silent).unwrap();
            assert!(held_out.within[0] > 0.4 && held_out.within[1] > 0.8, "{held_out:?}");
            let placed = model.transform_held_out(&times(&points, power), &held_out).unwrap();
            times(&placed.deviations.unwrap(), -power)
        };
        let (plain, huge) = (deviations(0), deviations(180));
        assert!(plain.values().iter().zip(huge.values()).all(|(a, b)| *a > 0.0 && (a / b - 1.0).abs() < 1e-9));
        let few = recipe
            .fit(&points.select(&(0..12).collect::<Vec<_>>()), &eigenfold_linalg::progress::Silent)
            .unwrap()
            .held_out_extension(&eigenfold_linalg::progress::Silent)
            .unwrap_err();
        assert!(few.to_string().contains("12 points are too few to hold rows out; give 20 or more"), "{few}");
    }
}
