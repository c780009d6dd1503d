//! One observer for progress and for stopping.

/// The three stages, the likelihood and the score, as the observer hears of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Who is whose neighbor.
    Graph,
    /// The precision or covariance over the points.
    Field,
    /// Eigenvectors or a descent.
    Coordinates,
    /// How good a map is; no stage of a fit.
    Score,
    /// How many coordinates the points need; no stage of a fit.
    Dimension,
    /// The likelihood of the points under the field, after the three stages.
    Likelihood,
}

impl Stage {
    /// One lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Graph => "graph",
            Stage::Field => "field",
            Stage::Coordinates => "coordinates",
            Stage::Score => "score",
            Stage::Dimension => "dimension",
            Stage::Likelihood => "likelihood",
        }
    }
}

/// Hears what a fit is doing and may ask it to stop.
///
/// Both calls must be cheap: they come from inner loops and from several threads.
pub trait Observer: Sync {
    /// Work has reached `fraction` (0 to 1) of `stage`.
    fn progress(&self, stage: Stage, fraction: f64) {
        let _ = (stage, fraction);
    }

    /// One of several fits begins, named in a few words (`k = 12, 6 of 10`); none of them if the text is empty.
    fn trial(&self, what: &str) {
        let _ = what;
    }

    /// A descent has begun: a stop from here on gives the map that it has by then.
    fn descends(&self) {}

    /// A descent has evaluated its objective, in the units of the report.
    fn objective(&self, value: f64) {
        let _ = value;
    }

    /// What comes next may take minutes: a sentence that says why, and what would take less.
    fn takes_long(&self, sentence: &str) {
        let _ = sentence;
    }

    /// Whether to stop at the next opportunity. The fit then returns what it has, marked as not converged, or
    /// [`Error::Stopped`](crate::Error::Stopped) if that is nothing yet.
    fn stop(&self) -> bool {
        false
    }
}

/// Hears everything, says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Asks to stop after so many questions.
#[cfg(test)]
pub(crate) struct StopsAfter {
    left: std::sync::atomic::AtomicUsize,
}

#[cfg(test)]
impl StopsAfter {
    pub(crate) fn questions(count: usize) -> StopsAfter {
        StopsAfter { left: count.into() }
    }
}

#[cfg(test)]
impl Observer for StopsAfter {
    fn stop(&self) -> bool {
        use std::sync::atomic::Ordering::Relaxed;
        self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err()
    }
}
