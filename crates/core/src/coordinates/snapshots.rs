//! What is kept of the way of a descent: its curve, and some of the maps it passes.

use eigenfold_linalg::optimize::Passing;

/// Points of the curve that are kept at most.
const MOST: usize = 200;

/// A map on the way.
pub(super) struct Passed {
    pub(super) step: usize,
    pub(super) emphasis: f64,
    pub(super) value: Option<f64>,
    pub(super) x: Vec<f64>,
}

/// What is kept of the way.
pub(super) struct Album {
    /// How many maps are kept at most; none if zero.
    most: usize,
    /// Whether the last map of every emphasis is kept, however many there are.
    every_emphasis: bool,
    maps: Thinned<Passed>,
    curve: Thinned<(usize, f64)>,
}

impl Album {
    pub(super) fn new(most: usize, every_emphasis: bool) -> Album {
        Album { most, every_emphasis, maps: Thinned::default(), curve: Thinned::default() }
    }

    /// Looks at where the descent is, `steps` after the start of its first part.
    pub(super) fn see(&mut self, passing: &Passing<'_>, steps: usize) {
        let step = steps + passing.step;
        if let Some(value) = passing.value {
            self.curve.see(step, MOST, || (step, value));
        }
        if self.most == 0 {
            return;
        }
        let passed = || Passed { step, emphasis: passing.emphasis, value: passing.value, x: passing.x.to_vec() };
        if self.every_emphasis {
            if self.maps.last().is_some_and(|(_, last)| last.emphasis == passing.emphasis) {
                self.maps.all.pop();
            }
            self.maps.all.push((step, passed()));
        } else {
            self.maps.see(step, self.most, passed);
        }
    }

    /// The maps and the curve.
    pub(super) fn closed(self) -> (Vec<Passed>, Vec<(usize, f64)>) {
        let most = if self.every_emphasis { usize::MAX } else { self.most.max(2) };
        (self.maps.closed(most), self.curve.closed(MOST))
    }
}

/// Things seen at steps, evenly spaced whatever the number of steps: when there are twice too many, every other one goes.
struct Thinned<T> {
    stride: usize,
    all: Vec<(usize, T)>,
}

impl<T> Default for Thinned<T> {
    fn default() -> Thinned<T> {
        Thinned { stride: 1, all: Vec::new() }
    }
}

impl<T> Thinned<T> {
    fn last(&self) -> Option<&(usize, T)> {
        self.all.last()
    }

    fn see(&mut self, step: usize, most: usize, thing: impl FnOnce() -> T) {
        // The last one is only kept for now: it may be the end.
        if self.all.last().is_some_and(|(last, _)| *last == step || !last.is_multiple_of(self.stride)) {
            self.all.pop();
        }
        self.all.push((step, thing()));
        if self.all.len() > 2 * most {
            self.stride *= 2;
            let stride = self.stride;
            self.all.retain(|(step, _)| step.is_multiple_of(stride));
        }
    }

    /// At most so many, the first and the last among them.
    fn closed(self, most: usize) -> Vec<T> {
        let count = self.all.len();
        if count <= most {
            return self.all.into_iter().map(|(_, thing)| thing).collect();
        }
        let wanted: Vec<usize> = (0..most).map(|at| at * (count - 1) / (most - 1)).collect();
        let kept = self.all.into_iter().enumerate().filter(|(at, _)| wanted.binary_search(at).is_ok());
        kept.map(|(_, (_, thing))| thing).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(steps: usize, most: usize, every_emphasis: bool) -> Vec<(usize, f64)> {
        let mut album = Album::new(most, every_emphasis);
        for step in 0..=steps {
            let emphasis = if every_emphasis { (1 + step / 10) as f64 } else { 1.0 };
            album.see(&Passing { step, emphasis, value: Some(step as f64), x: &[] }, 0);
        }
        album.closed().0.iter().map(|passed| (passed.step, passed.emphasis)).collect()
    }

    #[test]
    fn the_first_the_last_and_evenly_between() {
        for (steps, most) in [(3, 20), (19, 20), (200, 20), (1234, 7), (5, 2)] {
            let kept = seen(steps, most, false);
            assert_eq!((kept[0].0, kept[kept.len() - 1].0), (0, steps), "{steps} {most}");
            assert!(kept.len() <= most.max(2) && kept.len() >= most.min(steps + 1) / 2, "{steps} {most}: {kept:?}");
        }
        assert!(seen(10, 0, false).is_empty());
    }

    #[test]
    fn the_last_of_every_emphasis() {
        assert_eq!(seen(34, 2, true), [(9, 1.0), (19, 2.0), (29, 3.0), (34, 4.0)]);
    }
}
