//! Sample data sets: seeded draws from known surfaces and curves, with their true coordinates.
//!
//! Every draw is uniform on the surface itself: equal areas (or lengths) hold equally many points. The same seed gives
//! the same true coordinates whatever the noise, which is Gaussian and added to every coordinate. In formulas:
//!
//! ```text
//! swiss-roll          (t cos t, h, t sin t)      truth (s(t) − s(3π/2), h), 3π/2 ≤ t ≤ 9π/2, 0 ≤ h ≤ 21
//! severed-swiss-roll  the same, without the middle third (of the length) of the middle third (of the height)
//! s-curve             (sin t, h, sign(t)(cos t − 1))    truth (t, h), −3π/2 ≤ t ≤ 3π/2, 0 ≤ h ≤ 2
//! spiral              (t cos t, t sin t)         truth s(t) − s(3π/2), as the swiss roll seen from the end
//! ring                (cos t, sin t/√2, sin t/√2)       truth (cos t, sin t), a circle in a tilted plane
//! sphere              (√(1−z²) cos t, √(1−z²) sin t, z)  truth (t, z), the equal-area map of the unit sphere
//! torus               ((3 + cos b) cos a, (3 + cos b) sin a, sin b)    truth (3a, b + sin(b)/3), equal in area
//! twin-peaks          (x, y, sin(πx) tanh(3y))   truth (x, y), −1 ≤ x, y ≤ 1
//! helix               (cos t, sin t, t/4)        truth √(1 + 1/16) t, the arc length, 0 ≤ t ≤ 8π
//! grid                (i/(g−1), j/(g−1))         truth the same; the first n of g², g = ⌈√n⌉, row by row
//! blobs               a center + N(0, 1)         truth the center; five centers uniform in (−10, 10)¹⁰
//!
//! s(t) = (t √(1 + t²) + asinh t) / 2             the arc length of the spiral
//! ```
//!
//! The swiss roll and the S curve are scikit-learn's surfaces, here uniform in area: J. B. Tenenbaum, V. de Silva,
//! J. C. Langford. A global geometric framework for nonlinear dimensionality reduction. Science 290, 2000. The twin
//! peaks are from L. K. Saul, S. T. Roweis. Think globally, fit locally. JMLR 4, 2003.

use eigenfold_graph::points::Points;
use eigenfold_io::Labels;
use eigenfold_linalg::error::{Error, Result};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

const ROLL_START: f64 = 1.5 * PI;
const ROLL_END: f64 = 4.5 * PI;
const ROLL_HEIGHT: f64 = 21.0;
const BLOBS: usize = 5;
const BLOB_DIMS: usize = 10;

/// A data set that can be drawn with any number of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// A rolled-up rectangle.
    SwissRoll,
    /// The swiss roll with a rectangular hole in its middle.
    SeveredSwissRoll,
    /// A rectangle bent to an S.
    SCurve,
    /// The swiss roll's spiral, in the plane.
    Spiral,
    /// A circle in a tilted plane of space.
    Ring,
    /// The unit sphere.
    Sphere,
    /// A torus with radii 3 and 1.
    Torus,
    /// A square surface with two peaks and two pits.
    TwinPeaks,
    /// Four turns of a helix.
    Helix,
    /// A square grid, the same for every seed.
    Grid,
    /// Five Gaussian clusters in ten dimensions.
    Blobs,
}

/// Points and their true coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// The points, with their noise.
    pub points: Points,
    /// The true coordinates of each point on its surface.
    pub truth: Points,
    /// The color of the points: the parameter along the surface, or the cluster.
    pub labels: Labels,
}

impl Sample {
    /// All data sets, in the order of the documentation.
    pub const ALL: [Sample; 11] = [
        Sample::SwissRoll,
        Sample::SeveredSwissRoll,
        Sample::SCurve,
        Sample::Spiral,
        Sample::Ring,
        Sample::Sphere,
        Sample::Torus,
        Sample::TwinPeaks,
        Sample::Helix,
        Sample::Grid,
        Sample::Blobs,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Sample::SwissRoll => "swiss-roll",
            Sample::SeveredSwissRoll => "severed-swiss-roll",
            Sample::SCurve => "s-curve",
            Sample::Spiral => "spiral",
            Sample::Ring => "ring",
            Sample::Sphere => "sphere",
            Sample::Torus => "torus",
            Sample::TwinPeaks => "twin-peaks",
            Sample::Helix => "helix",
            Sample::Grid => "grid",
            Sample::Blobs => "blobs",
        }
    }

    /// The data set of this name.
    ///
    /// # Errors
    ///
    /// If there is none; the message lists the names.
    pub fn from_name(name: &str) -> Result<Sample> {
        Sample::ALL.into_iter().find(|sample| sample.name() == name).ok_or_else(|| {
            let (choices, fact) = (Sample::ALL.map(Sample::name).to_vec(), format!("unknown data set {name:?}"));
            let way_out = format!("use one of {}", choices.join(", "));
            Error::Unknown { parameter: "name".into(), guess: None, choices, fact, way_out }
        })
    }

    /// Draws `n` points and adds Gaussian noise of this standard deviation to every coordinate.
    ///
    /// # Errors
    ///
    /// If `n` is 0 or more than a graph can number (2³² − 1), or the noise is negative or not finite.
    pub fn draw(self, n: usize, noise: f64, seed: u64) -> Result<Drawn> {
        if n == 0 || n >= u32::MAX as usize {
            let most = u32::MAX - 1;
            return Err(Error::out_of_range(
                "n",
                n,
                1..=most as usize,
                format!("{n} points cannot be drawn"),
                format!("use -n from 1 to {most}"),
            ));
        }
        if !(0.0..f64::INFINITY).contains(&noise) {
            return Err(Error::parameter(
                "noise",
                format!("the noise is {noise}"),
                "it is a standard deviation, finite and not negative",
            ));
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut noise_rng = rng.clone();
        noise_rng.jump();
        let (dims, truth_dims) = self.dims();
        let (mut points, mut truth) = (Vec::with_capacity(n * dims), Vec::with_capacity(n * truth_dims));
        let labels = match self {
            Sample::Blobs => draw_blobs(n, &mut rng, &mut points, &mut truth),
            _ => {
                let mut labels = Vec::with_capacity(n);
                for i in 0..n {
                    let Spot { point, chart, label } = self.place(i, n, &mut rng);
                    points.extend_from_slice(&point[..dims]);
                    truth.extend_from_slice(&chart[..truth_dims]);
                    labels.push(label);
                }
                Labels::Values(labels)
            }
        };
        if noise > 0.0 {
            for value in &mut points {
                let normal: f64 = StandardNormal.sample(&mut noise_rng);
                *value += noise * normal;
            }
        }
        Ok(Drawn { points: Points::new(n, dims, points)?, truth: Points::new(n, truth_dims, truth)?, labels })
    }

    /// The number of coordinates of the points, and of their true coordinates.
    fn dims(self) -> (usize, usize) {
        match self {
            Sample::Spiral => (2, 1),
            Sample::Grid => (2, 2),
            Sample::Helix => (3, 1),
            Sample::Blobs => (BLOB_DIMS, BLOB_DIMS),
            _ => (3, 2),
        }
    }

    /// Point `i` of `n`, without noise.
    fn place(self, i: usize, n: usize, rng: &mut Xoshiro256PlusPlus) -> Spot {
        let mut uniform = |low: f64, high: f64| low + (high - low) * rng.random::<f64>();
        match self {
            Sample::SwissRoll => roll(uniform(0.0, 1.0), uniform(0.0, 1.0)),
            Sample::SeveredSwissRoll => loop {
                let (u, v) = (uniform(0.0, 1.0), uniform(0.0, 1.0));
                let in_middle = |x: f64| (1.0 / 3.0..=2.0 / 3.0).contains(&x);
                if !(in_middle(u) && in_middle(v)) {
                    return roll(u, v);
                }
            },
            Sample::SCurve => {
                let (t, h) = (uniform(-1.5 * PI, 1.5 * PI), uniform(0.0, 2.0));
                Spot { point: [t.sin(), h, t.signum() * (t.cos() - 1.0)], chart: [t, h], label: t }
            }
            Sample::Spiral => {
                let Spot { point: [x, _, y], chart, label } = roll(uniform(0.0, 1.0), 0.0);
                Spot { point: [x, y, 0.0], chart, label }
            }
            Sample::Ring => {
                let t = uniform(0.0, 2.0 * PI);
                let lift = t.sin() * FRAC_1_SQRT_2;
                Spot { point: [t.cos(), lift, lift], chart: [t.cos(), t.sin()], label: t }
            }
            Sample::Sphere => {
                let (t, z) = (uniform(-PI, PI), uniform(-1.0, 1.0));
                let r = (1.0 - z * z).sqrt();
                Spot { point: [r * t.cos(), r * t.sin(), z], chart: [t, z], label: z }
            }
            Sample::Torus => torus(uniform(-PI, PI), uniform(-PI, PI)),
            Sample::TwinPeaks => loop {
                let (x, y, level) = (uniform(-1.0, 1.0), uniform(-1.0, 1.0), uniform(0.0, 1.0));
                if level <= twin_peaks_density(x, y) {
                    let z = (PI * x).sin() * (3.0 * y).tanh();
                    return Spot { point: [x, y, z], chart: [x, y], label: z };
                }
            },
            Sample::Helix => {
                let t = uniform(0.0, 8.0 * PI);
                Spot { point: [t.cos(), t.sin(), t / 4.0], chart: [t * 17f64.sqrt() / 4.0, 0.0], label: t }
            }
            Sample::Grid | Sample::Blobs => grid(i, n),
        }
    }
}

/// One point without noise, with zeros for the coordinates it does not have.
struct Spot {
    point: [f64; 3],
    chart: [f64; 2],
    label: f64,
}

/// The point of the swiss roll at these fractions of its length and of its height.
fn roll(u: f64, v: f64) -> Spot {
    let length = arc_length(ROLL_END) - arc_length(ROLL_START);
    let (s, h) = (u * length, v * ROLL_HEIGHT);
    let target = arc_length(ROLL_START) + s;
    // s(t) is nearly t²/2, so this start is already close.
    let t = newton((2.0 * target).sqrt(), |t| (arc_length(t) - target, (1.0 + t * t).sqrt()));
    Spot { point: [t * t.cos(), h, t * t.sin()], chart: [s, h], label: t }
}

/// The length of the spiral (t cos t, t sin t) from its center.
fn arc_length(t: f64) -> f64 {
    0.5 * (t * (1.0 + t * t).sqrt() + t.asinh())
}

/// The point of the torus at angle `a` around the axis and at this area around the tube.
fn torus(a: f64, area: f64) -> Spot {
    let b = newton(area, |b| (b + b.sin() / 3.0 - area, 1.0 + b.cos() / 3.0));
    let r = 3.0 + b.cos();
    Spot { point: [r * a.cos(), r * a.sin(), b.sin()], chart: [3.0 * a, area], label: a }
}

/// The area of the twin peaks above a unit of the square, relative to its bound √(1 + π²).
fn twin_peaks_density(x: f64, y: f64) -> f64 {
    let slope_x = PI * (PI * x).cos() * (3.0 * y).tanh();
    let slope_y = 3.0 * (PI * x).sin() / (3.0 * y).cosh().powi(2);
    ((1.0 + slope_x * slope_x + slope_y * slope_y) / (1.0 + PI * PI)).sqrt()
}

/// Point `i` of the smallest square grid that has `n` points.
fn grid(i: usize, n: usize) -> Spot {
    let side = (n - 1).isqrt() + 1;
    let step = 1.0 / (side.max(2) - 1) as f64;
    let (x, y) = ((i % side) as f64 * step, (i / side) as f64 * step);
    Spot { point: [x, y, 0.0], chart: [x, y], label: x }
}

/// The root of an increasing function, given as its value and its derivative, from a start near it.
fn newton(start: f64, function: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut root = start;
    for _ in 0..50 {
        let (value, derivative) = function(root);
        let step = value / derivative;
        root -= step;
        if step.abs() <= 1e-14 * root.abs().max(1.0) {
            break;
        }
    }
    root
}

/// Draws the clusters, one after the other, and returns the cluster of every point.
fn draw_blobs(n: usize, rng: &mut Xoshiro256PlusPlus, points: &mut Vec<f64>, truth: &mut Vec<f64>) -> Labels {
    let centers: Vec<f64> = (0..BLOBS * BLOB_DIMS).map(|_| 20.0 * rng.random::<f64>() - 10.0).collect();
    let of: Vec<u32> = (0..n).map(|i| (i % BLOBS) as u32).collect();
    for &blob in &of {
        let center = &centers[blob as usize * BLOB_DIMS..][..BLOB_DIMS];
        truth.extend_from_slice(center);
        points.extend(
            center.iter().map(|c| -> f64 { c + <StandardNormal as Distribution<f64>>::sample(&StandardNormal, rng) }),
        );
    }
    let names = (1..=BLOBS).map(|blob| blob.to_string()).collect();
    Labels::Classes { names, of: of.into_iter().map(Some).collect() }
}

/// A random sample of this many of n rows, in their order; all of them if there are no more.
pub fn rows_at_random(n: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut draw = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut rows = rand::seq::index::sample(&mut draw, n, count.min(n)).into_vec();
    rows.sort_unstable();
    rows
}

/// The R2 swiss roll, the same on every machine: u = frac(½ + i/g), v = frac(½ + i/g²), t = 3π/2 (1 + 2u),
/// (t cos t, 21 v, t sin t), i = 1..n, g the real root of g³ = g + 1.
#[cfg(test)]
pub(crate) fn r2_swiss_roll(n: usize) -> Points {
    let g = 1.324_717_957_244_746_f64;
    let row = |i: usize| {
        let (u, v) = ((0.5 + i as f64 / g).fract(), (0.5 + i as f64 / (g * g)).fract());
        let t = 1.5 * std::f64::consts::PI * (1.0 + 2.0 * u);
        [t * t.cos(), 21.0 * v, t * t.sin()]
    };
    Points::from_rows(&(1..=n).map(row).collect::<Vec<_>>()).expect("finite rows of one length")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_sets_and_a_wrong_one_lists_them() {
        for sample in Sample::ALL {
            assert_eq!(Sample::from_name(sample.name()).unwrap(), sample);
        }
        let message = Sample::from_name("roll").unwrap_err().to_string();
        assert!(message.starts_with("unknown data set \"roll\"; use one of swiss-roll, severed"), "{message}");
    }

    #[test]
    fn every_set_has_n_points_and_a_truth_that_noise_does_not_change() {
        for sample in Sample::ALL {
            let clean = sample.draw(97, 0.0, 3).unwrap();
            let noisy = sample.draw(97, 0.1, 3).unwrap();
            assert_eq!((clean.points.rows(), clean.truth.rows(), clean.labels.len()), (97, 97, 97));
            assert_eq!(clean.truth, noisy.truth);
            assert_ne!(clean.points, noisy.points);
            assert_eq!(noisy, sample.draw(97, 0.1, 3).unwrap());
        }
        assert!(Sample::Ring.draw(0, 0.0, 0).is_err());
        assert!(Sample::Ring.draw(5, -1.0, 0).is_err());
        assert!(Sample::Ring.draw(5, f64::NAN, 0).is_err());
    }

    #[test]
    fn close_points_of_the_sheets_are_as_far_apart_as_their_true_coordinates() {
        for sample in [Sample::SwissRoll, Sample::SeveredSwissRoll, Sample::SCurve, Sample::Spiral, Sample::Helix] {
            let Drawn { points, truth, .. } = sample.draw(3000, 0.0, 1).unwrap();
            let distance = |set: &Points, j: usize| {
                let squares = set.row(0).iter().zip(set.row(j)).map(|(a, b)| (a - b) * (a - b));
                squares.sum::<f64>().sqrt()
            };
            let nearest = (1..3000).min_by(|&a, &b| distance(&truth, a).total_cmp(&distance(&truth, b))).unwrap();
            let (bent, flat) = (distance(&points, nearest), distance(&truth, nearest));
            assert!(bent <= flat && bent > 0.99 * flat, "{}: {bent} for {flat}", sample.name());
        }
    }

    #[test]
    fn draws_are_uniform_on_the_sheet() {
        // Each coordinate of a uniform chart has the mean and the variance (width²/12) of a uniform number.
        for (sample, width) in [(Sample::SwissRoll, 89.19), (Sample::SCurve, 3.0 * PI), (Sample::Torus, 6.0 * PI)] {
            for seed in 0..10 {
                let truth = sample.draw(4000, 0.0, seed).unwrap().truth;
                let mean = truth.column_means()[0];
                let variance = (0..4000).map(|i| (truth.row(i)[0] - mean).powi(2)).sum::<f64>() / 4000.0;
                assert!((variance / (width * width / 12.0) - 1.0).abs() < 0.08, "{} {variance}", sample.name());
            }
        }
        // Half of a sphere's area is within 30 degrees of the equator; 1/2 + 1/(3π) of the torus's is outside r = 3.
        let sphere = Sample::Sphere.draw(10_000, 0.0, 0).unwrap().points;
        let low = (0..10_000).filter(|&i| sphere.row(i)[2].abs() < 0.5).count();
        assert!(low.abs_diff(5000) < 200, "{low}");
        let torus = Sample::Torus.draw(10_000, 0.0, 0).unwrap().points;
        let outside = (0..10_000).filter(|&i| torus.row(i)[0].hypot(torus.row(i)[1]) > 3.0).count();
        assert!(outside.abs_diff(6061) < 200, "{outside}");
    }

    #[test]
    fn the_grid_of_ten_points_fills_a_square_of_side_four() {
        let grid = Sample::Grid.draw(10, 0.0, 5).unwrap().points;
        assert_eq!(grid.row(3), [1.0, 0.0]);
        assert_eq!(grid.row(9), [1.0 / 3.0, 2.0 / 3.0]);
    }
}
