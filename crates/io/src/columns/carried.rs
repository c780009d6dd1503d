//! Columns that are carried along with the points and are not data: ids, names, labels.

use crate::text::csv::number;

/// A column that goes with the points.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// Its name.
    pub name: String,
    /// One cell per point.
    pub cells: Cells,
}

/// The cells of a column, as they were written.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Numbers; NaN where there is none.
    Numbers(Vec<f64>),
    /// Texts; empty where there is none.
    Texts(Vec<String>),
}

impl Cells {
    /// The number of cells.
    pub fn len(&self) -> usize {
        match self {
            Cells::Numbers(numbers) => numbers.len(),
            Cells::Texts(texts) => texts.len(),
        }
    }

    /// Whether there is no cell at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cell of point `i` as text; empty where there is none.
    pub fn text(&self, i: usize) -> String {
        match self {
            Cells::Numbers(numbers) if numbers[i].is_nan() => String::new(),
            Cells::Numbers(numbers) => number(numbers[i]),
            Cells::Texts(texts) => texts[i].clone(),
        }
    }

    /// The cells of a text file: numbers, if the texts can be restored from them, which those like `007` cannot.
    pub(crate) fn from_texts(texts: Vec<String>) -> Cells {
        let as_number = |text: &String| match text.as_str() {
            "" => Some(f64::NAN),
            text => text.parse::<f64>().ok().filter(|value| value.is_finite() && number(*value) == text),
        };
        let numbers: Option<Vec<f64>> = texts.iter().map(as_number).collect();
        numbers.map_or(Cells::Texts(texts), Cells::Numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_numbers_only_where_nothing_is_lost() {
        let cells = |of: &[&str]| Cells::from_texts(of.iter().map(|text| text.to_string()).collect());
        assert!(
            matches!(cells(&["1", "", "-2.5"]), Cells::Numbers(numbers) if numbers[1].is_nan() && numbers[2] == -2.5)
        );
        for kept in [["1", "007"], ["9007199254740993", "1"], ["1.50", "2"], ["1", "NA"]] {
            assert_eq!(cells(&kept), Cells::Texts(kept.map(String::from).to_vec()));
        }
        assert_eq!((cells(&["3", ""]).text(0), cells(&["3", ""]).text(1)), ("3".into(), String::new()));
    }
}
