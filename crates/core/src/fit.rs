//! Stages 2 and 3, over the whole input or piece by piece.

use crate::coordinates::spectral;
use crate::coordinates::spectral::Spectrum;
use crate::error::{Error, Result};
use crate::field::unfolding;
use crate::field::unfolding::{Certificate, Rescaling};
use crate::field::{Built, Field, Site, Weight};
use crate::graph::{Found, Graph, Metric, Pieces, check_distances};
use crate::likelihood::{Budget, Columns, Density, Likelihood, Observation};
use crate::memory;
use crate::model::{Model, Part, Report, Seconds, Used};
use crate::place::{Known, Rule};
use crate::points::Points;
use crate::progress::{Observer, Stage};
use crate::recipe::Recipe;
use std::time::Instant;

/// The part of the local trace added to the diagonal where the points of a rescaled map are written by their neighbors.
const REGULARIZATION: f64 = 1e-3;

/// What the stages gave for one piece.
struct Fitted {
    embedding: Points,
    part: Part,
    report: Report,
    weights: Option<Vec<Weight>>,
    certificate: Option<Certificate>,
}

/// Stages 2 and 3 over one input.
pub(crate) struct Stages<'a> {
    pub(crate) recipe: &'a Recipe,
    pub(crate) points: Option<&'a Points>,
    pub(crate) distances: Option<&'a Points>,
    pub(crate) metric: Metric,
    pub(crate) observer: &'a dyn Observer,
}

impl Stages<'_> {
    /// The whole, or piece by piece.
    pub(crate) fn fit(&self, n: usize, found: Option<&Found>) -> Result<Model> {
        if let Some(distances) = self.distances {
            check_distances(distances)?;
        }
        if let Some(found) = found.filter(|f| f.sizes.len() > 1 && self.recipe.pieces == Pieces::Separate) {
            return self.fit_pieces(found);
        }
        let Fitted { embedding, part, report, weights, certificate } =
            self.fit_one(n, found.map(|f| &f.graph), self.recipe.dims)?;
        let certificates = certificate.into_iter().collect();
        Ok(Model { weights, certificates, ..Model::new(embedding, vec![part], report) })
    }

    /// Every piece on its own, largest first, side by side along the first coordinate.
    fn fit_pieces(&self, found: &Found) -> Result<Model> {
        let (n, dims) = (found.graph.len(), self.recipe.dims);
        let mut values = vec![0.0; n * dims];
        let (mut parts, mut whole) = (Vec::new(), None::<Report>);
        let (mut all_weights, mut certificates) = (Vec::<Weight>::new(), Vec::new());
        let mut edge = 0.0;
        for piece in 0..found.sizes.len() {
            let rows: Vec<usize> = (0..n).filter(|&i| found.piece_of[i] as usize == piece).collect();
            let Fitted { embedding, mut part, report, weights, certificate } = self.fit_piece(&rows, &found.graph)?;
            let in_input = |w: Weight| Weight { i: rows[w.i as usize] as u32, j: rows[w.j as usize] as u32, ..w };
            all_weights.extend(weights.into_iter().flatten().map(in_input));
            let in_rows = |c: Certificate| Certificate { rows: rows.iter().map(|&i| i as u32).collect(), ..c };
            certificates.extend(certificate.map(in_rows));
            let column = || (0..rows.len()).map(|i| embedding.row(i)[0]);
            let (low, high) = (column().fold(f64::MAX, f64::min), column().fold(f64::MIN, f64::max));
            let gap = if piece == 0 { 0.0 } else { 0.05 * (edge + high - low) };
            part.shift = edge + gap - low;
            edge += gap + high - low;
            for (at, &i) in rows.iter().enumerate() {
                let width = embedding.cols();
                values[i * dims..i * dims + width].copy_from_slice(embedding.row(at));
                values[i * dims] += part.shift;
            }
            part.rows = rows.iter().map(|&i| i as u32).collect();
            parts.push(part);
            match &mut whole {
                None => whole = Some(report),
                Some(whole) => whole.merge(report),
            }
        }
        all_weights.sort_unstable_by_key(|w| (w.i, w.j));
        let weights = self.recipe.method.has_weights().then_some(all_weights);
        let whole = whole.unwrap_or_default();
        Ok(Model { weights, certificates, ..Model::new(Points::new(n, dims, values)?, parts, whole) })
    }

    fn fit_piece(&self, rows: &[usize], graph: &Graph) -> Result<Fitted> {
        let dims = self.recipe.dims.min(rows.len() - 1);
        if dims == 0 {
            let embedding = Points::new(1, 1, vec![0.0])?;
            // One point has no directions, and so no part in the likelihood.
            let likelihood = Some(Observation::default());
            let report = Report { converged: true, likelihood, ..Report::default() };
            return Ok(Fitted { embedding, part: Part::alone(), report, weights: None, certificate: None });
        }
        let points = self.points.map(|points| points.select(rows));
        let distances = match self.distances {
            Some(all) => {
                let values = rows.iter().flat_map(|&i| rows.iter().map(move |&j| all.row(i)[j]));
                Some(Points::new(rows.len(), rows.len(), values.collect())?)
            }
            None => None,
        };
        let stages = Stages { points: points.as_ref(), distances: distances.as_ref(), ..*self };
        stages.fit_one(rows.len(), Some(&graph.induced(rows)), dims)
    }

    fn fit_one(&self, n: usize, graph: Option<&Graph>, dims: usize) -> Result<Fitted> {
        let start = Instant::now();
        let mut built = self.built(graph, dims)?;
        let field_seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let width = self.recipe.rescale.map_or(dims, |asked| asked.min(n - 1));
        let mut spectrum = self.spectrum(&built.field, width)?;
        let k = built.neighbors_of(graph);
        let mut rule = built.rule;
        let mut map = self.embedding(n, k, &spectrum, &mut rule)?;
        let mut rescaled = None;
        if let Some(graph) = graph.filter(|_| self.recipe.rescale.is_some()) {
            rescaled = Some(self.rescaled(graph, &map, dims, &built.field, &mut spectrum, &mut rule)?);
            map = map.select_columns(&(0..dims).collect::<Vec<_>>());
        }
        let coordinates_seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let (likelihood, likelihood_left_out) = self.likelihood(&built.field, &map, &mut built.warnings)?;
        let (embedding, rescale) = rescaled.map_or((map, None), |(embedding, rescaling)| (embedding, Some(rescaling)));
        let own = built.log_likelihood.map(|value| ("field_log_likelihood", value));
        let part = Part {
            rows: Vec::new(),
            shift: 0.0,
            k,
            eigenvalues: spectrum.eigenvalues[..embedding.cols()].to_vec(),
            rule: Some(rule),
        };
        let chosen = built.used.into_iter().map(|(name, used)| Used { name: name.into(), asked: "auto".into(), used });
        let report = Report {
            seconds: Seconds {
                graph: 0.0,
                field: field_seconds,
                coordinates: coordinates_seconds,
                likelihood: start.elapsed().as_secs_f64(),
            },
            parameters: chosen.collect(),
            eigenvalues: spectrum.eigenvalues,
            residuals: spectrum.residuals,
            likelihood,
            likelihood_left_out,
            figures: built.figures.into_iter().chain(own).map(|(name, value)| (name.into(), value)).collect(),
            certificate: built.certificate.as_ref().map(|certificate| certificate.claimed),
            path: built.path,
            solver: spectrum.solver,
            iterations: spectrum.iterations,
            converged: spectrum.converged && built.converged,
            warnings: built.warnings.into_iter().chain(spectrum.warnings).collect(),
            rescale,
            ..Report::default()
        };
        Ok(Fitted { embedding, part, report, weights: built.weights, certificate: built.certificate })
    }

    /// Stage 2.
    pub(crate) fn built(&self, graph: Option<&Graph>, dims: usize) -> Result<Built> {
        self.observer.progress(Stage::Field, 0.0);
        let site = Site {
            points: self.points,
            distances: self.distances,
            graph,
            metric: self.metric,
            dims,
            seed: self.recipe.seed,
            memory: self.memory(),
            observer: self.observer,
        };
        let built = self.recipe.method.build(&site)?;
        if self.observer.stop() { Err(Error::Stopped) } else { Ok(built) }
    }

    /// Stage 3.
    pub(crate) fn spectrum(&self, field: &Field, dims: usize) -> Result<Spectrum> {
        self.observer.progress(Stage::Coordinates, 0.0);
        spectral::coordinates(field, dims, self.recipe.seed, self.memory(), self.observer)
    }

    /// The map with its lengths put right. Its coordinates are no longer eigenvectors of the field, so that new points
    /// are placed by the weights that write them by their neighbors, whatever the method's own rule.
    fn rescaled(
        &self,
        graph: &Graph,
        map: &Points,
        dims: usize,
        field: &Field,
        spectrum: &mut Spectrum,
        rule: &mut Rule,
    ) -> Result<(Points, Rescaling)> {
        let own = match field {
            Field::Precision { matrix, .. } => field.is_precision_of(map.rows()).then_some(matrix),
            _ => None,
        };
        let found = unfolding::rescale(graph, map, own, self.memory(), self.observer)?;
        *rule = Rule::Barycenter { regularization: REGULARIZATION, landmarks: None };
        spectrum.eigenvalues = found.eigenvalues;
        spectrum.eigenvalues.resize(spectrum.eigenvalues.len().max(dims), 0.0);
        spectrum.residuals.resize(spectrum.eigenvalues.len(), 0.0);
        spectrum.converged &= found.converged;
        spectrum.warnings.extend(found.rescaling.warning());
        let values = (0..map.rows()).flat_map(|i| (0..dims).map(move |q| (i, q))).map(|at| found.coordinates[at]);
        Ok((Points::new(map.rows(), dims, values.collect())?, found.rescaling))
    }

    /// How many bytes may be allocated.
    pub(crate) fn memory(&self) -> u64 {
        self.recipe.memory.unwrap_or_else(memory::available)
    }

    /// The likelihood of the points under the field, and whether it was left out for its price.
    fn likelihood(
        &self,
        field: &Field,
        embedding: &Points,
        warnings: &mut Vec<String>,
    ) -> Result<(Option<Observation>, bool)> {
        let asked = self.recipe.likelihood;
        let Some(points) = self.points.filter(|_| asked != Likelihood::Never) else { return Ok((None, false)) };
        let budget = Budget { likelihood: asked, memory: self.memory() };
        let Some(density) = Density::new(field, Some(embedding), points.cols(), &budget)? else {
            return Ok((None, true));
        };
        let fitted = match density.fit(&Columns::all(points), self.observer) {
            // The map is there already.
            Err(Error::Stopped) => {
                warnings.push("stopped before the likelihood was known".into());
                return Ok((None, false));
            }
            fitted => fitted?,
        };
        match &fitted {
            None => {
                warnings.push("the points have no likelihood under the field: they coincide, or it is singular".into())
            }
            Some(fitted) if fitted.noise_at_floor => warnings.push(format!(
                "the likelihood has no maximum: the points lie in the field's free directions, and the others got the \
                 least variance that is allowed, {:.0e} of the data's",
                crate::likelihood::FLOOR
            )),
            Some(_) => {}
        }
        Ok((fitted, false))
    }

    /// The coordinates of all points, and what the rule could not know before them.
    pub(crate) fn embedding(&self, n: usize, k: usize, spectrum: &Spectrum, rule: &mut Rule) -> Result<Points> {
        let y = &spectrum.coordinates;
        let values = (0..y.nrows()).flat_map(|i| (0..y.ncols()).map(move |q| y[(i, q)])).collect();
        let embedding = Points::new(y.nrows(), y.ncols(), values)?;
        if embedding.rows() < n {
            let known = Known {
                points: self.points,
                distances: self.distances,
                metric: self.metric,
                k,
                embedding: &embedding,
                eigenvalues: &spectrum.eigenvalues,
            };
            return Points::new(n, embedding.cols(), rule.place_all(&known, n)?);
        }
        if let (Rule::Linear { mean, axes }, Some(points)) = (rule, self.points) {
            *axes = linear_axes(points, mean, &embedding, &spectrum.eigenvalues);
        }
        Ok(embedding)
    }
}

/// U = X̃ᵀ Y / λ, one row a feature.
fn linear_axes(points: &Points, mean: &[f64], embedding: &Points, eigenvalues: &[f64]) -> Vec<f64> {
    let dims = embedding.cols();
    let largest = eigenvalues.first().copied().unwrap_or(0.0);
    let mut axes = vec![0.0; points.cols() * dims];
    for i in 0..points.rows() {
        for (j, x) in points.row(i).iter().enumerate() {
            for (q, y) in embedding.row(i).iter().enumerate() {
                axes[j * dims + q] += (x - mean[j]) * y;
            }
        }
    }
    for (at, axis) in axes.iter_mut().enumerate() {
        let lambda = eigenvalues[at % dims];
        *axis = if lambda > 1e-13 * largest { *axis / lambda } else { 0.0 };
    }
    axes
}
