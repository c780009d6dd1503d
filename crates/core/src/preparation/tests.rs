//! Tests of the preparation of columns: centers, scales, logarithms and their inverse.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::inverse::normal;
use super::*;

fn points(columns: &[&[f64]]) -> Points {
    let rows = columns[0].len();
    let values = (0..rows).flat_map(|i| columns.iter().map(move |column| column[i])).collect();
    Points::with_missing(rows, columns.len(), values).unwrap()
}

fn column(points: &Points, j: usize) -> Vec<f64> {
    (0..points.rows()).map(|i| points.row(i)[j]).collect()
}

#[test]
fn centers_and_scales_are_those_of_the_book() {
    let table = points(&[&[1.0, 2.0, 3.0, 4.0, 100.0], &[-2.0, 0.0, 2.0, 0.0, 0.0]]);
    let scaled = |scale| {
        let preparation = Preparation { scale, ..Preparation::default() };
        let (prepared, notes) = preparation.learn(&table, None).unwrap();
        (prepared.apply(&table, None).unwrap(), prepared, notes)
    };
    let (z, _, _) = scaled(ColumnScale::Unit);
    for j in 0..2 {
        let (mean, square) =
            (column(&z, j).iter().sum::<f64>() / 5.0, column(&z, j).iter().map(|z| z * z).sum::<f64>());
        assert!(mean.abs() < 1e-15 && (square / 5.0 - 1.0).abs() < 1e-14, "{z:?}");
    }
    let (z, prepared, notes) = scaled(ColumnScale::Robust);
    assert_eq!(column(&z, 0), [-1.0, -0.5, 0.0, 0.5, 48.5]);
    // Three of five numbers are 0, so the quartiles are both 0.
    assert_eq!((prepared.columns()[1].center, prepared.columns()[1].scale), (0.0, 1.6f64.sqrt()));
    assert_eq!(notes.len(), 1);
    assert!(notes[0].starts_with("column 2 has an interquartile range of 0"), "{notes:?}");
}

#[test]
fn constant_columns_stay_and_are_named() {
    let table = points(&[&[7.0, 7.0, 7.0], &[0.1 + 0.2, 0.3, 0.3], &[1.0, 2.0, 4.0]]);
    for scale in [ColumnScale::Unit, ColumnScale::Robust] {
        let names = ["a", "b", "c"].map(String::from);
        let (prepared, notes) = Preparation { scale, ..Preparation::default() }.learn(&table, Some(&names)).unwrap();
        assert_eq!(prepared.columns()[0], PreparedColumn { log: None, center: 7.0, scale: 1.0 });
        assert_eq!(prepared.columns()[1].scale, 1.0);
        let expected = "columns \"a\", \"b\" are constant; they were centered but not scaled";
        assert_eq!(notes, [expected]);
    }
}

#[test]
fn missing_cells_have_no_say_and_stay_missing() {
    let table = points(&[&[1.0, f64::NAN, 3.0], &[5.0, 6.0, f64::NAN]]);
    let (prepared, _) = Preparation { scale: ColumnScale::Unit, ..Preparation::default() }.learn(&table, None).unwrap();
    assert_eq!((prepared.columns()[0].center, prepared.columns()[0].scale), (2.0, 1.0));
    assert_eq!((prepared.columns()[1].center, prepared.columns()[1].scale), (5.5, 0.5));
    assert_eq!(prepared.apply(&table, None).unwrap().missing(), table.missing());
}

#[test]
fn columns_that_are_kept_stay_as_they_are() {
    let table = points(&[&[1.0, 2.0, 6.0], &[0.0, -5.0, 0.0]]);
    let preparation = Preparation { log: Some(Log::OnePlus), scale: ColumnScale::Unit, kept: vec![1] };
    let prepared = preparation.learn(&table, None).unwrap().0;
    assert_eq!(column(&prepared.apply(&table, None).unwrap(), 1), [0.0, -5.0, 0.0]);
}

#[test]
fn a_cell_without_a_logarithm_is_named_with_the_way_out() {
    let names = ["mass".to_string()];
    let message = |log, x: f64| {
        let preparation = Preparation { log: Some(log), ..Preparation::default() };
        let table = points(&[&[3.0, x, 2.0]]);
        let learned = preparation.learn(&table, Some(&names)).unwrap_err().to_string();
        let fine = preparation.learn(&points(&[&[3.0, 4.0, 2.0]]), None).unwrap().0;
        assert_eq!(fine.apply(&table, Some(&names)).unwrap_err().to_string(), learned);
        learned
    };
    let expected = "row 2, column \"mass\" is 0, and log is defined for positive numbers only; use `log` log1p, or leave \
                    out the column or `log`";
    assert_eq!(message(Log::Plain, 0.0), expected);
    assert!(message(Log::Plain, -2.5).contains("is -2.5, and log is defined for positive"));
    assert!(message(Log::OnePlus, -1.0).contains("is -1, and log1p is defined for numbers above -1 only; correct"));
}

#[test]
fn what_is_prepared_comes_back() {
    let table = points(&[&[0.0, 1e-9, 3e5], &[1.0, 12.0, 7.0], &[2.0, 2.0, 2.0]]);
    for log in [None, Some(Log::OnePlus)] {
        for scale in [ColumnScale::None, ColumnScale::Unit, ColumnScale::Robust] {
            let prepared = Preparation { log, scale, ..Preparation::default() }.learn(&table, None).unwrap().0;
            let back = prepared.undo(&prepared.apply(&table, None).unwrap()).unwrap();
            for (at, (a, b)) in table.values().iter().zip(back.values()).enumerate() {
                let largest = [3e5, 12.0, 2.0][at % 3];
                assert!((a - b).abs() <= 1e-12 * largest, "{log:?} {scale:?}: {a} {b}");
            }
        }
    }
}

#[test]
fn a_width_of_a_logarithm_holds_as_many_rows_as_it_promises() {
    let table = points(&[&[1.0, 2.0, 30.0, 5.0]]);
    let preparation = Preparation { log: Some(Log::Plain), scale: ColumnScale::Unit, ..Preparation::default() };
    let prepared = preparation.learn(&table, None).unwrap().0;
    let one = |x: f64| Points::new(1, 1, vec![x]).unwrap();
    for (z, deviation) in [(0.3, 0.8), (-1.0, 2.0), (0.0, 1e-4)] {
        let [x, width, margin] =
            prepared.undo_widths([&one(z), &one(deviation), &one(1.959_963_984_540_054 * deviation)]).unwrap();
        let [x, width, margin] = [x, width, margin].map(|points| points.values()[0]);
        for (width, promised) in [(width, 0.682_689_492), (margin, 0.95)] {
            // A grid over the Gaussian errors of z counts those whose x is within the width.
            let steps = 200_000;
            let mut held = 0.0;
            for step in 0..steps {
                let e = -8.0 + 16.0 * (step as f64 + 0.5) / steps as f64;
                let there = prepared.undo(&one(z + deviation * e)).unwrap().values()[0];
                if (there - x).abs() <= width {
                    held += (-0.5 * e * e).exp() * 16.0 / steps as f64 / std::f64::consts::TAU.sqrt();
                }
            }
            assert!((held - promised).abs() < 1e-4, "{z} {deviation}: {held} {promised}");
        }
        if deviation < 1e-3 {
            let derivative = x * prepared.columns()[0].scale;
            assert!((width / (derivative * deviation) - 1.0).abs() < 1e-3, "the delta method");
        }
    }
}

#[test]
fn the_normal_distribution_is_that_of_the_tables() {
    for (z, value) in [(0.0, 0.5), (1.0, 0.841_344_746_068_543), (-1.959_963_984_540_054, 0.025), (9.0, 1.0)] {
        assert!((normal(z) - value).abs() < 1e-14, "{z}");
    }
    assert!(normal(f64::NAN).is_nan());
    assert_eq!([f64::NEG_INFINITY, f64::INFINITY].map(normal), [0.0, 1.0]);
}

#[test]
fn a_number_whose_inverse_leaves_the_range_is_refused() {
    let table = points(&[&[1.0, 2.0, 30.0, 5.0]]);
    let one = |x: f64| Points::new(1, 1, vec![x]).unwrap();
    for log in [Log::Plain, Log::OnePlus] {
        let preparation = Preparation { log: Some(log), ..Preparation::default() };
        let prepared = preparation.learn(&table, None).unwrap().0;
        for z in [400.0, 708.0, 800.0, 1e4, 1e57] {
            for (deviation, margin) in [(0.0, 0.0), (1.0, 2.0), (1e57, 1e58)] {
                assert!(prepared.undo_widths([&one(z), &one(deviation), &one(margin)]).is_err(), "{z} {deviation}");
            }
        }
        assert!(prepared.undo_widths([&one(1.0), &one(1e4), &one(2e4)]).is_err());
        assert!(prepared.deviation_back(0, 800.0, 1.0).is_infinite());
        // Far below all data there is a number, and a width.
        assert!(prepared.undo_widths([&one(-2000.0), &one(1.0), &one(2.0)]).is_ok());
    }
}

#[test]
fn one_column_with_nearly_all_of_the_variance_is_named() {
    let (narrow, wide) = ([1.0, 2.0, 3.0, 5.0], [100.0, 900.0, 300.0, 200.0]);
    let names = ["a", "b"].map(String::from);
    let said = one_alone(&points(&[&narrow, &wide]), Some(&names)).unwrap();
    assert!(said.starts_with("column \"b\" has 99.9 % of the variance of all 2 columns and dominates"), "{said}");
    let huge: Vec<f64> = wide.iter().map(|x| x * 1e57).collect();
    assert!(one_alone(&points(&[&huge, &narrow]), None).unwrap().starts_with("column 1 has"));
    assert_eq!(one_alone(&points(&[&wide, &[4.0; 4]]), None), None);
    assert_eq!(one_alone(&points(&[&wide, &wide]), None), None);
}
