//! `eigenfold reconstruct`: from places on a saved map back to data, with a deviation for every entry.

use crate::args::{By, Reconstruct};
use crate::embed::{try_bytes, try_coordinates};
use crate::flags::with_flags;
use crate::outputs::{self, Outputs, Trial, Wanted};
use crate::progress::{self, Bar};
use crate::report::{self, grouped};
use crate::transform::load;
use crate::{input, say};
use eigenfold::back::{BackRule, Evidence, Reconstruction};
use eigenfold::error::{Error, Result};
use eigenfold::io;
use eigenfold::model::Model;
use serde_json::{Value, json};
use std::time::Instant;

/// Runs the command.
pub(crate) fn run(args: &Reconstruct) -> Result<()> {
    input::use_threads(args.common.threads)?;
    let inputs = [args.input.source.as_str(), args.model.to_str().unwrap_or_default()];
    outputs::check(&inputs, &wanted(args))?;
    let bar = Bar::new(args.common.quiet);
    bar.say("reading");
    let start = Instant::now();
    let model = load(&args.model)?;
    let table = input::table(&args.input)?;
    if !table.points.missing().is_empty() {
        return Err(Error::Parameter("a place on the map needs all its coordinates; leave out --missing".into()));
    }
    let read = start.elapsed().as_secs_f64();
    progress::go_on()?;
    bar.say("going back");
    let start = Instant::now();
    let back = match args.by {
        By::Auto => model.reconstruct(&table.points)?,
        By::Energy => model.way_back_by_energy()?.reconstruct(&table.points)?,
    };
    let computed = start.elapsed().as_secs_f64();
    progress::start_writing()?;
    bar.finish();

    let start = Instant::now();
    let features = back.points.cols();
    let names = model.names().map_or_else(|| input::numbered("x", features), <[String]>::to_vec);
    let mut outputs = Outputs::default();
    outputs.stage(&args.output, |name| io::write(name, &names, &back.points, None))?;
    if let Some(target) = &args.std {
        outputs.stage(target, |name| io::write(name, &names, &back.deviations, None))?;
    }
    if let Some(target) = &args.json {
        let seconds = json!({"read": read, "reconstruct": computed, "write": start.elapsed().as_secs_f64()});
        let value = json(&model, &back, seconds);
        outputs.stage(target, move |name| report::write_json(name, &value))?;
    }
    progress::go_on()?;
    outputs.commit()?;
    say(args.common.quiet, &summary(&model, &back));
    Ok(())
}

/// The outputs that the flags name, each with a way to try it.
fn wanted(args: &Reconstruct) -> Vec<Wanted<'_>> {
    let all: [(&'static str, Option<&str>, Trial); 3] = [
        ("-o", Some(&args.output), try_coordinates),
        ("--std", args.std.as_deref(), try_coordinates),
        ("--json", args.json.as_deref(), try_bytes),
    ];
    let given = all.into_iter().filter_map(|(flag, target, trial)| target.map(|target| (flag, target, trial)));
    given.map(|(flag, target, trial)| Wanted { flag, target, trial }).collect()
}

/// The report as JSON; what is not known is null.
fn json(model: &Model, back: &Reconstruction, seconds: Value) -> Value {
    let Evidence { rule, rows, error, within, log_density } = &back.evidence;
    let parameters = match *rule {
        BackRule::Linear | BackRule::Energy => json!({}),
        BackRule::Process { noise, inducing } => json!({"noise": noise, "inducing": inducing}),
        BackRule::Kriging { neighbors, length, noise } => {
            json!({"neighbors": neighbors, "length": length, "noise": noise})
        }
    };
    json!({
        "method": model.report().method,
        "n": back.points.rows(),
        "features": back.points.cols(),
        "dims": model.embedding().cols(),
        "rule": rule.name(),
        "parameters": parameters,
        "cross_validated": *rule != BackRule::Linear,
        "rows": rows,
        "error": error,
        "within_one": within.map(|within| within[0]),
        "within_two": within.map(|within| within[1]),
        "log_density": log_density,
        "far": back.far.iter().map(|i| i + 1).collect::<Vec<_>>(),
        "seconds": seconds,
        "warnings": warnings(back),
    })
}

/// What the library warns of, with our flags.
fn warnings(back: &Reconstruction) -> Vec<String> {
    back.warnings.iter().map(|warning| with_flags(warning)).collect()
}

/// The report for people: what predicted, and how well.
fn summary(model: &Model, back: &Reconstruction) -> String {
    let (n, features) = (grouped(back.points.rows()), grouped(back.points.cols()));
    let rule = match back.evidence.rule {
        BackRule::Linear => "the linear rule".to_string(),
        BackRule::Energy => "the objective with one more point".to_string(),
        BackRule::Process { inducing: None, .. } => "the process".to_string(),
        BackRule::Process { inducing: Some(m), .. } => format!("the process with {m} inducing points"),
        BackRule::Kriging { neighbors, .. } => format!("kriging of {neighbors} neighbors"),
    };
    let kind = if back.evidence.rule == BackRule::Linear { "error" } else { "cross-validated error" };
    let how_well = match back.evidence.error {
        Some(error) => format!("{kind} {:.3} of the data's standard deviation", error),
        None => "too few points to judge it".to_string(),
    };
    let method = &model.report().method;
    let mut lines = vec![format!("{method}: {n} places back to {features} features by {rule}; {how_well}")];
    lines.extend(warnings(back).iter().map(|warning| format!("  warning: {warning}")));
    lines.join("\n")
}
