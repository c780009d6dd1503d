//! Claims of N. D. Lawrence's paper of 2012 (JMLR 13) that need no data of its own; `beside` has its experiments.
use crate::support::circle::circle;
use crate::support::*;
use eigenfold::io::{self, ReadOptions};
use faer::Mat;

/// Section 5.1: the covariance of the Ornstein-Uhlenbeck process over points on a line is dense, and its inverse is
/// tridiagonal. With r[i] the correlation across the i-th gap:
///
/// ```text
/// K⁻¹[i,i+1] = −r[i] / (1 − r[i]²)    K⁻¹[i,i] = 1 + r[i−1]² / (1 − r[i−1]²) + r[i]² / (1 − r[i]²)
/// ```
#[test]
fn l12_the_ornstein_uhlenbeck_covariance_has_a_tridiagonal_inverse() {
    let n = 60;
    // Gaps between 0.2 and 1.8 lengths.
    let gap = |i: usize| 0.2 + 1.6 * (0.5 + i as f64 * 0.618_033_988_749_895).fract();
    let places: Vec<f64> = (0..n).scan(0.0, |at, i| Some(std::mem::replace(at, *at + gap(i)))).collect();
    let covariance = Mat::from_fn(n, n, |i, j| (-(places[i] - places[j]).abs()).exp());
    assert!((0..n).all(|i| (0..n).all(|j| covariance[(i, j)] > 0.0)), "the covariance is dense");
    let inverse = inverse(&covariance);
    let squared = |i: usize| (-2.0 * gap(i)).exp();
    let beside = |i: usize| squared(i) / (1.0 - squared(i));
    for i in 0..n {
        for j in 0..=i {
            let expected = match i - j {
                0 => 1.0 + if i > 0 { beside(i - 1) } else { 0.0 } + if i + 1 < n { beside(i) } else { 0.0 },
                1 => -(-gap(j)).exp() / (1.0 - squared(j)),
                _ => 0.0,
            };
            assert!((inverse[(i, j)] - expected).abs() < EXACT, "({i}, {j}): {} for {expected}", inverse[(i, j)]);
        }
    }
}

/// Figure 1: an image rotated in steps of one degree traces a circle in its first two principal components. They are the
/// harmonic of the angle in which the image has most energy: the first for some sixes, and the circle is traced once; the
/// second for many others, and it is traced twice. The radius is constant up to the interpolation: on the grid of the
/// 8 x 8 digits itself to a tenth only, hence the finer one.
#[test]
fn l13_a_rotated_image_traces_a_circle_in_its_first_two_principal_components() {
    let digits = io::read("digits", &ReadOptions::default()).unwrap().points;
    for (row, turns) in [(67, 1.0), (104, 1.0), (6, 2.0), (16, 2.0)] {
        let six = Mat::from_fn(8, 8, |i, j| digits.row(row)[8 * i + j]);
        let circle = circle(&six, 3);
        assert!(circle.off < 0.02, "digit {row}: the radius varies by {}", circle.off);
        assert!((circle.turns - turns).abs() < 1e-9, "digit {row}: {} turns", circle.turns);
        assert!(circle.smallest > 0.9, "digit {row}: a step is {} of the mean", circle.smallest);
    }
}
