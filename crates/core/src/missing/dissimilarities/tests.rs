//! Tests of imputed distances and similarities.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use eigenfold_linalg::progress::Silent;

/// A pseudorandom number between 0 and 1 for a pair, symmetric.
fn drawn(i: usize, j: usize, seed: usize) -> f64 {
    let (low, high) = (i.min(j), i.max(j));
    let mixed = ((low * 7919 + high * 104_729 + seed * 1_299_709) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 11) as f64 / (1u64 << 53) as f64
}

fn table(n: usize, cell: impl Fn(usize, usize) -> f64) -> Points {
    Points::with_missing(n, n, (0..n * n).map(|at| cell(at / n, at % n)).collect()).unwrap()
}

fn place(i: usize, axis: usize) -> f64 {
    drawn(i, axis + 1000, 3)
}

fn far(i: usize, j: usize, axes: usize) -> f64 {
    (0..axes).map(|axis| (place(i, axis) - place(j, axis)).powi(2)).sum::<f64>().sqrt()
}

/// Points of two and of three dimensions are recovered whatever the units, with half of all pairs missing.
#[test]
fn exact_distances_are_found_again() {
    for (axes, unit) in [(2, 1.0), (3, 1.0), (2, 1e-55), (2, 1e55)] {
        let known = |i: usize, j: usize| drawn(i, j, 1) > 0.5;
        let cell = |i: usize, j: usize| if i == j { 0.0 } else { unit * far(i, j, axes) };
        let given = table(60, |i, j| if i == j || known(i, j) { cell(i, j) } else { f64::NAN });
        let full = complete_distances(&given, &Silent).unwrap();
        let off = (0..3600).map(|at| (full.between(at / 60, at % 60) - cell(at / 60, at % 60)).abs() / unit);
        let worst = off.fold(0.0, f64::max);
        assert!(worst < 1e-6, "{axes} {unit}: {worst} {:?}", full.completion());
        assert_eq!(full.matrix().missing(), given.missing());
    }
}

/// The gradient matches the value.
#[test]
fn the_gradient_is_that_of_central_differences() {
    let given = table(7, |i, j| if i.abs_diff(j) == 3 { f64::NAN } else { far(i, j, 4) });
    let (filled, missing) = mirrored(&given, |_, _| 0.0).unwrap();
    let known = KnownSquares::of(&Distances::new(filled).unwrap(), &missing).unwrap();
    let mut objective = Squares { known: &known, columns: 2, pairs: known.pairs() as f64, lowest: Vec::new() };
    let x: Vec<f64> = (0..15).map(|at| if at == 14 { 0.1 } else { drawn(at, 2, 9) }).collect();
    let (mut gradient, mut unused) = (vec![0.0; 15], vec![0.0; 15]);
    objective.value(&x, &mut gradient).unwrap();
    for at in 0..15 {
        let mut moved = |h: f64| {
            let mut x = x.clone();
            x[at] += h;
            objective.value(&x, &mut unused).unwrap().unwrap()
        };
        let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        assert!((difference - gradient[at]).abs() < 1e-8, "{at}: {difference} {}", gradient[at]);
    }
}

#[test]
fn one_known_direction_is_enough_and_the_diagonal_is_known() {
    let given = table(6, |i, j| if i < j || (i == j && i < 5) { f64::NAN } else { far(i, j, 5) });
    let full = complete_distances(&given, &Silent);
    assert!(full.is_ok_and(|full| full.between(4, 1) == far(4, 1, 5) && full.completion().is_none()));
}

#[test]
fn what_says_nothing_of_a_point_is_refused() {
    let message = |n: usize, known: &dyn Fn(usize, usize) -> bool| {
        let cell = |i: usize, j: usize| if i == j || known(i, j) { far(i, j, 2) } else { f64::NAN };
        complete_distances(&table(n, cell), &Silent).unwrap_err().to_string()
    };
    let alone = message(6, &|i, j| i != 2 && j != 2);
    assert!(alone.starts_with("no cell of point 3 is known"), "{alone}");
    let hanging = message(6, &|i, j| (i != 2 && j != 2) || i == 0 || j == 0);
    assert!(hanging.starts_with("only one cell of point 3 is known"), "{hanging}");
    let halves = message(10, &|i, j| (i < 6) == (j < 6));
    assert!(halves.contains("2 components (6, 4 points)"), "{halves}");
    let three = message(3, &|i, j| i != j && i + j != 3);
    assert!(three.starts_with("only one cell of point 2"), "{three}");
    let similar = table(4, |i, j| if i == 1 && j == 1 { f64::NAN } else { f64::from(u8::from(i == j)) });
    let own = complete_similarities(&similar, &Silent).unwrap_err().to_string();
    assert!(own.starts_with("the similarity of point 2 to itself"), "{own}");
}

/// Points that all coincide, and duplicates, are handled.
#[test]
fn points_at_one_place_are_at_distance_zero() {
    let given = table(12, |i, j| if i.abs_diff(j) == 4 { f64::NAN } else { 0.0 });
    let full = complete_distances(&given, &Silent).unwrap();
    assert!(full.matrix().values().iter().all(|&d| d.abs() < 1e-100));
}
