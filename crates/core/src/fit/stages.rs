//! Fitting a recipe: the three stages, over the whole input or component by component.

use crate::coordinates::{self, Map, Snapshot};
use crate::extend::{Known, Rule};
use crate::field::unfolding::Certificate;
use crate::field::{Built, LearnedGraph, Regraph, Site, Task, Weight};
use crate::figure::Figure;
use crate::fit::budget::MemoryBudget;
use crate::fit::known::first;
use crate::input::regression::REGULARIZATION;
use crate::input::{Data, Input};
use crate::likelihood::{Budget, Density, FLOOR, Likelihood, Observation};
use crate::model::{Model, Part};
use crate::recipe::Recipe;
use crate::report::{GraphReport, Report, Seconds, Used};
use crate::warning::Warning;
use eigenfold_graph::points::Points;
use eigenfold_graph::{Disconnected, Found, Graph, Search};
use eigenfold_linalg::error::{Error, Result, sizes_text};
use eigenfold_linalg::memory;
use eigenfold_linalg::progress::{Observer, Share, Silent, Stage};
use std::time::Instant;

/// Bytes of an edge of a graph: its target and its length.
const EDGE: u64 = 12;

/// What the stages gave for one component.
struct Fitted {
    embedding: Points,
    part: Part,
    report: Report,
    weights: Option<Vec<Weight>>,
    certificate: Option<Certificate>,
    snapshots: Vec<Snapshot>,
}

/// The stages over one input.
#[derive(Clone, Copy)]
pub(crate) struct Stages<'a> {
    recipe: &'a Recipe,
    input: Input<'a>,
    /// The bytes that the graph takes.
    spent: u64,
    /// Counts what the stages are predicted to take.
    budget: Option<&'a MemoryBudget>,
    observer: &'a dyn Observer,
}

impl<'a> Stages<'a> {
    /// The stages of a recipe over an input that it can start from.
    pub(crate) fn new(recipe: &'a Recipe, input: Input<'a>, observer: &'a dyn Observer) -> Result<Stages<'a>> {
        if recipe.method.info().uses_metric {
            input.data.check_metric()?;
        }
        Ok(Stages { recipe, input, spent: 0, budget: None, observer })
    }

    /// The same, with predictions of what they take.
    pub(crate) fn within(self, budget: &'a MemoryBudget) -> Stages<'a> {
        Stages { budget: Some(budget), ..self }
    }

    /// All stages.
    pub(crate) fn run(&self) -> Result<Model> {
        let stages = *self;
        let efforts = stages.recipe.efforts(stages.input.data);
        let [first, rest] = Share::split(self.observer, [efforts[0], efforts[1..].iter().sum()]);
        let first = first.of_stage(Stage::Graph);
        let start = Instant::now();
        let graph = Stages { observer: &first, ..stages }.graph()?;
        let graph_seconds = start.elapsed().as_secs_f64();
        let stages = Stages { observer: &rest, ..stages };
        let spent = graph.as_ref().map_or(0, |(found, _)| EDGE * found.graph.edge_count() as u64);
        let stages = Stages { spent, ..stages };
        // On a thread of the pool, so that handing work to the pool does not wake and wait for another one each time.
        let mut model = rayon::scope(|_| stages.fit(graph.as_ref().map(|(found, _)| found)))?;
        model.report.seconds.graph += graph_seconds;
        stages.describe(&mut model, graph.as_ref().map(|(found, _)| found));
        model.report.add_learning(graph.and_then(|(_, learned)| learned));
        Ok(model)
    }

    /// Stage 1, where the method asks for it or the input is a graph.
    pub(crate) fn graph(&self) -> Result<Option<(Found, Option<LearnedGraph>)>> {
        if !self.recipe.needs_graph(self.input.data) {
            return Ok(None);
        }
        self.observer.progress(Stage::Graph, 0.0);
        let search = self.recipe.search();
        let (found, learned) = match &self.recipe.learned {
            Some(drill) => {
                let (found, learned) = drill.graph(&search, self.input.data, self.recipe.memory, self.observer)?;
                (found, Some(learned))
            }
            None => match self.input.neighbors {
                Some(known) => (self.input.data.given_neighbors(known, &search, self.observer)?, None),
                None => (self.input.data.neighbors(&search, self.observer)?, None),
            },
        };
        self.predict(found.memory);
        Ok(Some((found, learned)))
    }

    /// Stage 1 over the same points with other features, its components left apart.
    fn regraph(&self, points: &Points) -> Result<Graph> {
        let search = Search { disconnected: Disconnected::Separate, ..self.recipe.search() };
        let data = Data::from(points).measured_by(self.recipe.metric);
        Ok(match &self.recipe.learned {
            Some(drill) => drill.graph(&search, data, self.recipe.memory, self.observer)?.0.graph,
            None => data.neighbors(&search, self.observer)?.graph,
        })
    }

    /// Stages 2 and 3 over the whole, or component by component.
    fn fit(&self, found: Option<&Found>) -> Result<Model> {
        if let Some(found) = found.filter(|f| f.sizes.len() > 1 && self.recipe.disconnected == Disconnected::Separate) {
            if self.recipe.snapshots > 0 {
                let fact = format!(
                    "`snapshots` show one optimization, and the graph has {} connected components",
                    found.sizes.len()
                );
                return Err(Error::inapplicable("snapshots", fact, "use `disconnected` join, or leave them out"));
            }
            return self.fit_components(found);
        }
        let Fitted { embedding, part, report, weights, certificate, snapshots } =
            self.fit_one(found.map(|f| &f.graph), self.recipe.dims)?;
        let certificates = certificate.into_iter().collect();
        Ok(Model { weights, certificates, snapshots, ..Model::new(embedding, vec![part], report) })
    }

    /// Every component on its own, largest first, side by side along the first coordinate.
    fn fit_components(&self, found: &Found) -> Result<Model> {
        if self.input.neighbors.is_some() && self.recipe.method.nearest(self.input.data)?.is_some() {
            let name = self.recipe.method.info().name;
            let fact = format!("{name} needs the nearest neighbors within each component, and those of all are given");
            return Err(Error::inapplicable("disconnected", fact, "use `disconnected` join, or leave them out"));
        }
        let (n, dims) = (found.graph.len(), self.recipe.dims);
        let mut values = vec![0.0; n * dims];
        let (mut parts, mut whole) = (Vec::new(), None::<Report>);
        let (mut all_weights, mut certificates) = (Vec::<Weight>::new(), Vec::new());
        let mut edge = 0.0;
        let mut placed = 0;
        for component in 0..found.sizes.len() {
            let rows: Vec<usize> = (0..n).filter(|&i| found.component_of[i] as usize == component).collect();
            let [_, share, _] =
                Share::split(self.observer, [placed, rows.len(), n - placed - rows.len()].map(|rows| rows as f64));
            placed += rows.len();
            let Fitted { embedding, mut part, report, weights, certificate, .. } =
                Stages { observer: &share, ..*self }.fit_component(&rows, &found.graph)?;
            let in_input = |w: Weight| Weight { i: rows[w.i as usize] as u32, j: rows[w.j as usize] as u32, ..w };
            all_weights.extend(weights.into_iter().flatten().map(in_input));
            let in_rows = |c: Certificate| Certificate { rows: rows.iter().map(|&i| i as u32).collect(), ..c };
            certificates.extend(certificate.map(in_rows));
            let column = || (0..rows.len()).map(|i| embedding.row(i)[0]);
            let (low, high) = (column().fold(f64::MAX, f64::min), column().fold(f64::MIN, f64::max));
            let gap = if component == 0 { 0.0 } else { 0.05 * (edge + high - low) };
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
        Ok(Model { weights, certificates, ..Model::new(Points::computed(n, dims, values)?, parts, whole) })
    }

    fn fit_component(&self, rows: &[usize], graph: &Graph) -> Result<Fitted> {
        let dims = self.recipe.dims.min(rows.len() - 1);
        if dims == 0 {
            let embedding = Points::new(1, 1, vec![0.0])?;
            // One point has no directions, and so no part in the likelihood.
            let likelihood = Some(Observation::default());
            let report = Report { likelihood, ..Report::default() };
            let (part, snapshots) = (Part::alone(), Vec::new());
            return Ok(Fitted { embedding, part, report, weights: None, certificate: None, snapshots });
        }
        let init = self.input.init.map(|init| init.select(rows).first_columns(dims));
        let labels: Option<Vec<_>> = self.input.labels.map(|labels| rows.iter().map(|&i| labels[i]).collect());
        self.input.data.of_some(rows, |data| {
            let input = Input { init: init.as_ref(), labels: labels.as_deref(), ..data.into() };
            Stages { input, ..*self }.fit_one(Some(&graph.induced(rows)), dims)
        })
    }

    /// Stages 2 and 3 over one connected whole.
    fn fit_one(&self, graph: Option<&Graph>, dims: usize) -> Result<Fitted> {
        let [_, field, coordinates, likelihood] = self.recipe.efforts(self.input.data);
        let [second, third, last] = Share::split(self.observer, [field, coordinates, likelihood]);
        let (second, third) = (second.of_stage(Stage::Field), third.of_stage(Stage::Coordinates));
        let last = last.of_stage(Stage::Likelihood);
        let in_third = Stages { observer: &third, ..*self };
        let start = Instant::now();
        let in_second = Stages { observer: &second, ..*self };
        let nearest = in_second.nearest(dims)?;
        let graph_seconds = start.elapsed().as_secs_f64();
        self.predict(nearest.as_ref().map_or(0, |found| found.memory));
        let start = Instant::now();
        let spent = self.spent + nearest.as_ref().map_or(0, |found| EDGE * found.graph.edge_count() as u64);
        let mut built = Stages { spent, ..in_second }.built(graph, nearest.as_ref().map(|found| &found.graph), dims)?;
        if self.recipe.rescale.is_some() && built.field().is_none() {
            let (name, fact) = (self.recipe.method.info().name, "already fits the lengths of its map");
            return Err(Error::inapplicable("rescale", format!("{name} {fact}"), "leave out `rescale`"));
        }
        // A fit that descends to its coordinates itself says that it took the start.
        let took_start = built.used.iter().any(|(name, _)| *name == "init");
        if self.input.init.is_some() && !matches!(built.task, Task::Descend(_)) && !took_start {
            let name = self.recipe.method.info().name;
            return Err(Error::inapplicable(
                "init",
                format!("{name} is not an iterative optimization and takes no start"),
                "leave out `init`",
            ));
        }
        match &mut built.task {
            Task::Descend(descend) => descend.snapshots = self.recipe.snapshots,
            Task::Spectral(_) | Task::Solved(_) if self.recipe.snapshots > 0 => {
                let name = self.recipe.method.info().name;
                return Err(Error::inapplicable(
                    "snapshots",
                    format!("{name} is not an iterative optimization"),
                    "leave out `snapshots`",
                ));
            }
            Task::Spectral(_) | Task::Solved(_) => {}
        }
        let field_seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let width = self.recipe.rescale.map_or(dims, |requested| requested.min(self.input.data.len() - 1));
        let (mut map, k) = in_third.map(&mut built, graph, width)?;
        // The likelihood is that of the method's own coordinates.
        let own: Option<Points> = self.recipe.rescale.map(|_| map.coordinates.first_columns(dims));
        let mut rescale = None;
        if let Some(graph) = graph.filter(|_| self.recipe.rescale.is_some()) {
            let memory = self.memory();
            rescale = Some(coordinates::rescale(&mut map, dims, graph, built.field(), memory, in_third.observer)?);
            built.rule = Rule::barycenter(REGULARIZATION);
        }
        let coordinates_seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let (likelihood, likelihood_left_out) = Stages { observer: &last, ..*self }.likelihood(
            &built,
            own.as_ref().unwrap_or(&map.coordinates),
            &mut map.diagnostics.warnings,
        )?;
        let Map { coordinates: embedding, mut diagnostics } = map;
        // A rescaled map has other lengths.
        diagnostics.explained = built.explained.or(diagnostics.explained).filter(|_| self.recipe.rescale.is_none());
        let own = built.log_likelihood.map(|value| (Figure::LogLikelihood, value));
        let figures = built.figures.into_iter().chain(diagnostics.figures.drain(..)).chain(own).collect();
        let mut warnings = built.warnings;
        warnings.append(&mut diagnostics.warnings);
        warnings.extend(nearest.as_ref().and_then(|found| self.exact_anyway(found)));
        let snapshots = std::mem::take(&mut diagnostics.snapshots);
        let part = Part {
            rows: Vec::new(),
            shift: 0.0,
            k,
            width: embedding.cols(),
            eigenvalues: diagnostics.eigenvalues.iter().copied().take(embedding.cols()).collect(),
            rule: Some(built.rule),
        };
        let chosen =
            built.used.into_iter().map(|(name, used)| Used { name: name.into(), requested: "auto".into(), used });
        let report = Report {
            seconds: Seconds {
                graph: graph_seconds,
                field: field_seconds,
                coordinates: coordinates_seconds,
                likelihood: start.elapsed().as_secs_f64(),
            },
            parameters: chosen.collect(),
            graph: nearest.as_ref().map(GraphReport::searched).unwrap_or_default(),
            likelihood,
            likelihood_left_out,
            figures,
            certificate: built.certificate.as_ref().map(|certificate| certificate.claimed),
            path: built.path,
            ended: built.ended.max(diagnostics.ended),
            warnings,
            coordinates: diagnostics,
            rescale,
            ..Report::default()
        };
        let learned = match &built.task {
            Task::Descend(descend) if self.recipe.affinities => descend.objective.affinities(embedding.values()),
            _ => None,
        };
        let (weights, certificate) = (learned.or(built.weights), built.certificate);
        Ok(Fitted { embedding, part, report, weights, certificate, snapshots })
    }

    /// Stage 1, for a method that needs nearest neighbors beside the graph of the recipe.
    fn nearest(&self, dims: usize) -> Result<Option<Found>> {
        let Some(request) = self.recipe.method.nearest(self.input.data)? else { return Ok(None) };
        self.observer.progress(Stage::Graph, 0.0);
        if let Some(known) = self.input.neighbors {
            let search = Search { disconnected: Disconnected::Separate, ..self.recipe.search() };
            let found = search.of_graph(&first(known, request.k, request.parameter)?)?;
            return Ok(Some(Found { route: GraphReport::GIVEN, ..found }));
        }
        request.search(&self.site(None, None, dims)).map(Some)
    }

    /// What a method of stage 2 is given.
    fn site<'b>(&'b self, graph: Option<&'b Graph>, nearest: Option<&'b Graph>, dims: usize) -> Site<'b> {
        Site {
            data: self.input.data,
            graph,
            nearest,
            regraph: None,
            start: self.input.init,
            labels: self.input.labels,
            recall: self.recipe.recall(),
            dims,
            seed: self.recipe.seed,
            memory: self.memory(),
            budget: self.budget,
            observer: self.observer,
        }
    }

    /// Stage 2. A method that was stopped gives what it has.
    fn built(&self, graph: Option<&Graph>, nearest: Option<&Graph>, dims: usize) -> Result<Built> {
        self.observer.progress(Stage::Field, 0.0);
        let regraph = |points: &Points| self.regraph(points);
        // Neighbors that are given stay the same for some of the features, as a given graph does.
        let regraph: Option<&Regraph<'_>> = if self.input.neighbors.is_some() { None } else { Some(&regraph) };
        self.recipe.method.build(&Site { regraph, ..self.site(graph, nearest, dims) })
    }

    /// Stage 3: the coordinates of all points, and how many neighbors a new point gets. The rule learns what it could not
    /// know before.
    fn map(&self, built: &mut Built, graph: Option<&Graph>, dims: usize) -> Result<(Map, usize)> {
        // What was stopped before it converged is still brought to coordinates.
        let stopped = self.observer.stop() && !built.ended.is_converged();
        let observer: &dyn Observer = if stopped { &Silent } else { self.observer };
        self.observer.progress(Stage::Coordinates, 0.0);
        let mut map = coordinates::map(&mut built.task, dims, self.recipe.seed, self.memory(), observer)?;
        self.predict(map.diagnostics.memory);
        let (n, k) = (self.input.data.len(), built.neighbors_of(graph));
        if let Some(rule) = built.rule.inner_mut() {
            rule.learn(self.input.data, &map);
        }
        if map.coordinates.rows() < n {
            let points = match self.input.data {
                Data::Points(points, metric) => Some((points, metric)),
                Data::Distances(_) | Data::Graph(_) => None,
            };
            let known =
                Known { points, k, map: &map.coordinates, eigenvalues: &map.diagnostics.eigenvalues, radius: None };
            map.coordinates = match (&built.rule, built.swept.take()) {
                (Rule::Gower(gower), Some(swept)) => gower.place_swept(&known, &swept)?,
                (rule, _) => rule.place_all(&known, self.input.data, built.geodesics.take())?,
            };
        }
        Ok((map, k))
    }

    /// Counts what a stage is predicted to take.
    fn predict(&self, needed: u64) {
        if let Some(budget) = self.budget {
            budget.predict(needed, self.memory());
        }
    }

    /// How many bytes may be allocated.
    fn memory(&self) -> u64 {
        self.recipe.memory.unwrap_or_else(memory::available).saturating_sub(self.spent)
    }

    /// The likelihood of the points under what was built, and whether it was left out for its price.
    fn likelihood(
        &self,
        built: &Built,
        map: &Points,
        warnings: &mut Vec<Warning>,
    ) -> Result<(Option<Observation>, bool)> {
        let requested = self.recipe.likelihood;
        let Some(points) = self.input.data.points().filter(|_| requested != Likelihood::Never) else {
            return Ok((None, false));
        };
        let budget = Budget { likelihood: requested, memory: self.memory() };
        let Some(density) = Density::new(built.field(), &|| Ok(map.clone()), points, &budget)? else {
            return Ok((None, true));
        };
        let fitted = match density.fit_points(points, self.observer) {
            // The map is there already.
            Err(Error::Stopped) => {
                warnings.push(Warning::Stopped("stopped before the likelihood was computed".into()));
                return Ok((None, false));
            }
            fitted => fitted?,
        };
        match &fitted {
            None => warnings.push(Warning::Likelihood(
                "the points have no likelihood under the model: they coincide, or its precision matrix is singular"
                    .into(),
            )),
            Some(fitted) if fitted.noise_at_floor => warnings.push(Warning::Likelihood(format!(
                "the likelihood has no maximum: the points lie in the field's free directions, and the others got the \
                 least variance that is allowed, {FLOOR:.0e} of the data's",
            ))),
            Some(_) => {}
        }
        Ok((fitted, false))
    }

    /// What the points would be drawn from, whatever it costs: stages 1 and 2, and stage 3 where the map stands for the
    /// covariance. Nothing if it is singular.
    pub(crate) fn density(&self) -> Result<Option<Density>> {
        let stages = *self;
        let [first, second, third, _] = Share::split(self.observer, self.recipe.efforts(self.input.data));
        let (first, second) = (first.of_stage(Stage::Graph), second.of_stage(Stage::Field));
        let third = third.of_stage(Stage::Coordinates);
        let graph = Stages { observer: &first, ..stages }.graph()?;
        let graph = graph.as_ref().map(|(found, _)| &found.graph);
        let in_second = Stages { observer: &second, ..stages };
        let nearest = in_second.nearest(self.recipe.dims)?;
        let mut built = in_second.built(graph, nearest.as_ref().map(|found| &found.graph), self.recipe.dims)?;
        let Some(points) = self.input.data.points() else { return Ok(None) };
        let budget = Budget { likelihood: Likelihood::Always, memory: self.memory() };
        if built.field().is_some_and(|field| field.is_precision_of(points.rows())) {
            return Density::new(built.field(), &|| Err(Error::Stopped), points, &budget);
        }
        let map = Stages { observer: &third, ..stages }.map(&mut built, graph, self.recipe.dims)?.0.coordinates;
        Density::new(None, &|| Ok(map.clone()), points, &budget)
    }

    /// The warning of a search that was exact although it was allowed to miss neighbors.
    fn exact_anyway(&self, found: &Found) -> Option<Warning> {
        let why = found.exact_because.filter(|_| self.recipe.approximate == Some(true))?;
        Some(Warning::Parameter(format!("`approximate` was not used, the neighbors are exact: {why}")))
    }

    /// Completes the report with what the stages do not know of themselves.
    fn describe(&self, model: &mut Model, found: Option<&Found>) {
        let recipe = self.recipe;
        model.recipe = recipe.clone();
        model.kind = self.input.data.kind();
        if self.input.neighbors.is_some() && recipe.approximate.is_some() {
            let message = "`approximate` was not used: the neighbors are given";
            model.report.warnings.push(Warning::Parameter(message.into()));
        }
        let report = &mut model.report;
        report.method = recipe.method.info().name.into();
        report.n = model.embedding.rows();
        report.fitted_rows = report.n as u64;
        report.features = self.input.data.points().map(Points::cols);
        report.dims = recipe.dims;
        let cells = self.input.data.table().map_or(0, |table| table.missing().len());
        if cells > 0 {
            report.figures.push((Figure::MissingCells, cells as f64));
        }
        if let Data::Distances(distances) = self.input.data {
            report.add_completion(distances.completion());
        }
        if let Some(found) = found {
            report.graph = GraphReport {
                components: found.sizes.clone(),
                linking_edges: found.linking_edges.len(),
                connecting_k: found.connecting_k,
                recall: found.recall.or(report.graph.recall),
                route: Some(found.route.into()),
            };
            report.warnings.extend(self.exact_anyway(found));
            if found.sizes.len() > 1 {
                report.warnings.insert(0, Warning::Disconnected(components_message(found, recipe.disconnected)));
            }
        }
        let parameters = recipe.method.parameters();
        let chosen = std::mem::take(&mut report.parameters);
        report.parameters = parameters
            .iter()
            .map(|p| {
                let used = chosen.iter().find(|c| c.name == p.name).map_or(&p.value, |c| &c.used);
                Used { name: p.name.into(), requested: p.value.clone(), used: used.clone() }
            })
            .collect();
        let extra = chosen.into_iter().filter(|c| !parameters.iter().any(|p| p.name == c.name));
        report.parameters.extend(extra);
    }
}

/// One message: the sizes, what was done, and a k that connects.
fn components_message(found: &Found, disconnected: Disconnected) -> String {
    let sizes = sizes_text(&found.sizes);
    let done = match disconnected {
        Disconnected::Separate => "each was embedded on its own".into(),
        _ if found.linking_edges.len() == 1 => "joined by the shortest linking edge".into(),
        _ => format!("joined by the {} shortest linking edges", found.linking_edges.len()),
    };
    let way = found.connecting_k.map_or(String::new(), |k| format!("; `neighbors` {k} connects the graph"));
    format!("the graph has {} connected components ({sizes}), {done}{way}", found.sizes.len())
}
