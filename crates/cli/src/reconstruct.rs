//! `eigenfold reconstruct`: the inverse transform of a saved model, with an interval for every entry.

use crate::args::Reconstruct;
use crate::dropped_rows::{Dropped, Kept};
use crate::embed::{try_bytes, try_coordinates};
use crate::flags::{By, MissingName, with_flags};
use crate::outputs::{self, Outputs, Streamed, Trial, Wanted};
use crate::progress::{self, Bar};
use crate::report::{self, grouped, plural};
use crate::stream::{self, Begun, Started};
use crate::transform::load;
use crate::{input, say};
use eigenfold::{
    Error, HeldOutRows, Model, Points, Reconstruction, ReconstructionDiagnostics, ReconstructionRule, Result, Share, io,
};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Runs the command.
pub(crate) fn run(args: &Reconstruct) -> Result<()> {
    input::use_threads(args.common.threads)?;
    let inputs = [args.input.source.as_path(), &args.model];
    outputs::check(&inputs, &wanted(args))?;
    let held_out = args.held_out.map(|what| what.is_rows("reconstruct")).transpose()?;
    let bar = Bar::new(args.common.quiet);
    bar.say("reading");
    let start = Instant::now();
    let model = load(&args.model)?;
    let table = match stream::begin_map(args)? {
        Begun::Batches(started) => return by_batches(args, &model, started, &bar, start, held_out),
        Begun::Whole(table) => {
            input::say_notes(&input::with_flag_names(&table.notes), args.common.quiet);
            *table
        }
        Begun::Nothing => input::map(&args.input, args.common.quiet)?,
    };
    let kept = Kept::of(args.input.missing(), &table.points)?;
    if !table.points.missing().is_empty() && args.input.missing() != MissingName::Drop {
        return Err(incomplete());
    }
    let places = if let Some(kept) = &kept { table.points.select(&kept.rows) } else { table.points };
    let read = start.elapsed().as_secs_f64();
    progress::go_on()?;
    let [evaluating, _] = Share::split(&bar, [5.0, 1.0]).map(Share::even);
    bar.say("reconstructing");
    let start = Instant::now();
    let inverse = match args.by {
        By::Auto => model.inverse_transform()?,
        By::Energy => model.inverse_by_energy()?,
    };
    model.check_coordinates(&places)?;
    let supervised = model.recipe().method.is_supervised();
    if supervised && held_out == Some(true) {
        return Err(Error::inapplicable("held-out", without_classes(&model), "leave out --held-out"));
    }
    let held_out = match model.points().filter(|_| held_out.unwrap_or(has_intervals(args) && inverse.holds_out_rows()))
    {
        Some(points) => Some(model.recipe().held_out_rows(points, &evaluating)?),
        None => None,
    };
    bar.say("reconstructing");
    let inverse = inverse.calibrated(held_out.as_ref().map_or([1.0; 2], |held_out| held_out.calibration_factor));
    let mut reconstructed = inverse.reconstruct(&places)?;
    if supervised && args.held_out.is_none() && has_intervals(args) {
        let rest = "the intervals are calibrated on training rows, and may be too narrow for new ones";
        reconstructed.warnings.push(format!("{}; {rest}", without_classes(&model)));
    }
    let draws = args.samples.map(|count| inverse.draw(&places, count, args.common.seed)).transpose()?;
    let computed = start.elapsed().as_secs_f64();
    progress::start_writing()?;
    bar.say("writing");

    let start = Instant::now();
    let features = reconstructed.points.cols();
    let names = model.names().map_or_else(|| input::numbered("x", features), <[String]>::to_vec);
    let mut outputs = Outputs::default();
    let rows = draws.as_ref().unwrap_or(&reconstructed.points);
    let targets = [
        (Some(&args.output), rows),
        (args.std.as_ref(), &reconstructed.deviations),
        (args.interval.as_ref(), &reconstructed.margins),
    ];
    for (target, found) in targets {
        let Some(target) = target else { continue };
        let found = spread(kept.as_ref(), found, places.rows())?;
        let names = &names;
        outputs.stage(target, move |name| io::write(name, names, &found, &[]))?;
    }
    if let Some(target) = &args.json {
        let seconds = json!({"read": read, "reconstruct": computed, "write": start.elapsed().as_secs_f64()});
        let count = reconstructed.points.rows();
        let mut value = json(&model, &reconstructed, count, held_out.as_ref(), seconds);
        if let Some(kept) = &kept {
            value["dropped"] = kept.json();
            value["far"] = reconstructed.far.iter().map(|&i| kept.rows[i] + 1).collect();
        }
        outputs.stage(target, move |name| report::write_json(name, &value))?;
    }
    progress::go_on()?;
    bar.finish();
    outputs.commit()?;
    say(args.common.quiet, &summary(&model, &reconstructed, places.rows(), held_out.as_ref()));
    input::say_notes(&kept.iter().map(Kept::note).collect::<Vec<_>>(), args.common.quiet);
    if let Some(count) = args.samples {
        say(args.common.quiet, &format!("  samples      {} rows, {count} per embedding point", grouped(rows.rows())));
    }
    Ok(())
}

/// Reconstructs a table of several batches; `holds_out` is what was requested.
fn by_batches(
    args: &Reconstruct,
    model: &Model,
    started: Box<Started>,
    bar: &Bar,
    start: Instant,
    holds_out: Option<bool>,
) -> Result<()> {
    input::say_notes(&started.notes(), args.common.quiet);
    let [evaluating, _] = Share::split(bar, [5.0, 1.0]).map(Share::even);
    bar.say("reconstructing");
    let begin = Instant::now();
    let inverse = match args.by {
        By::Auto => model.inverse_transform()?,
        By::Energy => model.inverse_by_energy()?,
    };
    started.check(|table| model.check_coordinates(&table.points))?;
    let supervised = model.recipe().method.is_supervised();
    if supervised && holds_out == Some(true) {
        return Err(Error::inapplicable("held-out", without_classes(model), "leave out --held-out"));
    }
    let holds_out = holds_out.unwrap_or(has_intervals(args) && inverse.holds_out_rows());
    let held_out = match model.points().filter(|_| holds_out) {
        Some(points) => Some(model.recipe().held_out_rows(points, &evaluating)?),
        None => None,
    };
    bar.say("reconstructing");
    let inverse = inverse.calibrated(held_out.as_ref().map_or([1.0; 2], |held_out| held_out.calibration_factor));
    let mut computed = begin.elapsed().as_secs_f64();
    let (mut written, rows) = (0.0, started.rows());
    let targets = [Some(&args.output), args.std.as_ref(), args.interval.as_ref()];
    let mut streams: Option<Vec<Option<Streamed>>> = None;
    let (mut far, mut dropped, mut dims) = (Vec::new(), Dropped::default(), 0);
    let mut last = None;
    started.each(|table, above, fraction| {
        progress::go_on()?;
        let begin = Instant::now();
        let count = table.points.rows();
        let kept = Kept::of_batch(args.input.missing(), &table.points);
        if !table.points.missing().is_empty() && args.input.missing() != MissingName::Drop {
            return Err(incomplete());
        }
        let places = match &kept {
            Some(kept) => (!kept.rows.is_empty()).then(|| table.points.select(&kept.rows)),
            None => Some(table.points),
        };
        let found = places.as_ref().map(|places| inverse.reconstruct(places)).transpose()?;
        let in_file = |&i: &usize| above + kept.as_ref().map_or(i, |kept| kept.rows[i]);
        far.extend(found.iter().flat_map(|found| &found.far).map(in_file));
        match &kept {
            Some(kept) => dropped.add(&kept.dropped(), true),
            None => dropped.all += count,
        }
        computed += begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let features = model.points().map_or(0, Points::cols);
        dims = features;
        if streams.is_none() {
            let names = model.names().map_or_else(|| input::numbered("x", features), <[String]>::to_vec);
            let open = |target: Option<&PathBuf>| target.map(|target| Streamed::open(target, &names, false, rows));
            streams = Some(targets.iter().map(|target| open(*target).transpose()).collect::<Result<_>>()?);
        }
        let (mut all, mut closed) = (Vec::new(), args.json.is_none());
        if let Some(found) = found {
            last = Some(Reconstruction { far: Vec::new(), ..found.clone() });
            all = vec![found.points, found.deviations, found.margins];
        }
        for (at, stream) in streams.iter_mut().flatten().enumerate() {
            let Some(stream) = stream else { continue };
            let rows = match &kept {
                Some(kept) => Cow::Owned(kept.spread_batch(all.get(at), features)?),
                None => Cow::Borrowed(&all[at]),
            };
            progress::uninterrupted(|| stream.write(&rows, &[]))?;
            closed &= stream.is_closed();
        }
        written += begin.elapsed().as_secs_f64();
        bar.passed(fraction, above + count);
        // Nobody reads the rest.
        Ok(!closed)
    })?;
    let streams = streams.unwrap_or_default();
    if args.json.is_none() && streams.iter().flatten().all(Streamed::is_closed) {
        bar.finish();
        return Ok(());
    }
    let count = dropped.all - dropped.count;
    Kept::check_some(count, dropped.all)?;
    let Some(last) = last else { return Ok(()) };
    let mut warnings: Vec<String> = inverse.warning(far.len(), count).into_iter().collect();
    if supervised && args.held_out.is_none() && has_intervals(args) {
        let rest = "the intervals are calibrated on training rows, and may be too narrow for new ones";
        warnings.push(format!("{}; {rest}", without_classes(model)));
    }
    let reconstructed = Reconstruction { far, warnings, ..last };
    progress::start_writing()?;
    bar.say("writing");
    let begin = Instant::now();
    let mut outputs = Outputs::default();
    for stream in streams.into_iter().flatten() {
        outputs.finish(stream)?;
    }
    written += begin.elapsed().as_secs_f64();
    if let Some(target) = &args.json {
        let read = (start.elapsed().as_secs_f64() - computed - written).max(0.0);
        let seconds = json!({"read": read, "reconstruct": computed, "write": written});
        let mut value = json(model, &reconstructed, count, held_out.as_ref(), seconds);
        if dropped.count > 0 {
            value["dropped"] = dropped.json();
        }
        outputs.stage(target, move |name| report::write_json(name, &value))?;
    }
    progress::go_on()?;
    bar.finish();
    outputs.commit()?;
    say(args.common.quiet, &summary(model, &reconstructed, count, held_out.as_ref()));
    if dropped.count > 0 {
        input::say_notes(&[dropped.note()], args.common.quiet);
    }
    Ok(())
}

/// The error of an embedding point without one of its coordinates.
fn incomplete() -> Error {
    let fact = "an embedding point needs all its coordinates";
    Error::parameter("missing", fact, "use --missing drop, which leaves the rows of incomplete points empty")
}

/// What was found for the places that were kept, with empty rows for the others: as many per place as were found for each.
fn spread<'a>(kept: Option<&Kept>, found: &'a Points, places: usize) -> Result<Cow<'a, Points>> {
    let Some(kept) = kept else { return Ok(Cow::Borrowed(found)) };
    let count = found.rows() / places;
    let rows: Vec<usize> = kept.rows.iter().flat_map(|&row| (0..count).map(move |draw| row * count + draw)).collect();
    Ok(Cow::Owned(found.spread(&rows, kept.all * count)?))
}

/// Why a supervised map cannot be made again.
pub(crate) fn without_classes(model: &Model) -> String {
    let method = &model.report().method;
    format!(
        "this {method} embedding used classes, which a model does not keep, so it cannot be refitted without some rows"
    )
}

/// Whether any output is about intervals.
fn has_intervals(args: &Reconstruct) -> bool {
    args.std.is_some() || args.interval.is_some() || args.samples.is_some()
}

/// The outputs that the flags name, each with a way to try it.
fn wanted(args: &Reconstruct) -> Vec<Wanted<'_>> {
    let all: [(&'static str, Option<&Path>, Trial); 4] = [
        ("-o", Some(&args.output), try_coordinates),
        ("--std", args.std.as_deref(), try_coordinates),
        ("--interval", args.interval.as_deref(), try_coordinates),
        ("--json", args.json.as_deref(), try_bytes),
    ];
    let given = all.into_iter().filter_map(|(flag, target, trial)| target.map(|target| (flag, target, trial)));
    given.map(|(flag, target, trial)| Wanted { flag, target, trial }).collect()
}

/// The report as JSON; what is not known is null.
fn json(
    model: &Model,
    reconstructed: &Reconstruction,
    count: usize,
    held_out: Option<&HeldOutRows>,
    seconds: Value,
) -> Value {
    let ReconstructionDiagnostics { rule, rows, error, within, log_density } = &reconstructed.diagnostics;
    let parameters = match *rule {
        ReconstructionRule::Linear | ReconstructionRule::Energy => json!({}),
        ReconstructionRule::Process { noise, inducing } => json!({"noise": noise, "inducing": inducing}),
        ReconstructionRule::Kriging { neighbors, length, noise } => {
            json!({"neighbors": neighbors, "length": length, "noise": noise})
        }
    };
    json!({
        "method": model.report().method,
        "n": count,
        "features": reconstructed.points.cols(),
        "dims": model.embedding().cols(),
        "rule": rule.name(),
        "parameters": parameters,
        "evaluated_on": if *rule == ReconstructionRule::Linear { "training rows" } else { "training rows, each left out of its own prediction" },
        "rows": rows,
        "error": error,
        "within_std": within.map(|within| within[0]),
        "within_interval": within.map(|within| within[1]),
        "log_density": log_density,
        "intervals": if held_out.is_some() { "calibrated on held-out rows" } else { "calibrated on training rows" },
        "held_out": held_out.map(|held_out| json!({
            "rows": held_out.rows,
            "folds": held_out.folds,
            "error": held_out.error,
            "by_fold": held_out.by_fold,
            "calibration_factor": {"std": held_out.calibration_factor[0], "interval": held_out.calibration_factor[1]},
            "within_std": held_out.within.map(|within| within[0]),
            "within_interval": held_out.within.map(|within| within[1]),
            "uncalibrated_within_std": held_out.uncalibrated.map(|within| within[0]),
            "uncalibrated_within_interval": held_out.uncalibrated.map(|within| within[1]),
            "exact_features": {"std": held_out.exact[0], "interval": held_out.exact[1]},
            "far": held_out.far,
        })),
        "far": reconstructed.far.iter().map(|i| i + 1).collect::<Vec<_>>(),
        "seconds": seconds,
        "warnings": warnings(reconstructed),
    })
}

/// What the library warns of, with our flags.
fn warnings(reconstructed: &Reconstruction) -> Vec<String> {
    reconstructed.warnings.iter().map(|warning| with_flags(warning)).collect()
}

/// The report for people: what predicted, and how well.
fn summary(model: &Model, reconstructed: &Reconstruction, count: usize, held_out: Option<&HeldOutRows>) -> String {
    let (places, features) = (plural(count, "embedding point"), plural(reconstructed.points.cols(), "feature"));
    let rule = match reconstructed.diagnostics.rule {
        ReconstructionRule::Linear => "the linear inverse".to_string(),
        ReconstructionRule::Energy => "the objective with one more point".to_string(),
        ReconstructionRule::Process { inducing: None, .. } => "the process".to_string(),
        ReconstructionRule::Process { inducing: Some(m), .. } => format!("the process with {m} inducing points"),
        ReconstructionRule::Kriging { neighbors, .. } => format!("kriging of {neighbors} neighbors"),
    };
    let of = if reconstructed.diagnostics.rule == ReconstructionRule::Linear { "" } else { " of left-out rows" };
    let how_well = match reconstructed.diagnostics.error {
        Some(error) => format!("error{of} {error:.3} of the data's standard deviation"),
        None => "too few points to evaluate it".to_string(),
    };
    let method = &model.report().method;
    let mut lines = vec![format!("{method}: {places} reconstructed in {features} by {rule}; {how_well}")];
    if let Some(HeldOutRows { rows, folds, error, within, calibration_factor: [deviation, margin], exact, .. }) =
        held_out
    {
        let rows = grouped(*rows);
        lines.push(format!("  held out     error {error:.3} of {rows} held-out rows ({folds} folds)"));
        let held = within.map_or(String::new(), |[deviation, margin]| {
            format!("; coverage {deviation:.3} of the 68 % intervals, {margin:.3} of the 95 % intervals")
        });
        lines
            .push(format!("  intervals    calibrated on these rows (68 % x {deviation:.2}, 95 % x {margin:.2}){held}"));
        if exact[0] > 0 {
            let features = plural(exact[0], "feature");
            lines.push(format!(
                "  exact        {features} reconstructed exactly in 68 % of the rows or more, not counted"
            ));
        }
    }
    lines.extend(warnings(reconstructed).iter().map(|warning| format!("  warning: {warning}")));
    lines.join("\n")
}
