//! Labels: what colors the points, and is not data.

use std::collections::BTreeSet;

/// A column of integers with at most this many distinct values is a column of classes.
const MOST_CLASSES: usize = 30;
/// The name of the class of points whose class is not known.
const UNKNOWN: &str = "-1";

/// One label a point: a number each, or one of a few classes.
#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    /// A number each, to color by value.
    Values(Vec<f64>),
    /// A class each.
    Classes {
        /// The names of the classes: numbers in their order, text in alphabetical order.
        names: Vec<String>,
        /// The class of each point, an index into `names`.
        of: Vec<u32>,
    },
}

impl Labels {
    /// The number of labeled points.
    pub fn len(&self) -> usize {
        match self {
            Labels::Values(values) => values.len(),
            Labels::Classes { of, .. } => of.len(),
        }
    }

    /// Whether there is no label at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The label of point `i` as text.
    pub fn text(&self, i: usize) -> String {
        match self {
            Labels::Values(values) => super::csv::number(values[i]),
            Labels::Classes { names, of } => names[of[i] as usize].clone(),
        }
    }

    /// The class of every point, nothing for the class that is named -1; nothing at all of labels that are values.
    pub fn classes(&self) -> Option<Vec<Option<u32>>> {
        let Labels::Classes { names, of } = self else { return None };
        Some(of.iter().map(|&class| (names[class as usize] != UNKNOWN).then_some(class)).collect())
    }

    /// Labels from numbers: integers with at most 30 distinct values are classes, others are values.
    ///
    /// A label that is not a finite number is an error: its row, counted from 1.
    pub(super) fn from_numbers(values: Vec<f64>) -> Result<Labels, usize> {
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(at + 1);
        }
        let mut distinct: BTreeSet<i64> = BTreeSet::new();
        for &value in &values {
            // Beyond 2^53 neighboring integers are one number.
            if value.fract() != 0.0 || value.abs() > 9e15 || distinct.len() > MOST_CLASSES {
                return Ok(Labels::Values(values));
            }
            distinct.insert(value as i64);
        }
        if distinct.len() > MOST_CLASSES {
            return Ok(Labels::Values(values));
        }
        let distinct: Vec<i64> = distinct.into_iter().collect();
        let class = |value: &f64| distinct.partition_point(|&d| d < *value as i64) as u32;
        Ok(Labels::Classes {
            of: values.iter().map(class).collect(),
            names: distinct.iter().map(i64::to_string).collect(),
        })
    }

    /// Labels from text, which may all be numbers; an empty label is an error: its row, counted from 1.
    pub(super) fn from_text(texts: Vec<String>) -> Result<Labels, usize> {
        let numbers: Option<Vec<f64>> =
            texts.iter().map(|text| text.parse::<f64>().ok().filter(|value| value.is_finite())).collect();
        if let Some(numbers) = numbers {
            return Labels::from_numbers(numbers);
        }
        if let Some(at) = texts.iter().position(String::is_empty) {
            return Err(at + 1);
        }
        let names: BTreeSet<&String> = texts.iter().collect();
        let names: Vec<String> = names.into_iter().cloned().collect();
        let of = texts.iter().map(|text| names.partition_point(|name| name < text) as u32).collect();
        Ok(Labels::Classes { names, of })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(of: &[&str]) -> Vec<String> {
        of.iter().map(|text| text.to_string()).collect()
    }

    #[test]
    fn few_integers_are_classes_and_many_or_fractions_are_values() {
        let labels = Labels::from_text(texts(&["10", "9", "10.0"])).unwrap();
        assert_eq!(labels, Labels::Classes { names: texts(&["9", "10"]), of: vec![1, 0, 1] });
        assert_eq!(labels.text(1), "9");
        let many: Vec<f64> = (0..31).map(f64::from).collect();
        assert_eq!(Labels::from_numbers(many.clone()), Ok(Labels::Values(many.clone())));
        assert!(matches!(Labels::from_numbers(many[..30].to_vec()), Ok(Labels::Classes { .. })));
        assert_eq!(Labels::from_numbers(vec![0.5, 1.0]), Ok(Labels::Values(vec![0.5, 1.0])));
    }

    #[test]
    fn text_is_classes_in_alphabetical_order_and_a_missing_label_is_named() {
        let labels = Labels::from_text(texts(&["b", "a", "1"])).unwrap();
        assert_eq!(labels, Labels::Classes { names: texts(&["1", "a", "b"]), of: vec![2, 1, 0] });
        assert_eq!(Labels::from_text(texts(&["a", ""])), Err(2));
        assert_eq!(Labels::from_numbers(vec![1.0, f64::NAN]), Err(2));
    }
}
