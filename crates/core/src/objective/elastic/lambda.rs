//! The strength of the repulsion: a number, a path of numbers, or chosen by the method.

use crate::parameter::{FieldValue, Value};
use eigenfold_linalg::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The maximum number of values of a path.
const LONGEST: usize = 1000;
/// The default start of a path, as a multiple of the critical value.
const ABOVE: f64 = 1.5;
/// The accepted forms of the parameter.
pub(crate) const FORM: &str = "a number > 0 or a path FROM:TO:COUNT as in 1e-6:1:40 or auto:1:40";

/// The strength of the repulsion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Lambda {
    /// Chosen from the attraction.
    #[default]
    Auto,
    /// This value.
    Value(f64),
    /// Several values in turn, evenly spaced on a logarithmic scale (homotopy).
    Path {
        /// The first; by default just above the critical value at which the map leaves the origin.
        from: Option<f64>,
        /// The last.
        to: f64,
        /// How many.
        count: usize,
    },
}

impl Lambda {
    /// All values, the last one last.
    pub(crate) fn values(self, auto: f64, critical: Option<f64>) -> Result<Vec<f64>> {
        match self {
            Lambda::Auto => Ok(vec![auto]),
            Lambda::Value(value) => Ok(vec![value]),
            Lambda::Path { from, to, count } => {
                let from = from.or(critical.map(|critical| ABOVE * critical)).ok_or_else(|| {
                    Error::parameter(
                        "lambda",
                        "the critical `lambda` is not computed for this graph",
                        "give FROM:TO:COUNT in numbers",
                    )
                })?;
                if from >= to {
                    return Err(Error::parameter(
                        "lambda",
                        format!(
                            "`lambda` {to} is not above the critical value, where the path would start at {from:.3e}"
                        ),
                        "give a larger one",
                    ));
                }
                let ratio = (to / from).ln() / (count - 1) as f64;
                Ok((0..count).map(|at| from * (ratio * at as f64).exp()).collect())
            }
        }
    }
}

impl fmt::Display for Lambda {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lambda::Auto => write!(out, "auto"),
            Lambda::Value(value) => write!(out, "{value}"),
            Lambda::Path { from, to, count } => {
                let from = from.map_or("auto".to_string(), |from| from.to_string());
                write!(out, "{from}:{to}:{count}")
            }
        }
    }
}

impl FromStr for Lambda {
    type Err = Error;

    fn from_str(text: &str) -> Result<Lambda> {
        let wrong = || Error::value("lambda", format_args!("{text:?}"), format!("{FORM}, or auto"));
        let number =
            |text: &str| text.trim().parse().ok().filter(|x: &f64| x.is_finite() && *x > 0.0).ok_or_else(wrong);
        let parts: Vec<&str> = text.split(':').collect();
        match parts.as_slice() {
            [value] => number(value).map(Lambda::Value),
            [from, to, count] => {
                let from = if from.trim() == "auto" { None } else { Some(number(from)?) };
                let (to, count) = (number(to)?, count.trim().parse().map_err(|_| wrong())?);
                if from.is_some_and(|from| from >= to) || !(2..=LONGEST).contains(&count) {
                    return Err(Error::parameter(
                        "lambda",
                        format!("`lambda` {text} is not a path"),
                        format!("give FROM < TO and a COUNT from 2 to {LONGEST}"),
                    ));
                }
                Ok(Lambda::Path { from, to, count })
            }
            _ => Err(wrong()),
        }
    }
}

impl FieldValue for Lambda {
    fn value(&self) -> Value {
        if *self == Lambda::Auto { Value::Auto } else { Value::Text(self.to_string()) }
    }

    fn from_value(value: Value) -> Result<Lambda> {
        match value {
            Value::Text(text) => text.parse(),
            _ => Ok(Lambda::Auto),
        }
    }
}
