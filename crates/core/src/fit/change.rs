//! A report from the unit of the stages to that of the data ([`unit`](crate::fit::unit)).

use crate::field::unfolding::Bracket;
use crate::field::{Lengths, shown};
use crate::likelihood::Observation;
use crate::method::Method;
use crate::report::{OWN_LIKELIHOOD, Report, Used};
use crate::warning::Warning;
use eigenfold_linalg::power::times_two_to;

/// The change of the unit of a fit: the data are 2^power times what the stages saw.
pub(crate) struct Change<'a> {
    pub(crate) power: i32,
    pub(crate) lengths: Lengths,
    /// The method as it was asked for.
    pub(crate) method: &'a Method,
    /// How many cells were not observed.
    pub(crate) missing: usize,
}

impl Change<'_> {
    /// A number in length^power.
    fn number(&self, x: &mut f64, power: i32) {
        *x = times_two_to(*x, self.power * power);
    }

    /// What a log density of so many numbers loses.
    fn logs(&self, count: usize) -> f64 {
        count as f64 * f64::from(self.power) * std::f64::consts::LN_2
    }

    /// A value of the objective.
    pub(crate) fn objective(&self, value: f64) -> f64 {
        if self.lengths.density {
            value + self.logs(1)
        } else {
            times_two_to(value, self.power * self.lengths.objective)
        }
    }

    /// Bounds on a variance.
    pub(crate) fn bracket(&self, bracket: &mut Bracket) {
        self.number(&mut bracket.primal, 2);
        self.number(&mut bracket.dual, 2);
    }

    fn observation(&self, observation: &mut Observation) {
        observation.log_likelihood -= self.logs(observation.directions * observation.features);
        self.number(&mut observation.signal, 2 - self.lengths.field);
        self.number(&mut observation.noise, 2);
    }

    /// A figure of that name, of n points with that many features, in so many components `apart` of which some are a point `alone`.
    fn figure(&self, name: &str, value: &mut f64, [n, features, apart, alone]: [usize; 4]) {
        match name {
            "noise" | "least_eigenvalue" => self.number(value, self.lengths.eigenvalues),
            "process_variance" | "process_bias" | "process_noise" => self.number(value, 2),
            "landmark_primal" | "landmark_dual" | "graph_penalty" => self.number(value, 2),
            "critical_lambda" | "critical_lambda_lower" | "critical_lambda_upper" => {
                self.number(value, self.lengths.strength);
            }
            // The log determinant of a precision over the points.
            "objective" => *value += 2.0 * self.logs(n),
            OWN_LIKELIHOOD if self.lengths.eigenvalues == -2 => *value -= self.logs((n - apart) * features),
            OWN_LIKELIHOOD => *value -= self.logs((n - alone) * features - self.missing),
            _ => {}
        }
    }

    /// A parameter of the stages, as it was asked for and as it was used.
    fn parameter(&self, used: &mut Used) {
        let Some(asked) = self.method.parameters().into_iter().find(|row| row.name == used.name) else { return };
        let length = if asked.name == "lambda" { self.lengths.strength } else { asked.length };
        if used.used == used.asked {
            used.used.clone_from(&asked.value);
        } else if let (Ok(number), true) = (used.used.parse::<f64>(), length != 0) {
            used.used = shown(times_two_to(number, self.power * length));
        }
        used.asked = asked.value;
    }
}

impl Report {
    /// How many cells of the input were not observed.
    pub(crate) fn missing_cells(&self) -> usize {
        self.figures.iter().find(|(name, _)| name == "missing_cells").map_or(0, |(_, cells)| *cells as usize)
    }

    /// Brings all numbers that have a unit to that of the data.
    pub(crate) fn in_user_units(&mut self, change: &Change<'_>) {
        let lengths = change.lengths;
        let known = |values: &[f64]| values.iter().filter(|value| value.is_finite() && **value != 0.0).count();
        let before = known(&self.eigenvalues);
        self.eigenvalues.iter_mut().for_each(|value| change.number(value, lengths.eigenvalues));
        let lost = before - known(&self.eigenvalues);
        self.explained.iter_mut().for_each(|explained| change.number(&mut explained.total, lengths.eigenvalues));
        self.objective = self.objective.map(|value| change.objective(value));
        self.curve.iter_mut().for_each(|(_, value)| *value = change.objective(*value));
        for (given, fitted) in &mut self.disparities {
            change.number(given, 1);
            change.number(fitted, lengths.map);
        }
        self.likelihood.iter_mut().for_each(|observation| change.observation(observation));
        let (n, features) = (self.n, self.features.unwrap_or(0));
        let components: &[usize] = if self.linking_edges > 0 { &[] } else { &self.components };
        let alone = components.iter().filter(|&&size| size == 1).count();
        let counts = [n, features, components.len().max(1), alone];
        self.figures.iter_mut().for_each(|(name, value)| change.figure(name, value, counts));
        self.certificate.iter_mut().for_each(|bracket| change.bracket(bracket));
        for step in &mut self.path {
            change.number(&mut step.penalty, 2);
            step.held_out -= change.logs(n * features);
        }
        if let Some(rescaling) = &mut self.rescale {
            change.number(&mut rescaling.primal, 2);
            change.number(&mut rescaling.dual, 2);
            rescaling.bound.iter_mut().for_each(|bound| change.number(bound, 2));
        }
        self.parameters.iter_mut().for_each(|used| change.parameter(used));
        if lost > 0 {
            let fact = format!("{lost} eigenvalues are beyond the range of numbers, as the squares of such data are");
            self.warnings.push(Warning::Range(format!("{fact}; multiply the data by a constant to see them")));
        }
    }
}
