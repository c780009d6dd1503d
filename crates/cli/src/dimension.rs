//! `eigenfold dimension`: how many coordinates the points need, by several estimators.

use crate::args::Dimension as Flags;
use crate::drawing::title_of;
use crate::dropped_rows::Kept;
use crate::embed::{try_bytes, write_bytes};
use crate::flags::with_flags;
use crate::outputs::{self, Outputs, Trial, Wanted};
use crate::progress::{self, Bar};
use crate::report::{self, grouped};
use crate::{input, preparing, request, say, warn};
use eigenfold::{
    Points, Result, Share,
    dimension::{Dimension, Dimensions, Estimate, FLAGGED, ScaleEstimate},
    io,
    io::ReadOptions,
};
use eigenfold_plot::{Format, ScaleCurve};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::time::Instant;

/// Runs the command.
pub(crate) fn run(args: &Flags) -> Result<()> {
    input::use_threads(args.common.threads)?;
    let format = args.plot.as_deref().map(|plot| Format::of(Path::new(plot))).transpose()?;
    outputs::check(&args.input.sources(), &wanted(args))?;
    let bar = Bar::new(args.common.quiet);
    let [reading, counting] = Share::split(&bar, [0.03, 1.0]);
    bar.say("reading");
    let start = Instant::now();
    let options = ReadOptions { one_hot: args.preparing.one_hot.clone(), ..input::options(&args.input) };
    let table = input::table(&args.input, options, args.common.quiet)?;
    let request = request::of_columns(&args.input, &args.preparing, &table.schema);
    let rows = Kept::of(args.input.missing(), &table.points)?;
    let points = if let Some(kept) = &rows { table.points.select(&kept.rows) } else { table.points };
    rows.iter().for_each(|kept| warn(args.common.quiet, &kept.note()));
    let points = request.complete(points, &reading)?;
    let points = preparing::prepared(&request.preparation()?, points, table.columns.as_deref(), args.common.quiet)?;
    let read = start.elapsed().as_secs_f64();
    progress::go_on()?;
    let dimension = Dimension {
        neighbors: args.neighbors,
        global: !args.quick,
        pointwise: args.pointwise.is_some(),
        seed: args.common.seed,
    };
    let start = Instant::now();
    let found = dimension.of(&points, &counting)?;
    let seconds = json!({"read": read, "dimension": start.elapsed().as_secs_f64()});
    progress::start_writing()?;
    bar.finish();

    let mut outputs = Outputs::default();
    if let (Some(target), Some(values)) = (&args.pointwise, &found.pointwise) {
        let values = pointwise(values)?;
        let values = if let Some(kept) = &rows { kept.spread(&values)? } else { values };
        outputs.stage(target, move |name| write_pointwise(name, &values))?;
    }
    if let (Some(target), Some(format)) = (&args.plot, format) {
        let bytes = picture(args, &found, format)?;
        outputs.stage(target, move |name| write_bytes(name, &bytes))?;
    }
    if let Some(target) = &args.json {
        let value = json(&found, seconds);
        outputs.stage(target, move |name| report::write_json(name, &value))?;
    }
    outputs.commit()?;
    say(args.common.quiet, &summary(&found));
    Ok(())
}

/// The outputs that the flags name, each with a way to try it.
fn wanted(args: &Flags) -> Vec<Wanted<'_>> {
    let all: [(&'static str, Option<&Path>, Trial); 3] = [
        ("--pointwise", args.pointwise.as_deref(), |target| write_pointwise(target, &pointwise(&[Some(1.0)])?)),
        ("--plot", args.plot.as_deref(), try_bytes),
        ("--json", args.json.as_deref(), try_bytes),
    ];
    let given = all.into_iter().filter_map(|(flag, target, trial)| target.map(|target| (flag, target, trial)));
    given.map(|(flag, target, trial)| Wanted { flag, target, trial }).collect()
}

/// One row for every row of the input; 0 where all neighbors are at one distance and there is no dimension.
fn pointwise(values: &[Option<f64>]) -> Result<Points> {
    let values: Vec<f64> = values.iter().map(|value| value.unwrap_or(0.0)).collect();
    Points::new(values.len(), 1, values)
}

fn write_pointwise(target: &Path, values: &Points) -> Result<()> {
    io::write(target, &["dimension".to_string()], values, &[])
}

/// The report as JSON; what could not be estimated is in `left_out`, never invented.
fn json(found: &Dimensions, seconds: Value) -> Value {
    let estimates: Map<String, Value> =
        found.estimates.iter().map(|one| (one.name.key().to_string(), json!(one))).collect();
    let left_out: Map<String, Value> =
        found.left_out.iter().map(|(name, why)| (name.key().to_string(), json!(with_flags(why)))).collect();
    let mut out = json!({
        "n": found.n,
        "distinct": found.distinct,
        "features": found.features,
        "varying": found.varying,
        "neighbors": found.neighbors,
        "recommended": found.recommended.dims,
        "reason": found.recommended.reason,
        "caveat": found.recommended.caveat,
        "estimates": estimates,
        "left_out": left_out,
        "scales": found.scales,
        "scale_points": found.scale_points,
        "check": found.check,
    });
    if let Some(object) = out.as_object_mut() {
        object.extend(found.spectrum.as_ref().map(|spectrum| ("svd".to_string(), json!(spectrum))));
        object.extend(found.elbow.as_ref().map(|elbow| ("isomap".to_string(), json!(elbow))));
        object.extend(found.unfolded.as_ref().map(|unfolded| ("mvu".to_string(), json!(unfolded))));
        object.insert("seconds".into(), seconds);
        object.insert("warnings".into(), json!(found.warnings));
    }
    out
}

/// The report for people.
fn summary(found: &Dimensions) -> String {
    let (n, features) = (grouped(found.n), grouped(found.features));
    let dims = found.recommended.dims;
    let s = if dims == 1 { "" } else { "s" };
    let mut lines = vec![
        format!("dimension: {dims} coordinate{s} for {n} points of {features} features"),
        format!("  because      {}", found.recommended.reason),
        format!("  caveat       {}", found.recommended.caveat),
        "  estimate                    value   95 %, statistical".to_string(),
    ];
    lines.extend(found.estimates.iter().map(|one| line(one, found.distinct)));
    lines.extend(
        found.left_out.iter().map(|(name, why)| format!("    {:<24}    none   {}", name.title(), with_flags(why))),
    );
    for among in amounts(&found.scales) {
        let of = if among == found.distinct { String::new() } else { format!(" of {} points", grouped(among)) };
        let shown: Vec<String> =
            found.scales.iter().filter(|s| s.among == among).map(|s| format!("{}: {:.2}", s.k, s.value)).collect();
        lines.push(format!("  by scale k   {}{of}", shown.join(", ")));
    }
    let departure = found.check.departure.map_or("infinite".into(), |departure| format!("{departure:.2}"));
    let verdict = if found.check.flagged { "flagged" } else { "as for random points" };
    lines.push(format!("  sampling     {departure}, {verdict} (limit {FLAGGED})"));
    if let Some(spectrum) = &found.spectrum {
        let shown: Vec<String> = spectrum.ratios.iter().take(8).map(|ratio| format!("{ratio:.3}")).collect();
        let more = if spectrum.ratios.len() > 8 { ", ..." } else { "" };
        lines.push(format!("  singular     {}{more}", shown.join(", ")));
    }
    if let Some(elbow) = &found.elbow {
        let shown: Vec<String> = elbow.residual_variances.iter().map(|v| format!("{v:.2e}")).collect();
        lines.push(format!("  residual     {}", shown.join(", ")));
    }
    let nowhere = found.pointwise.iter().flatten().filter(|value| value.is_none()).count();
    if nowhere > 0 {
        lines.push(format!(
            "  warning: at {nowhere} points all neighbors are equally far; their dimension is written as 0"
        ));
    }
    lines.extend(found.warnings.iter().map(|warning| format!("  warning: {warning}")));
    lines.join("\n")
}

/// One estimate with its interval, and on how many points it was made if not on all.
fn line(one: &Estimate, distinct: usize) -> String {
    let interval = one.low.zip(one.high).map_or(String::new(), |(low, high)| format!("{low:.2} to {high:.2}"));
    let fewer = if one.points < distinct { format!("on {} points", grouped(one.points)) } else { String::new() };
    let rest = [interval, fewer].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
    format!("    {:<24} {:>7.2}   {rest}", one.name.title(), one.value).trim_end().to_string()
}

/// The numbers of points among which scales were read, all points first.
fn amounts(scales: &[ScaleEstimate]) -> Vec<usize> {
    let mut all: Vec<usize> = scales.iter().map(|scale| scale.among).collect();
    all.dedup();
    all
}

/// The picture of the dimension against the scale.
fn picture(args: &Flags, found: &Dimensions, format: Format) -> Result<Vec<u8>> {
    let dims = found.recommended.dims;
    let title = format!("{}: dimension by scale", title_of(&args.input.source));
    let subtitle =
        format!("{} points · {} features · {}", grouped(found.n), grouped(found.features), found.recommended.reason);
    let ess = found.estimates.iter().find(|one| one.name.key() == "ess").map(|one| one.value);
    let curve = ScaleCurve {
        scales: &found.scales,
        distinct: found.distinct,
        dims,
        ess,
        title: &title,
        subtitle: &subtitle,
        theme: args.paper.theme(),
    };
    curve.rendered(format)
}
