//! The global maximum of a function of one variable that may have several peaks: a ladder of steps, then Brent's
//! method.
//!
//! R. P. Brent. Algorithms for minimization without derivatives. Prentice-Hall, 1973, chapter 5.

use eigenfold_linalg::error::Result;

/// 1 − 1/φ, the step of a golden-section search.
const GOLDEN: f64 = 0.381_966_011_250_105;
/// The tolerance of a peak, in units of the variable.
const CLOSE: f64 = 1e-4;
/// The maximum number of evaluations of Brent's method.
const MOST: usize = 30;

/// The search.
pub(super) struct Ladder {
    /// The start.
    pub(super) start: f64,
    /// The step between rungs.
    pub(super) step: f64,
    /// No rung is below this ...
    pub(super) low: f64,
    /// ... or above this.
    pub(super) high: f64,
    /// A negligible difference.
    pub(super) flat: f64,
    /// The limit of the function far below, and whether it rises from there: if it does not, and no rung from the first
    /// one upwards is higher, no rung below it is tried.
    pub(super) end: (f64, bool),
}

/// The position and the value of the highest peak among the rungs. In both directions the steps end after two decreases
/// in a row, or where the function is flat; positions where it is undefined count as low.
pub(super) fn peak<F>(ladder: &Ladder, mut f: F) -> Result<Option<(f64, f64)>>
where
    F: FnMut(f64) -> Result<Option<f64>>,
{
    let mut value = |at: f64| Ok::<f64, eigenfold_linalg::error::Error>(f(at)?.unwrap_or(f64::NEG_INFINITY));
    let mut best = (ladder.start, value(ladder.start)?);
    let mut rungs = vec![best];
    for direction in [1.0, -1.0] {
        if direction < 0.0 && !ladder.end.1 && best.1 <= ladder.end.0 {
            continue;
        }
        let (mut last, mut falls, mut at) = (rungs[0], 0, ladder.start);
        while falls < 2 {
            at += direction * ladder.step;
            if at < ladder.low || at > ladder.high {
                break;
            }
            let here = (at, value(at)?);
            rungs.push(here);
            best = if here.1 > best.1 { here } else { best };
            let change = here.1 - last.1;
            if change.abs() <= ladder.flat {
                break;
            }
            falls = if change < 0.0 { falls + 1 } else { 0 };
            last = here;
        }
    }
    if best.1 == f64::NEG_INFINITY {
        return Ok(None);
    }
    let rung = |side: f64| rungs.iter().find(|r| (r.0 - best.0 - side * ladder.step).abs() < 1e-9).copied();
    match (rung(-1.0), rung(1.0)) {
        (Some(left), Some(right)) => Ok(Some(brent((left.0, right.0), best, ladder.flat, value)?)),
        // At an end of the ladder there is no bracket to refine.
        _ => Ok(Some(best)),
    }
}

/// Brent's method between two positions with a higher one between them.
fn brent<F>((mut a, mut b): (f64, f64), start: (f64, f64), flat: f64, mut f: F) -> Result<(f64, f64)>
where
    F: FnMut(f64) -> Result<f64>,
{
    let (mut x, mut w, mut v) = (start, start, start);
    let (mut step, mut before) = (0.0f64, 0.0f64);
    for _ in 0..MOST {
        let middle = 0.5 * (a + b);
        if (x.0 - middle).abs() <= 2.0 * CLOSE - 0.5 * (b - a) {
            break;
        }
        let r = (x.0 - w.0) * (x.1 - v.1);
        let q = (x.0 - v.0) * (x.1 - w.1);
        let (numerator, denominator) = ((x.0 - v.0) * q - (x.0 - w.0) * r, 2.0 * (q - r));
        let parabola = if denominator == 0.0 { f64::INFINITY } else { -numerator / denominator };
        let inside = x.0 + parabola > a + CLOSE && x.0 + parabola < b - CLOSE;
        if inside && parabola.abs() < 0.5 * before.abs() {
            (before, step) = (step, parabola);
        } else {
            before = if x.0 < middle { b - x.0 } else { a - x.0 };
            step = GOLDEN * before;
        }
        let at = x.0 + if step.abs() >= CLOSE { step } else { CLOSE.copysign(step) };
        let here = (at, f(at)?);
        let gain = (here.1 - x.1).abs();
        if here.1 >= x.1 {
            if at < x.0 {
                b = x.0
            } else {
                a = x.0
            }
            (v, w, x) = (w, x, here);
        } else {
            if at < x.0 {
                a = at
            } else {
                b = at
            }
            if here.1 >= w.1 || w.0 == x.0 {
                (v, w) = (w, here);
            } else if here.1 >= v.1 || v.0 == x.0 || v.0 == w.0 {
                v = here;
            }
        }
        if gain <= flat && step.abs() < 0.1 {
            break;
        }
    }
    Ok(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LADDER: Ladder =
        Ladder { start: 0.0, step: 2.0, low: -8.0, high: 16.0, flat: 1e-12, end: (f64::NEG_INFINITY, true) };

    #[test]
    fn the_higher_of_two_peaks_is_found_with_few_evaluations() {
        let mut count = 0;
        let two = |x: f64| {
            count += 1;
            Ok(Some((-(x - 5.3f64).powi(2) / 4.0).exp() + 0.5 * (-(x + 1.0f64).powi(2) / 4.0).exp()))
        };
        let (at, value) = peak(&LADDER, two).unwrap().unwrap();
        // The lower peak's tail moves the higher one a little to the left, and lifts it.
        assert!((at - 5.29985).abs() < 1e-3 && (value - 1.000_024_535_15).abs() < 1e-9, "{at} {value}");
        assert!(count < 22, "{count}");
    }

    #[test]
    fn what_falls_from_its_end_is_left_there() {
        let mut tried = Vec::new();
        let ladder = Ladder { end: (1.0, false), ..LADDER };
        let falling = |x: f64| {
            tried.push(x);
            Ok(Some(1.0 / (1.0 + x.exp())))
        };
        assert!(peak(&ladder, falling).unwrap().unwrap().1 < 1.0);
        assert_eq!(tried, [0.0, 2.0, 4.0]);
    }

    #[test]
    fn an_undefined_function_has_no_peak_and_a_rising_one_ends_at_the_ladder() {
        assert!(peak(&LADDER, |_| Ok(None)).unwrap().is_none());
        assert_eq!(peak(&LADDER, |x| Ok(Some(x))).unwrap().unwrap(), (16.0, 16.0));
    }
}
