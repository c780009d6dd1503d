//! Tests of the descent.

use super::run::TRIALS;
use super::*;
use crate::progress::{Silent, StopsAfter};

const STOP: Stop = Stop { gradient: 1e-8, decrease: 0.0, evaluations: 2000 };

fn descent(bounds: Bounds, memory: usize) -> Descent {
    Descent { bounds, memory, scale: None, cautious: false, stop: STOP, stage: None }
}

fn rosenbrock(x: &[f64], g: &mut [f64]) -> Result<Option<f64>> {
    let mut value = 0.0;
    g.fill(0.0);
    for i in 0..x.len() - 1 {
        let (a, b) = (1.0 - x[i], x[i + 1] - x[i] * x[i]);
        value += a * a + 100.0 * b * b;
        g[i] += -2.0 * a - 400.0 * x[i] * b;
        g[i + 1] += 200.0 * b;
    }
    Ok(Some(value))
}

#[test]
fn rosenbrocks_valley_is_followed_to_its_end() {
    for n in [2, 10, 50] {
        let optimizer = descent(Bounds::None, 10);
        let (x, report) = optimizer.minimize(&vec![-1.2; n], &mut rosenbrock, &Silent).unwrap();
        assert_eq!(report.ended, Ended::Gradient, "{report:?}");
        // From −1.2 everywhere long valleys have a second minimum near x₁ = −1.
        assert!(x[1..].iter().all(|x| (x - 1.0).abs() < 1e-6), "{x:?}");
    }
}

#[test]
fn a_valley_cut_by_a_bound_ends_on_it() {
    // On x₁ ≤ ½ the smallest value is at (½, ¼).
    let bounds = Bounds::Box { lower: vec![-2.0; 2], upper: vec![0.5, 3.0] };
    let optimizer = descent(bounds, 5);
    let (x, report) = optimizer.minimize(&[-1.0, 2.0], &mut rosenbrock, &Silent).unwrap();
    assert!(report.converged() && x[0] == 0.5 && (x[1] - 0.25).abs() < 1e-8, "{x:?} {report:?}");
}

#[test]
fn nonnegative_least_squares_meets_its_optimality_conditions() {
    // ½ xᵀ A x − bᵀx with A = tridiag(−1, 2, −1), x ≥ 0.
    let n = 300;
    let b: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
    let mut f = |x: &[f64], g: &mut [f64]| {
        for i in 0..n {
            let side = if i > 0 { x[i - 1] } else { 0.0 } + if i + 1 < n { x[i + 1] } else { 0.0 };
            g[i] = 2.0 * x[i] - side - b[i];
        }
        Ok(Some(0.5 * x.iter().zip(g.iter()).zip(&b).map(|((x, g), b)| x * (g - b)).sum::<f64>()))
    };
    // Below this rounding of the value hides the gradient.
    let stop = Stop { gradient: 1e-6, ..STOP };
    let optimizer = Descent { stop, ..descent(Bounds::AtLeast(0.0), 20) };
    let (x, report) = optimizer.minimize(&vec![1.0; n], &mut f, &Silent).unwrap();
    let mut g = vec![0.0; n];
    f(&x, &mut g).unwrap();
    assert!(report.converged(), "{report:?}");
    assert!((0..n).all(|i| x[i] >= 0.0 && g[i] > -1e-6 && (x[i] * g[i]).abs() < 1e-4));
    assert!(x.contains(&0.0) && x.iter().any(|x| *x > 0.0));
}

#[test]
fn where_the_function_ends_the_step_is_shortened() {
    // x − log x is not defined for x ≤ 0; the first step from 5 along the gradient must stop before.
    let mut f = |x: &[f64], g: &mut [f64]| {
        g[0] = 40.0 * (1.0 - 1.0 / x[0]);
        Ok((x[0] > 0.0).then(|| 40.0 * (x[0] - x[0].ln())))
    };
    let optimizer = descent(Bounds::None, 5);
    let (x, report) = optimizer.minimize(&[5.0], &mut f, &Silent).unwrap();
    assert!(report.converged() && (x[0] - 1.0).abs() < 1e-8, "{x:?} {report:?}");
    assert!(optimizer.minimize(&[-1.0], &mut f, &Silent).is_err());
    let bounds = Bounds::Box { lower: vec![0.0], upper: vec![9.0] };
    assert!(descent(bounds, 5).minimize(&[1.0, 1.0], &mut f, &Silent).is_err());
}

#[test]
fn the_observer_and_the_budget_end_it_with_what_there_is() {
    let mut optimizer = descent(Bounds::None, 5);
    let (x, report) = optimizer.minimize(&[-1.2, 1.0], &mut rosenbrock, &StopsAfter::questions(0)).unwrap();
    assert_eq!((x, report.ended, report.evaluations), (vec![-1.2, 1.0], Ended::Stopped, 1));
    optimizer.stop.evaluations = 7;
    let (_, report) = optimizer.minimize(&[-1.2, 1.0], &mut rosenbrock, &Silent).unwrap();
    assert_eq!(report.ended, Ended::Evaluations);
    assert!(report.value < 24.2 && report.evaluations <= 7 + TRIALS);
}

#[test]
fn a_stop_anywhere_gives_the_best_point_so_far() {
    let optimizer = descent(Bounds::None, 5);
    let mut last = f64::INFINITY;
    for questions in 0..20 {
        let observer = StopsAfter::questions(questions);
        let (x, report) = optimizer.minimize(&[-1.2, 1.0], &mut rosenbrock, &observer).unwrap();
        assert!(report.ended == Ended::Stopped && !report.converged(), "{report:?}");
        assert!(report.value <= last && rosenbrock(&x, &mut [0.0; 2]).unwrap() == Some(report.value));
        last = report.value;
    }
    assert!(last < 4.2, "{last}");
}

/// ½ Σ c (x − a)² with curvatures from 1 to 100: the minimum is max(a, lower). It stops by its own test, and may know its
/// curvature.
struct Bowl {
    a: Vec<f64>,
    c: Vec<f64>,
    lower: f64,
    known: bool,
    off: f64,
}

struct Diagonal(Vec<f64>);

impl Preconditioner for Diagonal {
    fn product(&self, v: &[f64]) -> Vec<f64> {
        v.iter().zip(&self.0).map(|(v, c)| v * c).collect()
    }

    fn solve(&self, v: &[f64], inside: &[bool]) -> Vec<f64> {
        (0..v.len()).map(|i| if inside[i] { v[i] / self.0[i] } else { 0.0 }).collect()
    }
}

impl Objective for Bowl {
    fn value(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<Option<f64>> {
        (0..x.len()).for_each(|i| gradient[i] = self.c[i] * (x[i] - self.a[i]));
        let off = |i: usize| if x[i] > self.lower { gradient[i].abs() } else { -gradient[i] };
        self.off = (0..x.len()).map(off).fold(0.0, f64::max);
        Ok(Some((0..x.len()).map(|i| 0.5 * gradient[i] * gradient[i] / self.c[i]).sum()))
    }

    fn enough(&self) -> bool {
        self.off < 1e-10
    }

    fn rounding(&self, value: f64) -> f64 {
        1e-11 * value.abs()
    }

    fn curvature(&mut self, _: &[f64], _: &[bool]) -> Result<Option<Box<dyn Preconditioner>>> {
        Ok(self.known.then(|| Box::new(Diagonal(self.c.clone())) as Box<dyn Preconditioner>))
    }
}

#[test]
fn a_bowl_ends_at_its_bottom_or_at_the_wall_and_at_once_if_its_curvature_is_known() {
    for (lower, known) in [(0.0, false), (-0.5, false), (f64::NEG_INFINITY, false), (0.0, true), (-0.5, true)] {
        let a: Vec<f64> = (0..50).map(|i| (i as f64 * 0.7).sin()).collect();
        let c = (0..50).map(|i| 1.0 + 2.0 * i as f64).collect();
        let mut bowl = Bowl { a: a.clone(), c, lower, known, off: 0.0 };
        let stop = Stop { gradient: 0.0, decrease: -1.0, evaluations: 200 };
        let optimizer = Descent { scale: Some(0.01), stop, ..descent(Bounds::AtLeast(lower), 10) };
        let (x, report) = optimizer.minimize(&[1.0; 50], &mut bowl, &Silent).unwrap();
        assert!(report.ended == Ended::Enough && (!known || report.evaluations <= 4), "{report:?}");
        for (x, a) in x.iter().zip(&a) {
            assert!((x - a.max(lower)).abs() < 1e-9, "{x} {a}");
        }
    }
}

/// More variables than one chunk of a sum has.
#[test]
fn many_variables_have_the_same_bytes_for_any_number_of_threads() {
    let n = 40_000;
    let run = |threads: usize| {
        let mut f = |x: &[f64], g: &mut [f64]| {
            let mut value = 0.0;
            for i in 0..n {
                let (next, scale) = (x[(i + 1) % n], 1.0 + (i % 7) as f64);
                (g[i], value) = (0.0, value + scale * (x[i] - 0.5 * next - 1.0).powi(2));
            }
            for i in 0..n {
                let gradient = 2.0 * (1.0 + (i % 7) as f64) * (x[i] - 0.5 * x[(i + 1) % n] - 1.0);
                g[i] += gradient;
                g[(i + 1) % n] -= 0.5 * gradient;
            }
            Ok(Some(value))
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let stop = Stop { gradient: 1e-5, ..STOP };
        let optimizer = Descent { scale: Some(0.1), stop, ..descent(Bounds::None, 8) };
        pool.install(|| optimizer.minimize(&vec![0.0; n], &mut f, &Silent).unwrap())
    };
    let (x, report) = run(1);
    assert!(report.converged() && x.iter().all(|x| (x - 2.0).abs() < 1e-4), "{report:?}");
    assert_eq!((x, report), run(2));
}

#[test]
fn the_observer_hears_how_much_is_done() {
    struct Hears(std::sync::Mutex<Vec<f64>>);
    impl Observer for Hears {
        fn inner(&self) -> Option<&dyn Observer> {
            None
        }

        fn progress(&self, stage: Stage, fraction: f64) {
            assert_eq!(stage, Stage::Coordinates);
            self.0.lock().unwrap().push(fraction);
        }
    }
    let observer = Hears(Default::default());
    let optimizer = Descent { stage: Some(Stage::Coordinates), ..descent(Bounds::None, 5) };
    optimizer.minimize(&[-1.2, 1.0], &mut rosenbrock, &observer).unwrap();
    let heard = observer.0.into_inner().unwrap();
    assert!(heard.len() > 10 && heard.is_sorted() && heard.last() == Some(&1.0), "{heard:?}");
}
