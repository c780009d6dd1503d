//! The recommended dimension from many estimates, with its reason and its caveats.
//!
//! The rule was chosen on data of known dimension and tested on others (docs/internals/measured-dimensions.md has the
//! table):
//!
//! ```text
//! noise     if GRIDE falls by a fifth up to k = 16 and the simplices give less than 2NN, noise dominates small scales:
//!           the plateau, three neighboring scales from k = 4 on that differ least, if they differ by 30 % at most;
//!           else the largest scale. With many points the same applies to evenly spaced ones, and noise is also assumed if
//!           2NN of all points is a quarter above that of the subset
//! flagged   if the sampling check flags, and the scales from k = 4 on do not agree with 2NN within a quarter:
//!           their plateau if they differ by 15 % at most, else 2
//! many      if 2NN is 4 or more and the simplices 0.9 to 1.35 times that: the simplices, because 2NN is too low in many
//!           dimensions
//! plain     else 2NN
//! ```
//!
//! Always rounded, at least 1, and at most the number of features that vary.

use super::gride::ScaleEstimate;
use super::two_nn::FLAGGED;
use super::{Check, Estimate};
use eigenfold_linalg::error::plural;
use serde::Serialize;

/// A neighborhood may hold this fraction of the points; beyond, it is no longer local.
const LOCAL: f64 = 1.0 / 7.0;
/// The fraction by which GRIDE falls if noise dominates the small scales.
const FALL: f64 = 0.2;
/// The simplex estimate, at a larger scale, is then below this fraction of 2NN.
const BELOW: f64 = 0.97;
/// The largest ratio of the values of a plateau: with noise, and for flagged points.
const PLATEAU: (f64, f64) = (1.3, 1.15);
/// The largest ratio of 2NN and the larger scales at which they agree.
const AGREE: f64 = 1.25;
/// From this dimension on 2NN is too low, and the simplex estimate is used if it is within these factors of it.
const MANY: (f64, f64, f64) = (4.0, 0.9, 1.35);

/// The recommended number of coordinates.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Recommendation {
    /// The number.
    pub dims: usize,
    /// The reason.
    pub reason: String,
    /// The caveats.
    pub caveat: String,
}

/// The inputs of the rule.
pub(super) struct Findings<'a> {
    /// The number of distinct points.
    pub(super) n: usize,
    /// The maximum dimension of the points.
    pub(super) most: usize,
    pub(super) two_nn: Option<&'a Estimate>,
    pub(super) ess: Option<f64>,
    pub(super) scales: &'a [ScaleEstimate],
    /// The subset of evenly spaced points, if there are many.
    pub(super) coarse: Option<&'a Coarse>,
    pub(super) check: &'a Check,
}

/// The estimates of a subset of the points alone.
pub(super) struct Coarse {
    pub(super) n: usize,
    pub(super) two_nn: Option<f64>,
    pub(super) ess: Option<f64>,
    pub(super) scales: Vec<ScaleEstimate>,
}

/// Applies the rule.
pub(super) fn recommend(findings: &Findings<'_>) -> Recommendation {
    let Findings { most, two_nn, ess, check, .. } = *findings;
    let scales = findings.local();
    let plateau = plateau(&scales);
    let two = two_nn.map(|estimate| estimate.value);
    let mut caveat = Vec::new();
    let (value, reason) = match (two, ess) {
        (Some(two), _) if findings.is_noisy(two, &scales) => noise(two, plateau, &scales, &mut caveat),
        (two, _) if check.flagged && !two.is_some_and(|two| agrees(two, plateau)) => flagged(plateau, &mut caveat),
        (Some(two), Some(ess)) if two >= MANY.0 && (MANY.1..=MANY.2).contains(&(ess / two)) => {
            caveat.push(
                "in many dimensions every estimate needs very many points, and is more often too low than too high"
                    .into(),
            );
            (
                ess,
                format!(
                    "2NN gives {two:.1}, which is biased low in many dimensions; the simplex skewness gives {ess:.1}"
                ),
            )
        }
        (Some(two), _) => (two, plain(two, findings, &mut caveat)),
        (None, _) => flagged(plateau, &mut caveat),
    };
    if check.flagged {
        let departure = check.departure.map_or("infinite".into(), |departure| format!("{departure:.2}"));
        caveat.push(format!(
            "the sampling check is {departure}, above {FLAGGED}: these are not random points of a smooth manifold"
        ));
    }
    caveat.extend(borderline(value, two_nn));
    let rounded = (value.round() as usize).max(1);
    let dims = rounded.min(most);
    if dims < rounded {
        caveat
            .push(format!("the estimate is larger than the {} that these points can have", plural(most, "dimension")));
    }
    let caveat = if caveat.is_empty() { "none of the checks contradicts it".into() } else { caveat.join("; ") };
    Recommendation { dims, reason, caveat }
}

impl Findings<'_> {
    /// The scales whose neighborhoods are a small fraction of the points; always the first two.
    fn local(&self) -> Vec<&ScaleEstimate> {
        let (n, scales) = self.coarse.map_or((self.n, self.scales), |coarse| (coarse.n, &coarse.scales));
        scales.iter().filter(|scale| scale.k <= 2 || 2.0 * scale.k as f64 <= LOCAL * n as f64).collect()
    }

    /// Whether the dimension falls with the scale as with noise.
    fn is_noisy(&self, two: f64, scales: &[&ScaleEstimate]) -> bool {
        let below = |two: f64, ess: Option<f64>| ess.is_some_and(|ess| ess < BELOW * two);
        let at = |k: usize| scales.iter().find(|scale| scale.k == k).map(|scale| scale.value);
        let falls =
            |from: Option<f64>, to: Option<f64>| from.zip(to).is_some_and(|(from, to)| to <= (1.0 - FALL) * from);
        let within = falls(at(1), at(16).or(at(8)));
        match self.coarse {
            None => below(two, self.ess) && within,
            Some(coarse) => {
                coarse.two_nn.is_some_and(|own| below(own, coarse.ess)) && within
                    || below(two, coarse.ess) && falls(Some(two), at(4))
            }
        }
    }
}

/// The three neighboring scales from k = 4 on that differ least.
#[derive(Clone, Copy)]
struct Plateau {
    /// Their geometric mean.
    value: f64,
    /// The largest over the smallest.
    spread: f64,
    /// The first and the last.
    k: (usize, usize),
}

fn plateau(scales: &[&ScaleEstimate]) -> Option<Plateau> {
    let large: Vec<&&ScaleEstimate> = scales.iter().filter(|scale| scale.k >= 4).collect();
    let windows = large.windows(3).map(|three| {
        let values = [three[0].value, three[1].value, three[2].value];
        let (low, high) = values.iter().fold((f64::MAX, 0.0), |(low, high): (f64, f64), &v| (low.min(v), high.max(v)));
        let value = values.iter().product::<f64>().cbrt();
        Plateau { value, spread: high / low, k: (three[0].k, three[2].k) }
    });
    windows.reduce(|a, b| if b.spread < a.spread { b } else { a })
}

/// Whether 2NN and the larger scales agree.
fn agrees(two: f64, plateau: Option<Plateau>) -> bool {
    plateau
        .is_some_and(|plateau| plateau.spread <= PLATEAU.0 && (two / plateau.value).max(plateau.value / two) <= AGREE)
}

fn noise(two: f64, plateau: Option<Plateau>, scales: &[&ScaleEstimate], caveat: &mut Vec<String>) -> (f64, String) {
    match (plateau.filter(|plateau| plateau.spread <= PLATEAU.0), scales.last()) {
        (Some(Plateau { value, k, .. }), _) => {
            caveat.push("it is assumed that the decrease with the scale is due to noise".into());
            let (from, to) = k;
            (
                value,
                format!(
                    "from k = {from} to {to} the estimate stays near {value:.1}; at small scales, which noise dominates, it is {two:.1}"
                ),
            )
        }
        (None, Some(last)) => {
            caveat.push("the dimension falls with the scale and has no plateau: it may be even smaller".into());
            (
                last.value,
                format!(
                    "the estimate falls from {two:.1} to {:.1} at k = {}, as it does with noise",
                    last.value, last.k
                ),
            )
        }
        (None, None) => (two, format!("2NN gives {two:.1}")),
    }
}

fn flagged(plateau: Option<Plateau>, caveat: &mut Vec<String>) -> (f64, String) {
    match plateau.filter(|plateau| plateau.spread <= PLATEAU.1) {
        Some(Plateau { value, k: (from, to), .. }) => (
            value,
            format!("small scales are not reliable; from k = {from} to {to} the estimate stays near {value:.1}"),
        ),
        None => {
            caveat.push("2 is a guess".into());
            (2.0, "no scale is reliable, and a plot has two dimensions".into())
        }
    }
}

fn plain(two: f64, findings: &Findings<'_>, caveat: &mut Vec<String>) -> String {
    if let Some(ess) = findings.ess.filter(|ess| ess / two > MANY.2) {
        caveat.push(format!(
            "the simplex skewness gives {ess:.1}: the manifold is curved within a neighborhood, or {two:.1} is too low"
        ));
    }
    if findings.n < 100 {
        caveat.push(format!("{} distinct points are few", findings.n));
    }
    if two >= 6.0 {
        caveat.push("2NN is biased low in many dimensions".into());
    }
    format!("2NN gives {two:.2}")
}

/// The other whole number, if the estimate lies between two or the interval reaches it.
fn borderline(value: f64, two_nn: Option<&Estimate>) -> Option<String> {
    let rounded = value.round().max(1.0);
    if (value - rounded).abs() > 0.35 && value > 1.0 {
        let other = if value > rounded { rounded + 1.0 } else { rounded - 1.0 };
        return Some(format!("{value:.2} is nearly halfway to {other}"));
    }
    let ends = two_nn.filter(|two| two.value == value).and_then(|two| two.low.zip(two.high));
    let (low, high) = ends?;
    (low.round() != rounded || high.round() != rounded)
        .then(|| format!("the 95 % interval, {low:.2} to {high:.2}, includes another integer"))
}

#[cfg(test)]
mod tests {
    use super::super::{Name, gride::SCALES};
    use super::*;

    /// The recommendation for these values, at k = 1, 2, 4, ... of a thousand points.
    fn dims(two: f64, ess: f64, departure: f64, values: &[f64]) -> Recommendation {
        let scale = |(&k, &value): (&usize, &f64)| ScaleEstimate {
            k,
            among: 1000,
            value,
            standard_error: None,
            low: None,
            high: None,
            distance: 1.0,
        };
        let scales: Vec<ScaleEstimate> = SCALES.iter().zip(values).map(scale).collect();
        let two = (two > 0.0).then(|| Estimate::new(Name::TwoNn, two, 1000));
        let check = Check { departure: Some(departure), flagged: departure > FLAGGED };
        recommend(&Findings {
            n: 1000,
            most: 50,
            two_nn: two.as_ref(),
            ess: Some(ess),
            scales: &scales,
            coarse: None,
            check: &check,
        })
    }

    #[test]
    fn each_case_of_the_rule() {
        let roll = dims(1.97, 2.09, 0.9, &[1.97, 1.95, 1.83, 1.92, 1.94, 2.13, 2.46]);
        assert_eq!((roll.dims, roll.caveat.as_str()), (2, "none of the checks contradicts it"));
        let noisy = dims(2.78, 2.34, 0.8, &[2.78, 2.63, 2.31, 2.12, 1.98, 2.18, 2.46]);
        assert_eq!(noisy.dims, 2);
        assert!(noisy.reason.contains("from k = 8 to 32 the estimate stays near 2.1"), "{}", noisy.reason);
        let many = dims(8.0, 9.3, 0.9, &[8.0, 8.2, 8.0, 7.7, 7.6, 7.3, 6.9]);
        assert_eq!(many.dims, 9);
        // A surface in 50 noisy features: no plateau.
        let lost = dims(22.2, 21.4, 1.2, &[22.2, 19.7, 16.2, 12.5, 9.2, 5.9, 3.7]);
        assert_eq!(lost.dims, 4);
        assert!(lost.caveat.contains("no plateau"), "{}", lost.caveat);
        // Twenty objects on a turntable: every view has its two neighbors at nearly one distance.
        let copies = dims(6.35, 6.3, 2.1, &[6.4, 2.2, 2.9, 3.5, 4.2, 4.4, 3.0]);
        assert_eq!(copies.dims, 2);
        assert!(copies.caveat.contains("2 is a guess") && copies.caveat.contains("2.10"), "{}", copies.caveat);
        let lattice = dims(0.0, 2.1, 16.0, &[1.1, 1.9, 2.0, 2.05, 1.95, 1.9, 1.8]);
        assert_eq!(lattice.dims, 2);
        // A false alarm does no harm.
        let sphere = dims(1.94, 2.09, 1.6, &[1.94, 1.98, 1.99, 1.98, 1.96, 2.01, 2.0]);
        assert_eq!(sphere.dims, 2);
    }
}
