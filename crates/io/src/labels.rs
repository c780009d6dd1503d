//! Labels: what colors the points, and is not data.

use crate::columns::carried::{Carried, Cells};
use crate::text::dialect::is_missing;
use std::collections::BTreeSet;

/// A column of integers with at most this many distinct values is a column of classes.
const MOST_CLASSES: usize = 30;
/// The name of the class of points whose class is not known.
const UNKNOWN: &str = "-1";

/// One label a point: a number each, or one of a few classes; some may be missing.
#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    /// A number each, to color by value; NaN where it is missing.
    Values(Vec<f64>),
    /// A class each.
    Classes {
        /// The names of the classes: numbers in their order, text in alphabetical order.
        names: Vec<String>,
        /// The class of each point, an index into `names`; nothing where it is missing.
        of: Vec<Option<u32>>,
    },
}

impl Labels {
    /// The labels that a column holds; nothing if all of them are missing.
    ///
    /// Integers with at most 30 distinct values are classes, and so is text; other numbers are values.
    pub fn from_cells(cells: &Cells) -> Option<Labels> {
        let labels = match cells {
            Cells::Numbers(numbers) => Labels::from_numbers(numbers.clone()),
            Cells::Texts(texts) => Labels::from_texts(texts),
        };
        (labels.missing() < labels.len()).then_some(labels)
    }

    /// The number of points, labeled or not.
    pub fn len(&self) -> usize {
        match self {
            Labels::Values(values) => values.len(),
            Labels::Classes { of, .. } => of.len(),
        }
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of points whose label is missing.
    pub fn missing(&self) -> usize {
        match self {
            Labels::Values(values) => values.iter().filter(|value| value.is_nan()).count(),
            Labels::Classes { of, .. } => of.iter().filter(|class| class.is_none()).count(),
        }
    }

    /// The labels as a column of this name.
    pub fn carried(&self, name: &str) -> Carried {
        let cells = match self {
            Labels::Values(values) => Cells::Numbers(values.clone()),
            Labels::Classes { names, of } => Cells::Texts(
                of.iter().map(|class| class.map_or(String::new(), |c| names[c as usize].clone())).collect(),
            ),
        };
        Carried { name: name.into(), cells }
    }

    /// The class of every point, nothing where it is missing or named -1; nothing at all of labels that are values.
    pub fn classes(&self) -> Option<Vec<Option<u32>>> {
        let Labels::Classes { names, of } = self else { return None };
        Some(of.iter().map(|class| class.filter(|&class| names[class as usize] != UNKNOWN)).collect())
    }

    /// Labels from numbers; one that is not finite is missing.
    fn from_numbers(mut values: Vec<f64>) -> Labels {
        values.iter_mut().filter(|value| !value.is_finite()).for_each(|value| *value = f64::NAN);
        let mut distinct: BTreeSet<i64> = BTreeSet::new();
        for &value in values.iter().filter(|value| !value.is_nan()) {
            // Beyond 2^53 neighboring integers are one number.
            if value.fract() != 0.0 || value.abs() > 9e15 || distinct.len() > MOST_CLASSES {
                return Labels::Values(values);
            }
            distinct.insert(value as i64);
        }
        if distinct.len() > MOST_CLASSES {
            return Labels::Values(values);
        }
        let distinct: Vec<i64> = distinct.into_iter().collect();
        let class = |&value: &f64| (!value.is_nan()).then(|| distinct.partition_point(|&d| d < value as i64) as u32);
        Labels::Classes { of: values.iter().map(class).collect(), names: distinct.iter().map(i64::to_string).collect() }
    }

    /// Labels from text, which may all be numbers and missing numbers.
    fn from_texts(texts: &[String]) -> Labels {
        let number = |text: &String| match text.parse::<f64>() {
            _ if is_missing(text.as_bytes()) => Some(f64::NAN),
            parsed => parsed.ok().filter(|value| value.is_finite()),
        };
        let numbers: Option<Vec<f64>> = texts.iter().map(number).collect();
        if let Some(numbers) = numbers {
            return Labels::from_numbers(numbers);
        }
        let names: BTreeSet<&String> = texts.iter().filter(|text| !is_no_class(text)).collect();
        let names: Vec<String> = names.into_iter().cloned().collect();
        let class = |text: &String| (!is_no_class(text)).then(|| names.partition_point(|name| name < text) as u32);
        Labels::Classes { of: texts.iter().map(class).collect(), names }
    }
}

/// Counts the missing labels of a column whose rows come in batches. Which texts stand for none depends on whether all of them
/// are numbers.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Whether a text that is no number was seen.
    texts: bool,
    all: usize,
    complete: usize,
    /// Of all rows, and of the complete ones.
    as_numbers: [usize; 2],
    as_texts: [usize; 2],
}

impl Tally {
    /// Passes the labels of further rows; those of `complete` rows are counted apart.
    pub(crate) fn pass(&mut self, cells: &Cells, complete: Option<&[usize]>) {
        let every: Vec<usize>;
        let complete = match complete {
            Some(complete) => complete,
            None => {
                every = (0..cells.len()).collect();
                &every
            }
        };
        self.all += cells.len();
        self.complete += complete.len();
        match cells {
            Cells::Numbers(numbers) => {
                self.as_numbers[0] += numbers.iter().filter(|number| !number.is_finite()).count();
                self.as_texts[0] += numbers.iter().filter(|number| number.is_nan()).count();
                self.as_numbers[1] += complete.iter().filter(|&&i| !numbers[i].is_finite()).count();
                self.as_texts[1] += complete.iter().filter(|&&i| numbers[i].is_nan()).count();
            }
            Cells::Texts(texts) => {
                let is_number = |text: &String| text.parse::<f64>().is_ok_and(f64::is_finite);
                self.as_numbers[0] += texts.iter().filter(|text| is_missing(text.as_bytes())).count();
                self.as_texts[0] += texts.iter().filter(|text| is_no_class(text)).count();
                self.as_numbers[1] += complete.iter().filter(|&&i| is_missing(texts[i].as_bytes())).count();
                self.as_texts[1] += complete.iter().filter(|&&i| is_no_class(&texts[i])).count();
                self.texts |= texts.iter().any(|text| !is_missing(text.as_bytes()) && !is_number(text));
            }
        }
    }

    /// How many labels of complete rows are missing, and how many complete rows there are.
    pub(crate) fn complete(&self) -> (usize, usize) {
        (if self.texts { self.as_texts[1] } else { self.as_numbers[1] }, self.complete)
    }

    /// How many labels are missing.
    pub(crate) fn missing(&self) -> usize {
        if self.texts { self.as_texts[0] } else { self.as_numbers[0] }
    }
}

/// Whether a text stands for no class. Fewer texts than stand for no number: a class may well be called `none`.
fn is_no_class(text: &str) -> bool {
    text.is_empty() || ["NA", "N/A", "NaN", "null"].iter().any(|none| text.eq_ignore_ascii_case(none))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(of: &[&str]) -> Vec<String> {
        of.iter().map(|text| text.to_string()).collect()
    }

    #[test]
    fn few_integers_are_classes_and_many_or_fractions_are_values() {
        let labels = Labels::from_texts(&texts(&["10", "9", "10.0"]));
        assert_eq!(labels, Labels::Classes { names: texts(&["9", "10"]), of: vec![Some(1), Some(0), Some(1)] });
        let many: Vec<f64> = (0..31).map(f64::from).collect();
        assert_eq!(Labels::from_numbers(many.clone()), Labels::Values(many.clone()));
        assert!(matches!(Labels::from_numbers(many[..30].to_vec()), Labels::Classes { .. }));
        assert_eq!(Labels::from_numbers(vec![0.5, 1.0]), Labels::Values(vec![0.5, 1.0]));
    }

    #[test]
    fn text_is_classes_in_alphabetical_order() {
        let labels = Labels::from_texts(&texts(&["b", "a", "1", "none"]));
        let of = vec![Some(2), Some(1), Some(0), Some(3)];
        assert_eq!(labels, Labels::Classes { names: texts(&["1", "a", "b", "none"]), of });
    }

    #[test]
    fn missing_labels_are_nothing_and_no_class_of_their_own() {
        for none in ["", "NA", "nan", "Null"] {
            let labels = Labels::from_texts(&texts(&["a", none]));
            assert_eq!(labels, Labels::Classes { names: texts(&["a"]), of: vec![Some(0), None] });
            assert_eq!(labels.carried("kind").cells, Cells::Texts(texts(&["a", ""])));
        }
        let numbers = Labels::from_texts(&texts(&["3", "?", "4"]));
        assert_eq!(numbers, Labels::Classes { names: texts(&["3", "4"]), of: vec![Some(0), None, Some(1)] });
        let values = Labels::from_texts(&texts(&["0.5", ""]));
        assert_eq!((values.missing(), values.len()), (1, 2));
        assert_eq!(Labels::from_cells(&Cells::Numbers(vec![f64::NAN, f64::INFINITY])), None);
        assert_eq!(Labels::from_cells(&Cells::Texts(texts(&["", "NA"]))), None);
    }

    #[test]
    fn missing_labels_are_counted_over_batches_as_over_all_rows() {
        for column in [&["3", "?", "4", "none"][..], &["a", "?", "none", "NA"], &["", "1", "007", "x"], &["1", "2", ""]]
        {
            let all = Labels::from_cells(&Cells::from_texts(texts(column))).unwrap().missing();
            for size in 1..=column.len() {
                let mut tally = Tally::default();
                column.chunks(size).for_each(|batch| tally.pass(&Cells::from_texts(texts(batch)), None));
                assert_eq!((tally.missing(), tally.complete()), (all, (all, column.len())), "{column:?} by {size}");
            }
        }
    }

    #[test]
    fn a_class_is_not_known_where_it_is_missing_or_named_so() {
        let labels = Labels::from_texts(&texts(&["-1", "2", ""]));
        assert_eq!(labels.classes(), Some(vec![None, Some(1), None]));
    }
}
