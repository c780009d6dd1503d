//! `eigenfold score`: how good a map is, whoever made it.

use crate::args::Score as Asked;
use crate::dropped::Kept;
use crate::embed::try_bytes;
use crate::flags::{LengthsName, StartsName};
use crate::outputs::{self, Outputs, Wanted};
use crate::progress::{self, Bar};
use crate::report::{self, plural};
use crate::{input, preparing, say};
use eigenfold::Points;
use eigenfold::error::{Error, Result};
use eigenfold::io::{self, ReadOptions};
use eigenfold::judge::score::{EXACT_POINTS, GplvmScore, Lengths, Score, Starts};
use eigenfold::progress::Share;
use serde_json::{Value, json};
use std::time::Instant;

/// Runs the command.
pub(crate) fn run(args: &Asked) -> Result<()> {
    input::use_threads(args.common.threads)?;
    let target = args.json.as_deref();
    let wanted: Vec<Wanted> = target.iter().map(|target| Wanted { flag: "--json", target, trial: try_bytes }).collect();
    outputs::check(&[&args.input.source, &args.embedding], &wanted)?;
    if args.input.source == "-" && args.embedding == "-" {
        let fact = "standard input is asked for twice, as INPUT and as EMBEDDING; give one of them as a file";
        return Err(Error::Parameter(fact.into()));
    }
    let bar = Bar::new(args.common.quiet);
    let [reading, scoring] = Share::split(&bar, [0.03, 1.0]);
    bar.say("reading");
    let start = Instant::now();
    let options = ReadOptions { one_hot: args.preparing.one_hot.clone(), ..input::options(&args.input) };
    let table = input::table(&args.input, options, args.common.quiet)?;
    let asked = preparing::asked(&args.preparing, &table.schema);
    let rows = Kept::of(args.input.missing, &table.points)?;
    let data = if let Some(kept) = &rows { table.points.select(&kept.rows) } else { table.points };
    let data = input::completed(&args.input, data, &asked, &reading)?;
    let data = preparing::prepared(&asked, data, table.columns.as_deref(), args.common.quiet)?;
    let lenient = ReadOptions { missing: rows.is_some(), ..ReadOptions::default() };
    let map = io::read_map(&args.embedding, &lenient)?;
    input::say_notes(&map.notes, args.common.quiet);
    let map = if let Some(kept) = &rows { kept.pick(map.points)? } else { map.points };
    rows.iter().for_each(|kept| say(args.common.quiet, &format!("  warning: {}", kept.note())));
    let read = start.elapsed().as_secs_f64();
    progress::go_on()?;
    let starts = if args.starts == StartsName::One { Starts::One } else { Starts::All };
    let lengths = match args.lengths {
        LengthsName::Ard => Lengths::Ard,
        LengthsName::Unit => Lengths::Unit,
        LengthsName::Raw => Lengths::Raw,
    };
    let asked = GplvmScore { lengths, starts, inducing: args.inducing };
    let start = Instant::now();
    let score = asked.of(&data, &map, &scoring)?;
    let seconds = json!({"read": read, "score": start.elapsed().as_secs_f64()});
    progress::start_writing()?;
    bar.finish();

    let story = Story { data: &data, map: &map, score: &score };
    let mut outputs = Outputs::default();
    if let Some(target) = target {
        let value = story.json(seconds);
        outputs.stage(target, move |name| report::write_json(name, &value))?;
    }
    outputs.commit()?;
    say(args.common.quiet, &story.summary());
    Ok(())
}

/// What there is to tell.
struct Story<'a> {
    data: &'a Points,
    map: &'a Points,
    score: &'a Score,
}

impl Story<'_> {
    fn per_point(&self) -> f64 {
        self.score.log_likelihood / self.data.rows() as f64
    }

    /// The best end of a start less the worst, both before the bound was refined.
    fn spread(&self) -> f64 {
        let ends = || self.score.starts.iter().flatten().copied();
        ends().fold(f64::NEG_INFINITY, f64::max) - ends().fold(f64::INFINITY, f64::min)
    }

    fn warnings(&self) -> Vec<String> {
        let Score { noise_floor, converged, constant, starts, .. } = self.score;
        let mut warnings = Vec::new();
        if *noise_floor {
            warnings.push(
                "the noise is at its floor, 1e-6 of the data's variance; without it the score would be higher"
                    .to_string(),
            );
        }
        if !converged {
            warnings.push("the search for the best parameters did not converge; the score may be too low".to_string());
        }
        match constant {
            0 => {}
            1 => warnings.push("1 feature is the same for all points and was left out".to_string()),
            count => warnings.push(format!("{count} features are the same for all points and were left out")),
        }
        let failed = starts.iter().filter(|end| end.is_none()).count();
        if failed > 0 {
            warnings.push(format!("{failed} of {} starts had no likelihood", starts.len()));
        }
        warnings
    }

    /// The length, or those of the coordinates.
    fn length(&self) -> Value {
        match &self.score.by_coordinate {
            Some(lengths) => json!(lengths),
            None => json!(self.score.parameters.length),
        }
    }

    /// The report as JSON.
    fn json(&self, seconds: Value) -> Value {
        let Score { log_likelihood, parameters, starts, noise_floor, inducing, lengths, converged, .. } = self.score;
        json!({
            "n": self.data.rows(),
            "features": self.data.cols(),
            "dims": self.map.cols(),
            "gplvm": {
                "score": log_likelihood,
                "per_point": self.per_point(),
                "starts": starts,
                "spread": self.spread(),
                "parameters": {
                    "variance": parameters.variance,
                    "length": self.length(),
                    "bias": parameters.bias,
                    "noise": parameters.noise,
                },
                "noise_floor": noise_floor,
                "exact": inducing.is_none(),
                "inducing": inducing,
                "lengths": lengths.name(),
                "features": self.score.features,
                "evaluations": self.score.evaluations,
                "converged": converged,
            },
            "seconds": seconds,
            "warnings": self.warnings(),
        })
    }

    /// The report for people.
    fn summary(&self) -> String {
        let Score { log_likelihood, parameters, by_coordinate, starts, inducing, lengths, .. } = self.score;
        let [n, features, dims] = [self.data.rows(), self.data.cols(), self.map.cols()];
        let kind = match inducing {
            None => "exact".to_string(),
            Some(m) if self.data.rows() > EXACT_POINTS => format!("a lower bound by {m} inducing points"),
            Some(m) => format!("a lower bound by {m} inducing points, as asked"),
        };
        let units = match lengths {
            Lengths::Ard => "a length for each",
            Lengths::Unit => "columns scaled to unit variance",
            Lengths::Raw => "in its own units",
        };
        let p = parameters;
        let length = match by_coordinate {
            Some(lengths) => lengths.iter().map(|length| format!("{length:.4e}")).collect::<Vec<_>>().join(" "),
            None => format!("{:.4e}", p.length),
        };
        let mut lines = vec![
            format!("score: {log_likelihood:.3} ({:.4} per point), {kind}", self.per_point()),
            format!("  data         {} of {}", plural(n, "point"), plural(features, "feature")),
            format!("  map          {}, {units}", plural(dims, "dimension")),
            format!(
                "  parameters   variance {:.4e}, length {length}, bias {:.4e}, noise {:.4e}",
                p.variance, p.bias, p.noise
            ),
        ];
        if starts.len() > 1 {
            let ends: Vec<String> =
                starts.iter().map(|end| end.map_or("none".into(), |end| format!("{end:.3}"))).collect();
            lines.push(format!("  starts       {} (spread {:.3})", ends.join(", "), self.spread()));
        }
        lines.extend(self.warnings().iter().map(|warning| format!("  warning: {warning}")));
        lines.join("\n")
    }
}
