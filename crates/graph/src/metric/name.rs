//! The names of metrics, as people type them.

use super::Metric;
use eigenfold_linalg::error::{Error, Result, did_you_mean, guess};
use std::fmt::{Display, Formatter};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The powers of minkowski: below one it is no metric, and far beyond it is chebyshev.
const POWERS: RangeInclusive<f64> = 1.0..=1000.0;

/// What stands before the power.
const MINKOWSKI: &str = "minkowski:";

/// Every metric but minkowski, by its names; the first is its own.
const NAMES: [(Metric, &[&str]); 12] = [
    (Metric::Euclidean, &["euclidean", "l2"]),
    (Metric::Manhattan, &["manhattan", "cityblock", "l1"]),
    (Metric::Cosine, &["cosine"]),
    (Metric::Correlation, &["correlation"]),
    (Metric::Chebyshev, &["chebyshev", "maximum", "infinity"]),
    (Metric::Hamming, &["hamming"]),
    (Metric::Jaccard, &["jaccard"]),
    (Metric::Haversine, &["haversine"]),
    (Metric::HaversineDegrees, &["haversine-degrees"]),
    (Metric::Canberra, &["canberra"]),
    (Metric::BrayCurtis, &["braycurtis", "bray-curtis"]),
    (Metric::Mahalanobis, &["mahalanobis"]),
];

impl Metric {
    /// Whether its power is valid.
    pub fn is_sound(self) -> bool {
        if let Metric::Minkowski(power) = self { POWERS.contains(&power) } else { true }
    }

    /// The names of all metrics, as in a list to choose from.
    pub fn names() -> String {
        let all: Vec<&str> = NAMES.iter().map(|(_, names)| names[0]).collect();
        format!("{}, minkowski:P", all.join(", "))
    }
}

impl Display for Metric {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Metric::Minkowski(power) => write!(f, "{MINKOWSKI}{power}"),
            other => f.write_str(NAMES.iter().find(|(metric, _)| metric == other).map_or("", |(_, names)| names[0])),
        }
    }
}

impl FromStr for Metric {
    type Err = Error;

    fn from_str(text: &str) -> Result<Metric> {
        if let Some((metric, _)) = NAMES.iter().find(|(_, names)| names.contains(&text)) {
            return Ok(*metric);
        }
        let power = text.strip_prefix(MINKOWSKI).or((text == "minkowski").then_some(""));
        let Some(power) = power else {
            let names: Vec<&str> = NAMES.iter().map(|(_, names)| names[0]).collect();
            let guess = guess(&names, text);
            let way_out = format!("{}use {}", did_you_mean(guess), Metric::names());
            let (parameter, fact) = ("metric".into(), format!("{text:?} is not a metric"));
            return Err(Error::Unknown { parameter, guess, choices: names, fact, way_out });
        };
        match power.parse() {
            Ok(power) if POWERS.contains(&power) => Ok(Metric::Minkowski(power)),
            _ => Err(Error::parameter(
                "metric",
                "minkowski needs a power from 1 to 1000",
                "use minkowski:3, or chebyshev for the limit of large powers",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_answers_to_its_names() {
        for (metric, names) in NAMES {
            assert_eq!(metric.to_string(), names[0]);
            assert!(names.iter().all(|name| name.parse::<Metric>().unwrap() == metric));
        }
        assert_eq!("minkowski:2.5".parse::<Metric>().unwrap(), Metric::Minkowski(2.5));
        assert_eq!(Metric::Minkowski(3.0).to_string().parse::<Metric>().unwrap(), Metric::Minkowski(3.0));
        for wrong in ["minkowski", "minkowski:0.5", "minkowski:inf", "minkowski:x", "euclid", ""] {
            assert!(wrong.parse::<Metric>().is_err(), "{wrong}");
        }
    }
}
