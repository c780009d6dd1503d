//! A function of one point of the map to second order, and its minimum by Newton's method.
//!
//! ```text
//! f(y + s) ≈ f(y) + g·s + ½ s·H s        s = −(H + μ 1)⁻¹ g,   no longer than a radius
//! ```
//!
//! with μ zero where H is positive definite. The radius grows where the model of second order is right and shrinks where it is
//! not, and only steps that lower f are taken (J. J. Moré, D. C. Sorensen. Computing a trust region step. SIAM Journal on
//! Scientific and Statistical Computing 4(3), 1983). In up to three dimensions a step costs little more than a gradient,
//! and a few of them do.

/// Terms that are added in SIMD lanes.
const LANES: usize = 8;
/// The tolerance of the gradient.
const GRADIENT: f64 = 1e-9;
/// The maximum number of evaluations.
const EVALUATIONS: usize = 200;
/// The length of the longest first step, in units in which the kernels are about one wide.
const FIRST: f64 = 1.0;
/// Decreases below this fraction of the value are rounding.
const ROUNDING: f64 = 1e-13;

/// A function at a point: its value, gradient and second derivatives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expansion<const D: usize> {
    pub(crate) value: f64,
    pub(crate) gradient: [f64; D],
    pub(crate) curvature: [[f64; D]; D],
}

impl<const D: usize> Expansion<D> {
    /// Σⱼ w[j] k(‖y − y[j]‖²); the positions are stored one coordinate after the other, and `lanes` has k and its two
    /// derivatives. Weights that are not given are one.
    #[inline(always)]
    pub(crate) fn of_sum(
        columns: &[&[f64]; D],
        weights: Option<&[f64]>,
        y: &[f64; D],
        lanes: impl Fn(&[f64; LANES]) -> [[f64; LANES]; 3],
    ) -> Expansion<D> {
        let count = columns[0].len();
        let mut sums = Sums { value: [0.0; LANES], gradient: [[0.0; LANES]; D], curvature: [[[0.0; LANES]; D]; D] };
        let whole = count / LANES * LANES;
        for start in (0..whole).step_by(LANES) {
            let at: [[f64; LANES]; D] = std::array::from_fn(|q| lane(&columns[q][start..start + LANES]));
            let weight = weights.map_or([1.0; LANES], |weights| lane(&weights[start..start + LANES]));
            sums.add(&at, &weight, y, &lanes);
        }
        if whole < count {
            let (mut at, mut weight) = ([[0.0; LANES]; D], [0.0; LANES]);
            for l in 0..count - whole {
                (0..D).for_each(|q| at[q][l] = columns[q][whole + l]);
                weight[l] = weights.map_or(1.0, |weights| weights[whole + l]);
            }
            sums.add(&at, &weight, y, &lanes);
        }
        let mut all = Expansion {
            value: sums.value.iter().sum(),
            gradient: sums.gradient.map(|lanes| lanes.iter().sum()),
            curvature: sums.curvature.map(|row| row.map(|lanes| lanes.iter().sum())),
        };
        for q in 0..D {
            (0..q).for_each(|p| all.curvature[p][q] = all.curvature[q][p]);
        }
        all
    }

    /// This plus `factor` times the other.
    #[inline(always)]
    pub(crate) fn plus(mut self, factor: f64, other: &Expansion<D>) -> Expansion<D> {
        self.value += factor * other.value;
        for p in 0..D {
            self.gradient[p] += factor * other.gradient[p];
            (0..D).for_each(|q| self.curvature[p][q] += factor * other.curvature[p][q]);
        }
        self
    }

    /// The logarithm of a positive function.
    #[inline(always)]
    pub(crate) fn log(&self) -> Expansion<D> {
        let sum = self.value.max(f64::MIN_POSITIVE);
        let gradient = self.gradient.map(|g| g / sum);
        Expansion {
            value: sum.ln(),
            gradient,
            curvature: std::array::from_fn(|p| {
                std::array::from_fn(|q| self.curvature[p][q] / sum - gradient[p] * gradient[q])
            }),
        }
    }

    fn steepness(&self) -> f64 {
        self.gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()))
    }

    /// The step of at most that length, and the decrease that the expansion predicts for it.
    #[inline(always)]
    fn step(&self, radius: f64) -> ([f64; D], f64) {
        let size = self.curvature.iter().flatten().fold(0.0, |most: f64, c| most.max(c.abs()));
        // Gershgorin's lower bound of the eigenvalues.
        let entry = |p: usize, q: usize| if p == q { self.curvature[p][p] } else { -self.curvature[p][q].abs() };
        let least = (0..D).map(|p| (0..D).map(|q| entry(p, q)).sum::<f64>()).fold(f64::INFINITY, f64::min);
        let mut step = self.solved(0.0, 1e-6 * size);
        if step.is_none() {
            step = self.solved((0.1 * size - least).max(f64::MIN_POSITIVE), 0.0);
        }
        let mut step = step.unwrap_or(self.gradient.map(|g| -g));
        let length = norm(&step);
        if length > radius {
            step = step.map(|s| s * radius / length);
        }
        let slope: f64 = step.iter().zip(&self.gradient).map(|(s, g)| s * g).sum();
        let bend: f64 = (0..D).map(|p| (0..D).map(|q| step[p] * self.curvature[p][q] * step[q]).sum::<f64>()).sum();
        (step, -slope - 0.5 * bend)
    }

    /// −(H + μ 1)⁻¹ g by Cholesky's factors, if all pivots are above a bound.
    #[inline(always)]
    fn solved(&self, shift: f64, bound: f64) -> Option<[f64; D]> {
        let (mut factor, mut step) = ([[0.0; D]; D], [0.0; D]);
        for p in 0..D {
            for q in 0..=p {
                let known: f64 = (0..q).map(|r| factor[p][r] * factor[q][r]).sum();
                let rest = self.curvature[p][q] - known;
                if p == q {
                    let pivot = rest + shift;
                    if pivot <= bound || !pivot.is_finite() {
                        return None;
                    }
                    factor[p][p] = pivot.sqrt();
                } else {
                    factor[p][q] = rest / factor[q][q];
                }
            }
            step[p] = (-self.gradient[p] - (0..p).map(|r| factor[p][r] * step[r]).sum::<f64>()) / factor[p][p];
        }
        for p in (0..D).rev() {
            step[p] = (step[p] - (p + 1..D).map(|r| factor[r][p] * step[r]).sum::<f64>()) / factor[p][p];
        }
        Some(step)
    }
}

/// The minimum that is reached downhill from the lowest of some starts, the first of those that are equally low.
#[inline(always)]
pub(crate) fn minimum<const D: usize>(starts: &[[f64; D]], at: impl Fn(&[f64; D]) -> Expansion<D>) -> [f64; D] {
    let (mut y, mut here, mut radius) = (starts[0], at(&starts[0]), FIRST);
    for start in &starts[1..] {
        let there = at(start);
        if there.value < here.value {
            (y, here) = (*start, there);
        }
    }
    for _ in 1..EVALUATIONS {
        if here.steepness() <= GRADIENT {
            break;
        }
        let (step, predicted) = here.step(radius);
        let next: [f64; D] = std::array::from_fn(|q| y[q] + step[q]);
        if next == y {
            break;
        }
        let there = at(&next);
        if predicted <= ROUNDING * here.value.abs() {
            // Rounding hides the decrease, but not that of the gradient.
            if there.steepness() < here.steepness() {
                (y, here) = (next, there);
                continue;
            }
            break;
        }
        let (ratio, length) = ((here.value - there.value) / predicted, norm(&step));
        if ratio > 0.75 {
            radius = radius.max(2.0 * length);
        } else if ratio.is_nan() || ratio < 0.25 {
            radius = 0.25 * length;
        }
        if ratio > 1e-4 {
            (y, here) = (next, there);
        }
    }
    y
}

fn norm<const D: usize>(x: &[f64; D]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[inline(always)]
fn lane(values: &[f64]) -> [f64; LANES] {
    std::array::from_fn(|l| values[l])
}

/// The sums of [`Expansion::of_sum`], lane by lane.
struct Sums<const D: usize> {
    value: [f64; LANES],
    gradient: [[f64; LANES]; D],
    /// The lower triangle.
    curvature: [[[f64; LANES]; D]; D],
}

impl<const D: usize> Sums<D> {
    #[inline(always)]
    fn add(
        &mut self,
        at: &[[f64; LANES]; D],
        weight: &[f64; LANES],
        y: &[f64; D],
        lanes: impl Fn(&[f64; LANES]) -> [[f64; LANES]; 3],
    ) {
        let (mut away, mut square) = ([[0.0; LANES]; D], [0.0; LANES]);
        for q in 0..D {
            for l in 0..LANES {
                away[q][l] = y[q] - at[q][l];
                square[l] += away[q][l] * away[q][l];
            }
        }
        let [value, mut once, mut twice] = lanes(&square);
        for l in 0..LANES {
            self.value[l] += weight[l] * value[l];
            once[l] *= 2.0 * weight[l];
            twice[l] *= 4.0 * weight[l];
        }
        for p in 0..D {
            for l in 0..LANES {
                self.gradient[p][l] += once[l] * away[p][l];
                self.curvature[p][p][l] += once[l];
            }
            for q in 0..=p {
                for l in 0..LANES {
                    self.curvature[p][q][l] += twice[l] * away[p][l] * away[q][l];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forces::{AttractionKernel, Kernel, Shape};

    fn sum<const D: usize>(y: &[f64; D]) -> Expansion<D> {
        let columns: [Vec<f64>; D] =
            std::array::from_fn(|q| (0..21).map(|j| f64::from((j * (7 + q as i32)) % 13) * 0.3).collect());
        let columns = columns.each_ref().map(|column| &column[..]);
        let weights: Vec<f64> = (0..21).map(|j| 0.1 + f64::from(j % 4)).collect();
        let kernel = Kernel::of(Shape::Student(1.0));
        let pull = Expansion::of_sum(&columns, Some(&weights), y, |s| AttractionKernel::Student(1.0).bent_lanes(s));
        pull.plus(20.0, &Expansion::of_sum(&columns, None, y, |s| kernel.bent_lanes(s)).log())
    }

    /// Gradients and second derivatives are central differences of what is one order below.
    fn agrees<const D: usize>(y: [f64; D]) {
        let h = 1e-5;
        for p in 0..D {
            let moved = |by: f64| {
                let mut y = y;
                y[p] += by;
                sum(&y)
            };
            let (after, before, here) = (moved(h), moved(-h), sum(&y));
            assert!(((after.value - before.value) / (2.0 * h) - here.gradient[p]).abs() < 1e-7);
            for q in 0..D {
                let difference = (after.gradient[q] - before.gradient[q]) / (2.0 * h);
                assert!((difference - here.curvature[p][q]).abs() < 1e-7, "{difference} {:?}", here.curvature);
            }
        }
    }

    #[test]
    fn derivatives_of_a_sum_and_its_logarithm_are_central_differences() {
        agrees([0.3]);
        agrees([0.3, 2.0]);
        agrees([0.3, 2.0, -1.0]);
    }

    #[test]
    fn the_minimum_is_a_minimum_from_every_start() {
        for step in 0..200 {
            let angle = f64::from(step);
            let start = [2.0 + 5.0 * angle.cos(), 2.0 + 5.0 * (1.7 * angle).sin()];
            let y = minimum(&[start], sum);
            let end = sum(&y);
            assert!(end.steepness() < 1e-8 && end.value <= sum(&start).value, "{start:?}: {end:?}");
            assert!(end.solved(0.0, 0.0).is_some(), "{start:?}: a saddle at {y:?}");
        }
    }

    /// (y² − 1)² + y/10 has two minima, and the starts are on both sides.
    #[test]
    fn the_lowest_start_counts() {
        let wells = |y: &[f64; 1]| Expansion {
            value: (y[0] * y[0] - 1.0).powi(2) + 0.1 * y[0],
            gradient: [4.0 * y[0] * (y[0] * y[0] - 1.0) + 0.1],
            curvature: [[12.0 * y[0] * y[0] - 4.0]],
        };
        let ends = |starts: &[[f64; 1]]| minimum(starts, wells)[0];
        assert!((ends(&[[0.9]]) - 0.987).abs() < 1e-3 && (ends(&[[0.9], [-1.1]]) + 1.012).abs() < 1e-3);
        assert_eq!(ends(&[[0.9], [-1.1]]), ends(&[[-1.1], [0.9]]));
    }

    #[test]
    fn a_bowl_takes_one_step_within_the_radius() {
        let bowl = |y: &[f64; 2]| Expansion {
            value: 0.5 * (y[0] * y[0] + 4.0 * y[1] * y[1]),
            gradient: [y[0], 4.0 * y[1]],
            curvature: [[1.0, 0.0], [0.0, 4.0]],
        };
        let here = bowl(&[0.3, -0.4]);
        assert_eq!(here.step(1.0), ([-0.3, 0.4], here.value));
        assert!((norm(&here.step(0.1).0) - 0.1).abs() < 1e-15);
        assert_eq!(minimum(&[[30.0, -40.0]], bowl), [0.0, 0.0]);
    }
}
