//! `eigenfold embed`: read, fit, and write the requested outputs, all or nothing.

use crate::args::Embed;
use crate::drawing::{self, Shown};
use crate::dropped_rows::Kept;
use crate::fit_rows::{self, Passed, Sampled};
use crate::flags::{DisconnectedName, HeldOutWhat, with_flags};
use crate::hints::poor;
use crate::input::LoadedInput;
use crate::labels::{Along, CHUNK};
use crate::outputs::{self, Outputs, Trial, Wanted};
use crate::progress::{self, Bar};
use crate::report::{self, Spent, Story};
use crate::snapshots::Snapshots;
use crate::{effective_parameters, imputed, input, one_line, own_neighbors, preparing, request, say};
use eigenfold::{
    Count, DimsChoice, Error, Graph, HeldOut, Input, Likelihood, Method, Model, NeighborsChoice, Owned, Points, Recipe,
    Request, Result, Share,
    compare::unsolved,
    contract::Kind,
    io,
    io::schema::Role,
    io::{Carried, Cells, write_bytes_atomically, write_error, write_weights},
    quality::procrustes::{Aligned, align},
};
use eigenfold_plot::Format;
use serde_json::json;
use std::borrow::Cow;
use std::path::Path;
use std::time::Instant;

/// Runs the command.
pub(crate) fn run(args: &Embed) -> Result<()> {
    input::use_threads(args.common.threads)?;
    let mut request = request::of_embed(args);
    let init = Start::of(&mut request)?;
    let mut recipe = request.recipe()?;
    args.drawing.check(args.plot.as_deref(), args.carry.names.is_some())?;
    if let Some(plot) = &args.plot_neighbors {
        Format::of(Path::new(plot))?;
    }
    let auto = request.chooses_neighbors();
    if args.held_out == Some(HeldOutWhat::Rows) {
        let fact = "embed holds out features, not rows";
        return Err(Error::parameter(
            "held-out",
            fact,
            "use --held-out features, or transform and reconstruct for rows",
        ));
    }
    let holds_out = args.held_out == Some(HeldOutWhat::Features);
    if args.plot_neighbors.is_some() && !auto {
        return Err(Error::inapplicable("plot-neighbors", "--plot-neighbors draws what -k auto tried", "add -k auto"));
    }
    if args.save.as_deref() == Some(Path::new("-")) {
        return Err(Error::parameter("save", "a model cannot go to standard output", "give --save a file"));
    }
    if args.align.is_some() && args.save.is_some() {
        return Err(Error::inapplicable(
            "save",
            "--align applies to -o and --plot, not to the model",
            "leave out --save",
        ));
    }
    if args.align.is_some() && args.drawing.shade {
        return Err(Error::inapplicable("align", "--shade applies to the model's own embedding", "leave out --align"));
    }
    if args.weights.is_some() && !recipe.method.has_weights() {
        let (all, name) = (Method::all(), recipe.method.info().name);
        let with: Vec<&str> = all.iter().filter(|m| m.has_weights()).map(|m| m.info().name).collect();
        return Err(Error::inapplicable(
            "weights",
            format!("{name} has no fitted edge weights"),
            format!("--weights is for {}", with.join(", ")),
        ));
    }
    imputed::check(args, &recipe.method)?;
    fit_rows::check(args)?;
    own_neighbors::check_embed(args)?;
    if args.fit_rows.is_some() && matches!(init, Some(Start::File(_))) {
        let fact = "--init FILE has coordinates of all rows, and the model has a sample of them";
        return Err(Error::parameter("fit-rows", fact, "leave out --init"));
    }
    let mut given = wanted(args);
    if given.is_empty() && args.snapshots.is_none() {
        given.push(Wanted { flag: "-o", target: Path::new("-"), trial: try_coordinates });
    }
    let inputs: Vec<&Path> = args
        .input
        .sources()
        .into_iter()
        .chain(args.align.as_deref())
        .chain(args.neighbors_from.as_deref())
        .chain(args.carry.inputs())
        .collect();
    outputs::check(&inputs, &given)?;
    let snapshots = Snapshots::of(args, &recipe.method)?;
    recipe.snapshots = snapshots.most;

    let bar = Bar::new(args.common.quiet);
    let [reading, counting, choosing, starting, fitting, evaluating, _] = shares(args, &bar, init.as_ref());
    bar.say("reading");
    let start = Instant::now();
    let (loaded, sampled) = match args.fit_rows {
        Some(requested) => fit_rows::sample(args, requested, &bar, &reading).map(|(all, some)| (all, Some(some)))?,
        None => (input::read(&args.input, &args.carry, args.input_kind, &args.preparing, args.memory, &reading)?, None),
    };
    let LoadedInput { data, along, names, schema, rows, mut notes } = loaded;
    request.indicators = schema.indicators().collect();
    recipe.preparation = request.preparation()?;
    notes.extend(along.note());
    // Before the work, so that a file that cannot be read costs none.
    let lenient = io::ReadOptions { missing: rows.is_some(), ..io::ReadOptions::default() };
    let reference = args.align.as_ref().map(|name| io::read_map(name, &lenient)).transpose()?;
    let reference = reference.map(|table| picked(rows.as_ref(), table.points)).transpose()?;
    let known = args.neighbors_from.as_deref().map(|from| {
        let (graph, guessed) = own_neighbors::read(from, data.view().len(), rows.as_ref(), args.memory)?;
        notes.extend(guessed);
        Ok::<Graph, Error>(graph)
    });
    let known = known.transpose()?;
    let read = start.elapsed().as_secs_f64();
    progress::go_on()?;

    let start = Instant::now();
    let classes = along.labels.as_ref().and_then(|labeled| labeled.labels.classes());
    let dims = match request.chooses_dims() {
        true => Some(recipe.choose_dims(points(&data, "-d auto")?, &counting)?),
        false => None,
    };
    if let Some(dims) = &dims {
        recipe.dims = dims.chosen;
    }
    let features = if let Owned::Points(points) = &data { Some(points.cols()) } else { None };
    args.drawing.check_data(features, recipe.dims, along.names.is_some())?;
    let labels = classes.as_deref();
    let choice = match auto {
        true => {
            let input = Input { labels, ..points(&data, "-k auto")?.into() };
            Some(recipe.choose_neighbors(input, &choosing)?)
        }
        false => None,
    };
    if let Some(choice) = &choice {
        recipe.neighbors = choice.neighbors(recipe.neighbors);
    }
    let choose = if auto || dims.is_some() { start.elapsed().as_secs_f64() } else { 0.0 };
    let init =
        init.map(|init| init.coordinates(&recipe, (&data, known.as_ref()), rows.as_ref(), &starting)).transpose()?;
    // Of a table of features alone the model knows all by their names.
    let kept = schema.columns.iter().any(|column| column.role != Role::Data);
    let schema = Some(&schema).filter(|_| kept && matches!(data, Owned::Points(_)));
    let input = Input {
        labels,
        names: names.as_deref(),
        init: init.as_ref(),
        schema,
        neighbors: known.as_ref(),
        ..data.view().into()
    };
    let model = recipe.fit(input, &fitting)?;
    let start = Instant::now();
    let held_out = match holds_out {
        true => Some(recipe.held_out(Input { labels, ..points(&data, "--held-out")?.into() }, &evaluating)),
        false => None,
    };
    let held_out_seconds = if holds_out { start.elapsed().as_secs_f64() } else { 0.0 };
    let aligned = reference.map(|reference| align(model.embedding(), &reference)).transpose()?;
    let stopped = progress::start_writing_what_there_is();
    // A descent that ends early has a map; a solver that does has vectors that are no eigenvectors yet.
    if stopped && unsolved(&model) {
        return Err(Error::Stopped);
    }
    // What was stopped in time for a map is not lost for what comes after it.
    let held_out = held_out.filter(|found| !matches!(found, Err(Error::Stopped))).transpose()?;
    let spent = Spent { read, choose, held_out: held_out_seconds, write: 0.0 };
    bar.say("writing");
    write(
        args,
        &Fit { model, rows, aligned, choice, dims, held_out, snapshots, stopped, notes, sampled },
        &data,
        along,
        spent,
        &bar,
    )
}

/// The shares of the whole command: reading, counting dimensions, choosing neighbors, making a start, the fit, the diagnostics,
/// and writing. All but the first and the last are counted in fits.
fn shares<'a>(args: &Embed, bar: &'a Bar, init: Option<&Start>) -> [Share<'a>; 7] {
    let effort_if = |runs: bool, effort: f64| if runs { effort } else { 0.0 };
    let trials = effort_if(args.neighbors.k == Some(Count::Auto), 10.0);
    let start = effort_if(matches!(init, Some(Start::Method(_))), 0.5);
    let dims = effort_if(args.dims == Some(Count::Auto), 0.5);
    let efforts = [0.03, dims, trials, start, 1.0, effort_if(args.held_out == Some(HeldOutWhat::Features), 5.0), 0.03];
    Share::split(bar, efforts).map(Share::even)
}

/// What a run found.
struct Fit {
    model: Model,
    /// The rows of the input that it is of, if some were dropped.
    rows: Option<Kept>,
    /// The map aligned with another, if requested.
    aligned: Option<Aligned>,
    choice: Option<NeighborsChoice>,
    dims: Option<DimsChoice>,
    held_out: Option<HeldOut>,
    snapshots: Snapshots,
    /// Whether Ctrl-C ended it early.
    stopped: bool,
    /// What was guessed about the input.
    notes: Vec<String>,
    /// The sample that was fitted, if not all rows were.
    sampled: Option<Sampled>,
}

impl Fit {
    /// The map as it is shown.
    fn map(&self) -> &Points {
        self.aligned.as_ref().map_or(self.model.embedding(), |aligned| &aligned.map)
    }

    /// The map with a row for every row of the input.
    fn spread(&self) -> Result<Cow<'_, Points>> {
        Ok(match &self.rows {
            Some(kept) => Cow::Owned(kept.spread(self.map())?),
            None => Cow::Borrowed(self.map()),
        })
    }
}

/// The kept rows of a map that has all of them.
fn picked(rows: Option<&Kept>, map: Points) -> Result<Points> {
    match rows {
        Some(kept) => kept.pick(map),
        None => Ok(map),
    }
}

/// The points, for what needs features.
fn points<'a>(data: &'a Owned, flag: &str) -> Result<&'a Points> {
    match data {
        Owned::Points(points) => Ok(points),
        _ => Err(Error::input_kind(
            &["points"],
            format!("{flag} needs points with features"),
            "leave it out, or give --input-kind points",
        )),
    }
}

/// Writes the requested outputs, or the coordinates to standard output if there are none.
fn write(args: &Embed, fit: &Fit, data: &Owned, along: Along, spent: Spent, bar: &Bar) -> Result<()> {
    let model = &fit.model;
    let output =
        if wanted(args).is_empty() && args.snapshots.is_none() { Some(Path::new("-")) } else { args.output.as_deref() };
    let parameters = effective_parameters::parameters(args, model);
    let mut warnings: Vec<String> = fit.notes.iter().map(|note| one_line(note)).collect();
    warnings.extend(model.report().warnings.iter().map(|warning| with_flags(warning.message())));
    warnings.extend(effective_parameters::unused_flags(args, model.recipe()));
    warnings.extend(effective_parameters::exact_anyway(args, model));
    let near = if fit.stopped { None } else { model.neighborhoods()? };
    warnings.extend(poor(args, model, near.as_ref()));
    let start = Instant::now();
    let mut outputs = Outputs::default();
    let mut passed = None;
    if let (Some(sampled), Some(target)) = (&fit.sampled, output) {
        bar.say("embedding the other rows");
        let (stream, found) = sampled.embed_all(args, model, target, bar)?;
        stream.map(|stream| outputs.finish(stream)).transpose()?;
        warnings.extend(found.notes());
        passed = Some(found);
        bar.say("writing");
    }
    if fit.stopped && args.held_out == Some(HeldOutWhat::Features) && fit.held_out.is_none() {
        warnings.push("stopped before the features were held out".into());
    }
    let story = |spent| Story {
        report: model.report(),
        parameters: &parameters,
        choice: fit.choice.as_ref(),
        dims: fit.dims.as_ref(),
        held_out: fit.held_out.as_ref(),
        near,
        warnings: &warnings,
        spent,
    };

    if let Some(target) = output.filter(|_| fit.sampled.is_none()) {
        let carried = beside(args, fit, along.kept, target);
        let map = fit.spread()?;
        outputs.stage(target, move |name| write_map(name, &map, &carried))?;
    }
    if let Some(target) = &args.plot {
        let format = Format::of(Path::new(target))?;
        let (labels, names) = (along.labels, along.names.as_deref());
        let shown = Shown { model, map: fit.map(), data, labels, names, parameters: &parameters };
        let bytes = drawing::picture(args, shown, format)?;
        outputs.stage(target, move |name| write_bytes(name, &bytes))?;
    }
    if let (Some(target), Some(choice)) = (&args.plot_neighbors, &fit.choice) {
        let format = Format::of(Path::new(target))?;
        let bytes = drawing::curve(args, model, choice, format)?;
        outputs.stage(target, move |name| write_bytes(name, &bytes))?;
    }
    if let Some(target) = &args.save {
        outputs.stage(target, |name| model.save(Path::new(name)))?;
    }
    if let Some(target) = &args.weights {
        let weights = model.weights().unwrap_or_default();
        let weights = fit.rows.as_ref().map_or(Cow::Borrowed(weights), |kept| Cow::Owned(kept.weights(weights)));
        outputs.stage(target, move |name| write_weights(name, &weights))?;
    }
    fit.snapshots.stage(args, model.snapshots(), fit.rows.as_ref(), &mut outputs)?;
    imputed::stage(args, data, model, &mut outputs)?;
    if let Some(target) = &args.json {
        let mut value = report::json(&story(Spent { write: start.elapsed().as_secs_f64(), ..spent }));
        if let Some(aligned) = &fit.aligned {
            value["alignment"] = json!({"reference": args.align.as_ref().map(|name| name.display().to_string()), "disparity": aligned.disparity});
        }
        if let Some(kept) = &fit.rows {
            value["dropped"] = kept.json();
        }
        if let Some(sampled) = &fit.sampled {
            value["fit_rows"] = sampled.json();
        }
        if let Some((far, dropped)) = passed.as_ref().map(Passed::json) {
            value["far"] = far;
            if let Some(dropped) = dropped {
                value["dropped"] = dropped;
            }
        }
        if let Some(columns) = preparing::columns(model) {
            value["columns"] = columns;
        }
        if let Some(prepared) = preparing::json(model) {
            value["prepared"] = prepared;
        }
        if let Some(maps) = fit.snapshots.json(args, model.snapshots(), fit.rows.as_ref()) {
            value["snapshots"] = maps;
        }
        outputs.stage(target, move |name| report::write_json(name, &value))?;
    }
    if !fit.stopped {
        progress::go_on()?;
    }
    bar.finish();
    outputs.commit()?;
    say(args.common.quiet, &report::summary(&story(Spent { write: start.elapsed().as_secs_f64(), ..spent })));
    fit.sampled.iter().for_each(|sampled| say(args.common.quiet, &sampled.note()));
    Ok(())
}

/// Where a descent starts that does not start where its method would.
enum Start {
    /// From the map of another method.
    Method(Method),
    /// From coordinates in a file.
    File(String),
}

impl Start {
    /// The start that `--init` names, if it is a method or a file; what is left in the request is a value of the method's own.
    fn of(request: &mut Request) -> Result<Option<Start>> {
        let method = request.named_method()?;
        let start = request.parameters.get("init").and_then(|value| Start::read(&method, value)).transpose()?;
        if start.is_some() {
            request.parameters.remove("init");
        }
        Ok(start)
    }

    /// Whatever `--init` names that is no value of the method's own: a method, or a file.
    fn read(method: &Method, value: &str) -> Option<Result<Start>> {
        let own = method.possible_parameters().into_iter().find(|parameter| parameter.name == "init")?;
        let Kind::Choice(names) = own.kind else { return None };
        if names.iter().any(|named| named.name == value || named.aliases.contains(&value)) {
            return None;
        }
        if Path::new(value).is_file() {
            return Some(Ok(Start::File(value.into())));
        }
        let choices: Vec<&str> = names.iter().map(|named| named.name).collect();
        let wrong = |_| {
            let ways = "the name of a method, or a file of coordinates";
            Error::parameter(
                "init",
                format!("--init {value:?} is not a start"),
                format!("give {}, {ways}", choices.join(", ")),
            )
        };
        Some(Method::from_name(value).map_err(wrong).map(Start::Method))
    }

    fn coordinates(
        &self,
        recipe: &Recipe,
        (data, known): (&Owned, Option<&Graph>),
        rows: Option<&Kept>,
        share: &Share<'_>,
    ) -> Result<Points> {
        match self {
            Start::Method(method) => {
                let likelihood = Likelihood::Never;
                let recipe = Recipe {
                    method: method.clone(),
                    likelihood,
                    rescale: None,
                    snapshots: 0,
                    affinities: false,
                    ..recipe.clone()
                };
                // A method that has the same graph has the same neighbors; others choose their number of them.
                let neighbors = known.filter(|_| recipe.method.info().needs_graph);
                Ok(recipe.fit(Input { neighbors, ..data.view().into() }, share)?.embedding().clone())
            }
            Start::File(name) => {
                let (memory, missing) = (recipe.memory, rows.is_some());
                let table = io::read_map(name, &io::ReadOptions { memory, missing, ..Default::default() })?;
                input::say_notes(&input::with_flag_names(&table.notes), false);
                picked(rows, table.points)
            }
        }
    }
}

/// The outputs that the flags name, each with a way to try it.
fn wanted(args: &Embed) -> Vec<Wanted<'_>> {
    let all: [(&'static str, Option<&Path>, Trial); 9] = [
        ("-o", args.output.as_deref(), if args.carry.keep.is_empty() { try_coordinates } else { try_kept }),
        ("--plot", args.plot.as_deref(), try_bytes),
        ("--plot-neighbors", args.plot_neighbors.as_deref(), try_bytes),
        ("--save", args.save.as_deref(), try_bytes),
        ("--weights", args.weights.as_deref(), try_coordinates),
        ("--path", args.path.as_deref(), try_coordinates),
        ("--completed", args.completed.as_deref(), try_coordinates),
        ("--completed-std", args.completed_std.as_deref(), try_coordinates),
        ("--json", args.json.as_deref(), try_bytes),
    ];
    let given = all.into_iter().filter_map(|(flag, target, trial)| target.map(|target| (flag, target, trial)));
    given.map(|(flag, target, trial)| Wanted { flag, target, trial }).collect()
}

/// What goes beside the coordinates: the kept columns, and the component of every row where components were kept apart.
fn beside(args: &Embed, fit: &Fit, kept: Vec<Carried>, target: &Path) -> Vec<Carried> {
    let npy = Path::new(target).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
    let mut carried = kept;
    if args.neighbors.disconnected == Some(DisconnectedName::Separate) && !npy {
        let components = fit.model.components().unwrap_or_else(|| vec![0; fit.map().rows()]);
        let of: Vec<f64> = components.into_iter().map(|component| f64::from(component) + 1.0).collect();
        let components = match &fit.rows {
            Some(kept) => kept.among_all(&of).into_iter().map(|component| component.unwrap_or(f64::NAN)).collect(),
            None => of,
        };
        carried.insert(0, Carried { name: CHUNK.into(), cells: Cells::Numbers(components) });
    }
    carried
}

/// Writes an embedding and what goes beside it; also what `transform` writes.
pub(crate) fn write_map(target: &Path, points: &Points, carried: &[Carried]) -> Result<()> {
    io::write(target, &input::numbered("y", points.cols()), points, carried)
}

/// Writes coordinates alone.
pub(crate) fn write_coordinates(target: &Path, points: &Points) -> Result<()> {
    write_map(target, points, &[])
}

/// Writes one point and what goes beside it, to see whether a file of both can be written there.
pub(crate) fn try_kept(target: &Path) -> Result<()> {
    let one = Carried { name: "id".into(), cells: Cells::Numbers(vec![0.0]) };
    write_map(target, &Points::new(1, 1, vec![0.0])?, &[one])
}

/// Writes one point, to see whether a file of points can be written there.
pub(crate) fn try_coordinates(target: &Path) -> Result<()> {
    write_coordinates(target, &Points::new(1, 1, vec![0.0])?)
}

/// Writes nothing, to see whether a file can be there.
pub(crate) fn try_bytes(target: &Path) -> Result<()> {
    write_bytes(target, &[])
}

pub(crate) fn write_bytes(target: &Path, bytes: &[u8]) -> Result<()> {
    write_bytes_atomically(target, |out| out.write_all(bytes).map_err(|source| write_error(target, source)))
}
