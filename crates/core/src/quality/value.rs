//! One measure of one map, from its rows.

use super::sampling::Sampling;

/// A measure with its standard error, and its values row by row.
pub(super) struct Value {
    pub(super) value: f64,
    pub(super) error: Option<f64>,
    /// One number per sampled row; NaN for a row on which the measure is undefined.
    pub(super) each: Vec<f64>,
}

impl Value {
    /// A measure that is the mean over the rows on which it is defined, with the number of such rows among all; `None`
    /// if there are none.
    pub(super) fn mean(each: Vec<f64>, of: usize) -> Option<Value> {
        let known = || each.iter().copied().filter(|value| !value.is_nan());
        let sampled = known().count();
        let (sum, error) = (known().sum::<f64>(), Sampling { sampled, of }.error(known()));
        (sampled > 0).then(|| Value { value: sum / sampled as f64, error, each })
    }

    /// The same measure on another scale: `to` of the value, whose derivative there is `derivative`, and `to` of every row.
    pub(super) fn on(self, to: fn(f64) -> f64, derivative: fn(f64) -> f64) -> Value {
        Value {
            value: to(self.value),
            error: self.error.map(|error| error * derivative(self.value).abs()),
            each: self.each.into_iter().map(to).collect(),
        }
    }
}
