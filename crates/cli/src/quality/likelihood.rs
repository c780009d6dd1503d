//! The log likelihood of the data under a Gaussian process over the embedding: the request and the report.

use crate::args::Quality as Flags;
use crate::flags::{LengthsName, StartsName};
use eigenfold::gp_likelihood::{EXACT_POINTS, GpEvaluation, GpLikelihood, LengthRule, Starts};
use serde_json::{Value, json};

/// The request of the flags.
pub(super) fn request(args: &Flags) -> GpLikelihood {
    let starts = if args.starts == StartsName::One { Starts::One } else { Starts::All };
    let lengths = match args.lengths {
        LengthsName::Ard => LengthRule::Ard,
        LengthsName::Unit => LengthRule::Unit,
        LengthsName::Raw => LengthRule::Raw,
    };
    GpLikelihood { lengths, starts, inducing: args.inducing }
}

/// What is reported.
pub(super) struct Likelihood {
    pub(super) points: usize,
    pub(super) score: GpEvaluation,
}

impl Likelihood {
    fn per_point(&self) -> f64 {
        self.score.log_likelihood / self.points as f64
    }

    /// The best end of a start less the worst, both before the bound was refined.
    fn spread(&self) -> f64 {
        let ends = || self.score.starts.iter().flatten().copied();
        ends().fold(f64::NEG_INFINITY, f64::max) - ends().fold(f64::INFINITY, f64::min)
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        let GpEvaluation { noise_floor, converged, constant, starts, .. } = &self.score;
        let mut warnings = Vec::new();
        if *noise_floor {
            warnings.push(
                "the noise is at its floor, 1e-6 of the data's variance; without it the likelihood would be higher"
                    .to_string(),
            );
        }
        if !converged {
            warnings
                .push("the search for the best parameters did not converge; the likelihood may be too low".to_string());
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
    pub(super) fn json(&self) -> Value {
        let GpEvaluation { log_likelihood, parameters, starts, noise_floor, inducing, lengths, converged, .. } =
            &self.score;
        json!({
            "value": log_likelihood,
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
        })
    }

    /// The report for people.
    pub(super) fn lines(&self) -> Vec<String> {
        let GpEvaluation { log_likelihood, parameters: p, by_coordinate, starts, inducing, lengths, .. } = &self.score;
        let kind = match inducing {
            None => "exact".to_string(),
            Some(m) if self.points > EXACT_POINTS => format!("a lower bound by {m} inducing points"),
            Some(m) => format!("a lower bound by {m} inducing points, as requested"),
        };
        let units = match lengths {
            LengthRule::Ard => "one length per coordinate",
            LengthRule::Unit => "columns scaled to unit variance",
            LengthRule::Raw => "embedding in its own units",
        };
        let length = match by_coordinate {
            Some(lengths) => lengths.iter().map(|length| format!("{length:.4e}")).collect::<Vec<_>>().join(" "),
            None => format!("{:.4e}", p.length),
        };
        let mut lines = vec![
            format!("    log likelihood               {log_likelihood:.3} ({:.4} per point), {kind}", self.per_point()),
            format!("    parameters                   variance {:.4e}, length {length}, {units}", p.variance),
            format!("                                 bias {:.4e}, noise {:.4e}", p.bias, p.noise),
        ];
        if starts.len() > 1 {
            let ends: Vec<String> =
                starts.iter().map(|end| end.map_or("none".into(), |end| format!("{end:.3}"))).collect();
            lines.push(format!("    starts                       {} (spread {:.3})", ends.join(", "), self.spread()));
        }
        lines
    }
}
