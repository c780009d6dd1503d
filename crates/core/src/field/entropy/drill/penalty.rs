//! The strength of an L1 penalty: a number, a path of numbers, or chosen by the method.

use crate::parameter::{FieldValue, Value};
use eigenfold_linalg::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The maximum number of penalties of a path.
const LONGEST: usize = 1000;
/// The accepted forms of the penalty parameter.
pub(crate) const FORM: &str = "a number >= 0 or a path FROM:TO:COUNT as in 0.001:0.1:10";

/// The strength of an L1 penalty, in the square of the data's units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Penalty {
    /// A fraction of the mean variance of the points.
    #[default]
    Auto,
    /// This value.
    Value(f64),
    /// The best of several values, evenly spaced on a logarithmic scale, by cross-validation over features.
    Path {
        /// The smallest.
        from: f64,
        /// The largest.
        to: f64,
        /// How many.
        count: usize,
    },
}

impl Penalty {
    /// The penalties of a path, largest first.
    pub(crate) fn path(from: f64, to: f64, count: usize) -> Vec<f64> {
        // The quotient of numbers of any size may overflow; the difference of their logarithms does not.
        let quotient = from / to;
        if quotient >= f64::MIN_POSITIVE {
            let ratio = quotient.ln() / (count.max(2) - 1) as f64;
            return (0..count).map(|at| to * (ratio * at as f64).exp()).collect();
        }
        let (low, high) = (from.ln(), to.ln());
        let step = (low - high) / (count.max(2) - 1) as f64;
        (0..count).map(|at| if at + 1 == count { from } else { (high + step * at as f64).exp() }).collect()
    }
}

impl fmt::Display for Penalty {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Penalty::Auto => write!(out, "auto"),
            Penalty::Value(value) => write!(out, "{value}"),
            Penalty::Path { from, to, count } => write!(out, "{from}:{to}:{count}"),
        }
    }
}

impl FromStr for Penalty {
    type Err = Error;

    fn from_str(text: &str) -> Result<Penalty> {
        let wrong = || Error::value("penalty", format_args!("{text:?}"), format!("{FORM}, or auto"));
        let number = |text: &str| text.trim().parse().ok().filter(|x: &f64| x.is_finite() && *x >= 0.0);
        let parts: Vec<&str> = text.split(':').collect();
        match parts.as_slice() {
            ["auto"] => Ok(Penalty::Auto),
            [value] => number(value).map(Penalty::Value).ok_or_else(wrong),
            [from, to, count] => {
                let (from, to) = (number(from).ok_or_else(wrong)?, number(to).ok_or_else(wrong)?);
                let count = count.trim().parse().map_err(|_| wrong())?;
                if !(0.0 < from && from < to && (2..=LONGEST).contains(&count)) {
                    return Err(Error::parameter(
                        "penalty",
                        format!("`penalty` {text} is not a path"),
                        format!("give 0 < FROM < TO and a COUNT from 2 to {LONGEST}"),
                    ));
                }
                Ok(Penalty::Path { from, to, count })
            }
            _ => Err(wrong()),
        }
    }
}

impl FieldValue for Penalty {
    fn value(&self) -> Value {
        if *self == Penalty::Auto { Value::Auto } else { Value::Text(self.to_string()) }
    }

    fn from_value(value: Value) -> Result<Penalty> {
        if let Value::Text(text) = value { text.parse() } else { Ok(Penalty::Auto) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_penalty_is_a_number_a_path_or_auto() {
        for text in ["auto", "0", "0.02", "0.001:0.1:10"] {
            assert_eq!(text.parse::<Penalty>().unwrap().to_string(), text);
        }
        for text in ["", "-1", "nan", "1:2", "0:1:5", "2:1:5", "1:2:1", "1:2:x", "1:2:3:4"] {
            let message = text.parse::<Penalty>().unwrap_err().to_string();
            assert!(message.contains("give"), "{message}");
        }
        let path = Penalty::path(0.001, 0.1, 3);
        assert!((path[0] - 0.1).abs() < 1e-15 && (path[1] - 0.01).abs() < 1e-15 && (path[2] - 0.001).abs() < 1e-15);
    }
}
