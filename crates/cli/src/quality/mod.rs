//! `eigenfold quality`: measures of any embedding.

mod likelihood;
mod report;

use crate::args::Quality as Flags;
use crate::embed::{try_bytes, write_bytes};
use crate::flags::YesNo;
use crate::input::{self, LoadedInput};
use crate::labels::Carry;
use crate::outputs::{self, Outputs, Trial, Wanted};
use crate::progress::{self, Bar};
use crate::report::{grouped, plural, write_json};
use crate::{preparing, request, say};
use eigenfold::{
    Data, Error, Observer, Owned, Points, Result, Share, io,
    io::ReadOptions,
    quality,
    quality::{Evaluation, Group, Quality},
};
use eigenfold_plot::Format;
use likelihood::Likelihood;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::time::Instant;

/// The most points whose likelihood is computed by default: half a minute or so.
const MOST_BY_DEFAULT: usize = 5000;

/// Runs the command.
pub(crate) fn run(args: &Flags) -> Result<()> {
    input::use_threads(args.common.threads)?;
    let format = args.plot_pointwise.as_deref().map(|plot| Format::of(Path::new(plot))).transpose()?;
    let diagram = args.plot_shepard.as_deref().map(|plot| Format::of(Path::new(plot))).transpose()?;
    let carry = Carry { labels: args.labels.clone(), ..Carry::default() };
    let inputs: Vec<&Path> = args.input.sources().into_iter().chain([args.embedding.as_path()]).collect();
    let inputs: Vec<&Path> = inputs.into_iter().chain(args.truth.as_deref()).chain(carry.inputs()).collect();
    outputs::check(&inputs, &wanted(args))?;
    if inputs.iter().filter(|input| **input == "-").count() > 1 {
        let (fact, way_out) = ("standard input is named twice", "give all inputs but one as files");
        return Err(Error::parameter("input", fact, way_out));
    }
    let bar = Bar::new(args.common.quiet);
    let [reading, evaluating, scoring] = Share::split(&bar, [0.03, 1.0, 1.0]);
    bar.say("reading");
    let start = Instant::now();
    let table = Table::read(args, &carry, &reading)?;
    let read = start.elapsed().as_secs_f64();
    progress::go_on()?;
    let start = Instant::now();
    let evaluated = table.evaluated(args, &evaluating)?;
    if args.plot_pointwise.is_some() && evaluated.per_row(args.pointwise_by).is_none() {
        return Err(report::missing(args.pointwise_by));
    }
    let quality = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let (likelihood, left_out) = table.likelihood(args, &scoring)?;
    let seconds = json!({"read": read, "quality": quality, "gp_likelihood": start.elapsed().as_secs_f64()});
    progress::start_writing()?;
    bar.finish();

    let story = Story { table: &table, evaluated: &evaluated, likelihood: likelihood.as_ref(), left_out };
    let mut outputs = Outputs::default();
    if let Some(target) = &args.pointwise {
        let (names, values) = report::table(&evaluated)?;
        let values = if let Some(kept) = &table.input.rows { kept.spread(&values)? } else { values };
        outputs.stage(target, move |name| io::write(name, &names, &values, &[]))?;
    }
    if let (Some(target), Some(format)) = (&args.plot_pointwise, format) {
        let bytes = report::picture(
            &evaluated,
            &table.map,
            args.pointwise_by,
            &args.input.source,
            (format, args.paper.theme()),
        )?;
        outputs.stage(target, move |name| write_bytes(name, &bytes))?;
    }
    if let (Some(target), Some(format)) = (&args.plot_shepard, diagram) {
        let bytes = report::shepard(&evaluated, &args.input.source, (format, args.paper.theme()))?;
        outputs.stage(target, move |name| write_bytes(name, &bytes))?;
    }
    if let Some(target) = &args.json {
        let value = story.json(seconds);
        outputs.stage(target, move |name| write_json(name, &value))?;
    }
    outputs.commit()?;
    say(args.common.quiet, &story.summary());
    Ok(())
}

/// The outputs that the flags name, each with a way to try it.
fn wanted(args: &Flags) -> Vec<Wanted<'_>> {
    let all: [(&'static str, Option<&Path>, Trial); 4] = [
        ("--pointwise", args.pointwise.as_deref(), report::try_table),
        ("--plot-pointwise", args.plot_pointwise.as_deref(), try_bytes),
        ("--plot-shepard", args.plot_shepard.as_deref(), try_bytes),
        ("--json", args.json.as_deref(), try_bytes),
    ];
    let given = all.into_iter().filter_map(|(flag, target, trial)| target.map(|target| (flag, target, trial)));
    given.map(|(flag, target, trial)| Wanted { flag, target, trial }).collect()
}

/// What was read.
struct Table {
    input: LoadedInput,
    map: Points,
    truth: Option<Points>,
    /// Warnings about the input.
    warnings: Vec<String>,
}

impl Table {
    fn read(args: &Flags, carry: &Carry, observer: &dyn Observer) -> Result<Table> {
        let quiet = args.common.quiet;
        let mut loaded = input::read(&args.input, carry, args.input_kind, &args.preparing, None, observer)?;
        input::say_notes(&loaded.notes, quiet);
        let preparation = request::of_columns(&args.input, &args.preparing, &loaded.schema).preparation()?;
        if let Owned::Points(points) = loaded.data {
            loaded.data = Owned::Points(preparing::prepared(&preparation, points, loaded.names.as_deref(), quiet)?);
        }
        let lenient = ReadOptions { missing: loaded.rows.is_some(), ..ReadOptions::default() };
        let places = |source: &Path| -> Result<Points> {
            let map = io::read_map(source, &lenient)?;
            input::say_notes(&map.notes, quiet);
            if let Some(kept) = &loaded.rows { kept.pick(map.points) } else { Ok(map.points) }
        };
        let (map, truth) = (places(&args.embedding)?, args.truth.as_deref().map(places).transpose()?);
        let mut warnings: Vec<String> = loaded.along.note().into_iter().collect();
        if loaded.along.labels.as_ref().is_some_and(|labeled| labeled.labels.classes().is_none()) {
            warnings.push("the labels are numbers, not classes; measures of labels are left out".into());
        }
        Ok(Table { input: loaded, map, truth, warnings })
    }

    fn evaluated(&self, args: &Flags, observer: &dyn Observer) -> Result<Evaluation> {
        let classes = self.input.along.labels.as_ref().and_then(|labeled| labeled.labels.classes());
        let points = self.input.data.view().measured_by(args.metric.unwrap_or_default());
        let given = quality::QualityInput { data: points, labels: classes.as_deref(), truth: self.truth.as_ref() };
        let quality = Quality { neighbors: args.neighbors, rows: args.rows, seed: args.common.seed };
        Ok(quality.evaluate(&given, &[&self.map], observer)?.remove(0))
    }

    /// The likelihood, or why there is none.
    fn likelihood(&self, args: &Flags, observer: &dyn Observer) -> Result<(Option<Likelihood>, Option<String>)> {
        let requested = args.gp_likelihood == Some(YesNo::Yes) || args.inducing.is_some();
        let Data::Points(points, _) = self.input.data.view() else {
            let fact = "the likelihood is that of points, and distances were given";
            let name = if args.inducing.is_some() { "inducing" } else { "gp-likelihood" };
            let refused = || Err(Error::inapplicable(name, fact, format!("leave out --{name}")));
            return if requested { refused() } else { Ok((None, None)) };
        };
        let n = points.rows();
        if args.gp_likelihood == Some(YesNo::No) {
            return Ok((None, None));
        }
        if n > MOST_BY_DEFAULT && !requested {
            let most = grouped(MOST_BY_DEFAULT);
            let reason =
                format!("not computed for more than {most} points, since it takes minutes; add --gp-likelihood yes");
            return Ok((None, Some(reason)));
        }
        let score = likelihood::request(args).of(points, &self.map, observer)?;
        Ok((Some(Likelihood { points: n, score }), None))
    }
}

/// What is reported.
struct Story<'a> {
    table: &'a Table,
    evaluated: &'a Evaluation,
    likelihood: Option<&'a Likelihood>,
    /// Why there is no likelihood.
    left_out: Option<String>,
}

impl Story<'_> {
    fn warnings(&self) -> Vec<String> {
        let likelihood = self.likelihood.map(Likelihood::warnings).unwrap_or_default();
        self.table.warnings.iter().cloned().chain(likelihood).collect()
    }

    /// The report as JSON.
    fn json(&self, seconds: Value) -> Value {
        let mut out = Map::new();
        out.insert("n".into(), json!(self.evaluated.points));
        out.insert("features".into(), json!(self.table.input.data.view().points().map(Points::cols)));
        out.insert("dims".into(), json!(self.table.map.cols()));
        out.insert("rows".into(), json!({"sampled": self.evaluated.rows.len(), "of": self.evaluated.points}));
        out.extend(report::json(self.evaluated));
        out.extend(self.likelihood.map(|likelihood| ("gp_likelihood".to_string(), likelihood.json())));
        out.insert("seconds".into(), seconds);
        out.insert("warnings".into(), json!(self.warnings()));
        Value::Object(out)
    }

    /// The report for people.
    fn summary(&self) -> String {
        let dims = plural(self.table.map.cols(), "dimension");
        let features = self.table.input.data.view().points().map(|points| plural(points.cols(), "feature"));
        let features = features.map_or(String::new(), |features| format!(" of {features}"));
        let mut lines =
            vec![format!("quality: an embedding of {}{features} in {dims}", plural(self.evaluated.points, "point"))];
        lines.extend(report::sampled(self.evaluated));
        for group in [Group::Neighborhoods, Group::Distances, Group::Labels, Group::InverseTransform, Group::Truth] {
            lines.extend(report::lines(self.evaluated, group));
        }
        if let Some(likelihood) = self.likelihood {
            lines.push("  GP likelihood".into());
            lines.extend(likelihood.lines());
        }
        lines
            .extend(self.left_out.iter().map(|why| format!("  GP likelihood\n    log likelihood               {why}")));
        lines.extend(self.warnings().iter().map(|warning| format!("  warning: {warning}")));
        lines.join("\n")
    }
}
