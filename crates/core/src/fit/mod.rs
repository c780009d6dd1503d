//! The entry of a fit: an input enters the frame, passes the stages, and leaves the frame as a model.

pub(crate) mod budget;
mod frame;
pub(crate) mod known;
mod moments;
pub(crate) mod stages;

use frame::Entered;
pub(crate) use frame::{Frame, Seen};

use crate::input::Input;
use crate::model::Model;
use crate::preparation::one_alone;
use crate::recipe::Recipe;
use crate::warning::Warning;
use budget::MemoryBudget;
use eigenfold_graph::distances::mistaken;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::progress::{Observer, Share};
use stages::Stages;

impl Recipe {
    /// Fits the recipe: graph, field or objective, coordinates. An observer that stops the work gets the result so far,
    /// marked as not converged.
    ///
    /// # Errors
    ///
    /// If the input or a parameter does not fit, the work would not fit into memory, or the observer stopped it before
    /// there was a result ([`Error::Stopped`](crate::Error::Stopped)).
    pub fn fit<'a>(&self, input: impl Into<Input<'a>>, observer: &dyn Observer) -> Result<Model> {
        let given: Input<'a> = input.into();
        let given = Input { data: given.data.measured_by(self.metric), ..given };
        self.check(given.data)?;
        given.check()?;
        self.check_known(given)?;
        let (frame, entered) = Frame::enter(self, given)?;
        let input = entered.input(given);
        let budget = MemoryBudget::new(&entered.recipe, input.data, frame.copies())?;
        let observer = &Share::all(observer);
        let recipe = Recipe { memory: Some(budget.left), ..entered.recipe.clone() };
        let fitted = Stages::new(&recipe, input, observer).and_then(|stages| stages.within(&budget).run());
        let mut model = fitted.map_err(|error| budget.of_whole(error))?;
        model.report.predicted_memory = budget.predicted();
        observer.finish();
        let points = input.data.points();
        let alone = points.filter(|_| !self.method.scales_columns()).and_then(|points| one_alone(points, given.names));
        let warnings = alone.into_iter().chain(points.and_then(mistaken));
        model.report.warnings.extend(warnings.map(Warning::Data));
        frame.leave(model, entered, self, given)
    }
}
