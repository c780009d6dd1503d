//! A fit to the moments of rows that are elsewhere, about a sample of them that is here.
//!
//! The rule of the model, its eigenvalues and its likelihood are those of all rows. Its training points are the sample,
//! which passes the stages as any input does; only stage 2 is the answer of the moments ([`Elsewhere`]).

use crate::field::latent::passes::Pass;
use crate::field::latent::ppca::{Rows, check_features};
use crate::field::scaling::pca;
use crate::field::{Build, Built, Info, Site};
use crate::figure::Figure;
use crate::fit::budget::MemoryBudget;
use crate::fit::stages::Stages;
use crate::fit::{Entered, Frame};
use crate::input::moments::{IncompleteMoments, Moments};
use crate::input::{Data, Input};
use crate::likelihood::Likelihood;
use crate::method::{Method, OfSums};
use crate::model::Model;
use crate::parameter::{ParameterInfo, Parameters};
use crate::preparation::one_alone_of;
use crate::recipe::Recipe;
use crate::warning::Warning;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result, plural};
use eigenfold_linalg::progress::{Observer, Share};
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

impl Recipe {
    /// Fits pca, ppca or fa to rows that are elsewhere, by their moments, about a sample of them.
    ///
    /// The result is a model of all rows: its rule for new points, its eigenvalues, its explained variance and its log
    /// likelihood are those of [`Recipe::fit`] on all rows, to rounding. The embedding is that of the sample. The sign of
    /// a coordinate is that of its entry of largest magnitude over the sample, the first one if they tie, so that it is
    /// the sign of [`Recipe::fit`] if the sample is all rows in the same order. The logarithm of
    /// [`Preparation`](crate::Preparation), if there is one, must have been applied to the rows of the moments
    /// ([`Preparation::logarithms`](crate::Preparation::logarithms)), and not to the sample.
    ///
    /// ```
    /// use eigenfold::{Moments, Points, Recipe, Silent};
    ///
    /// // The corners of a rectangle of 4 x 2, of which two are here.
    /// let moments = Moments { count: 4, mean: vec![2.0, 1.0], covariance: vec![4.0, 0.0, 0.0, 1.0] };
    /// let sample = Points::from_rows(&[[0.0, 0.0], [4.0, 2.0]])?;
    /// let model = Recipe { dims: 1, ..Recipe::default() }.fit_moments(&moments, &sample, &Silent)?;
    /// assert_eq!(model.embedding().values(), [2.0, -2.0]);
    /// assert_eq!((model.spectrum()[0], model.report().fitted_rows), (16.0, 4));
    /// # Ok::<(), eigenfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the method is another one, the moments are not those of complete rows with the columns of the sample, or the
    /// recipe asks for what needs all rows: columns scaled by medians, or the likelihood under a field.
    pub fn fit_moments<'a>(
        &self,
        moments: &Moments,
        sample: impl Into<Input<'a>>,
        observer: &dyn Observer,
    ) -> Result<Model> {
        let given: Input<'a> = sample.into();
        let sample = self.check_elsewhere(given)?;
        moments.check()?;
        check_sample(sample, moments)?;
        if !sample.missing().is_empty() {
            let fact = "the sample has missing cells, and the moments are those of complete rows";
            return Err(Error::data(fact, "fill them in as in the other rows"));
        }
        let counts = vec![moments.count; moments.cols()];
        let complete = IncompleteMoments { moments: moments.clone(), counts, empty_rows: 0 };
        let about = About::new(self, &complete, given)?;
        let (method, of_columns) = (self.method.clone(), about.moments.moments.clone());
        let build = move |site: &Site<'_>| match method.of_sums() {
            Some(OfSums::Principal) => pca::of_moments(&of_columns, site),
            Some(OfSums::Latent(latent)) => latent.of_moments(&of_columns, site),
            None => Err(not_of_sums(&method)),
        };
        about.model(self, given, Arc::new(build), observer)
    }

    /// Fits ppca or fa to rows that are elsewhere, some of whose cells are missing, about a sample of them. Every evaluation
    /// of the likelihood is one call of `pass`, which adds up the terms of all rows
    /// ([`RowTerms::of`](crate::RowTerms::of)); [`Diagnostics::iterations`](crate::Diagnostics::iterations) counts them.
    ///
    /// The result is as that of [`Recipe::fit_moments`]: the model of all rows. If no cell is missing, it is found from the
    /// moments, without a pass.
    ///
    /// # Errors
    ///
    /// As [`Recipe::fit_moments`]; the errors of `pass`; and if `solver` is em.
    pub fn fit_by_passes<'a>(
        &self,
        moments: &IncompleteMoments,
        sample: impl Into<Input<'a>>,
        pass: &mut Pass<'_>,
        observer: &dyn Observer,
    ) -> Result<Model> {
        let given: Input<'a> = sample.into();
        let sample = self.check_elsewhere(given)?;
        moments.check()?;
        check_sample(sample, &moments.moments)?;
        if moments.missing_cells() == 0.0 {
            return self.fit_moments(&moments.moments, given, observer);
        }
        let Some(OfSums::Latent(latent)) = self.method.of_sums() else {
            let fact = format!("{} has no model of missing cells", self.method.info().name);
            return Err(Error::data(fact, "use ppca or fa, or fill them in"));
        };
        check_features(sample.cols(), self.dims, self.method.info().name)?;
        let about = About::new(self, moments, given)?;
        let fit = latent.fit(self.dims, self.seed);
        let fitted = fit.by_passes(&about.moments, about.frame.prepared.as_ref(), pass, observer)?;
        let (method, count, empty) = (self.method.clone(), moments.moments.count, moments.empty_rows);
        let cells = moments.counts.iter().map(|&count| count as f64).sum();
        let build = move |site: &Site<'_>| match (method.of_sums(), site.data.points()) {
            (Some(OfSums::Latent(latent)), Some(points)) => {
                latent.built(fitted.clone(), None, &Rows { points, count, cells, empty })
            }
            _ => Err(not_of_sums(&method)),
        };
        about.model(self, given, Arc::new(build), observer)
    }

    /// The sample, if the recipe can be fitted to rows that are elsewhere.
    fn check_elsewhere<'a>(&self, given: Input<'a>) -> Result<&'a Points> {
        if self.method.of_sums().is_none() {
            return Err(not_of_sums(&self.method));
        }
        let refused = |parameter: &'static str, fact: &str| {
            Err(Error::inapplicable(parameter, format!("{fact}, and only a sample of them is here"), "leave it out"))
        };
        if self.likelihood == Likelihood::Always {
            return refused("likelihood", "the likelihood under the field needs all rows");
        }
        given.check()?;
        self.check_known(given)?;
        let Data::Points(sample, _) = given.data else {
            let fact = format!("the sample is {}", given.data.kind().phrase());
            return Err(Error::input_kind(&["points"], fact, "give rows of points"));
        };
        self.check_rescale(given.data)?;
        Ok(sample)
    }
}

/// What is done with every method that needs the rows themselves.
fn not_of_sums(method: &Method) -> Error {
    let fact = format!("{} needs the rows themselves, and not only sums over them", method.info().name);
    Error::parameter("method", fact, "use pca, ppca or fa, or fit a sample of the rows")
}

/// Refuses a sample that is not one of these rows, and more coordinates than the rows span.
fn check_sample(sample: &Points, moments: &Moments) -> Result<()> {
    let (given, wanted) = (sample.cols(), moments.cols());
    if given != wanted {
        let fact = format!("the sample has {} and the moments have {wanted}", plural(given, "column"));
        return Err(Error::mismatch("columns", (given, wanted), fact, "give the same columns in the same order"));
    }
    let rows = sample.rows();
    if rows < 2 {
        return Err(Error::too_small(rows, 2, format!("the sample has only {rows} row"), "give at least two"));
    }
    if rows as u64 > moments.count {
        let (fact, all) = (format!("the sample has {rows} rows and the moments are those of"), moments.count);
        return Err(Error::data(format!("{fact} {all}"), "take the sample from the rows of the moments"));
    }
    Ok(())
}

/// The frame of a fit to rows that are elsewhere, and what is in it.
struct About {
    frame: Frame,
    entered: Entered,
    /// The moments of the prepared columns.
    moments: IncompleteMoments,
    warnings: Vec<Warning>,
}

/// Stage 2 of the sample.
type Work = dyn Fn(&Site<'_>) -> Result<Built> + Send + Sync + UnwindSafe + RefUnwindSafe;

impl About {
    /// The frame that the moments define.
    fn new(recipe: &Recipe, moments: &IncompleteMoments, given: Input<'_>) -> Result<About> {
        let count = moments.moments.count;
        let most = usize::try_from(count - 1).unwrap_or(usize::MAX);
        if recipe.dims == 0 {
            return Err(Error::out_of_range("dims", 0, 1..=most, "`dims` is 0", "use `dims` 1 or more"));
        }
        if recipe.dims > most {
            let fact = format!("{count} points span at most {}", plural(most, "dimension"));
            return Err(Error::Dims { requested: recipe.dims, most, fact });
        }
        let (frame, entered, prepared) = Frame::of_moments(recipe, moments, given)?;
        let alone = Some(&prepared).filter(|_| !recipe.method.scales_columns());
        let warnings = alone.and_then(|moments| one_alone_of(&moments.moments, given.names)).map(Warning::Data);
        Ok(About { frame, entered, moments: prepared, warnings: warnings.into_iter().collect() })
    }

    /// The model about the sample, of a stage 2 that knows all rows.
    fn model(self, recipe: &Recipe, given: Input<'_>, build: Arc<Work>, observer: &dyn Observer) -> Result<Model> {
        let input = self.entered.input(given);
        let method = Method::own(Elsewhere { method: recipe.method.clone(), build });
        let inner = Recipe { method, likelihood: Likelihood::Never, ..self.entered.recipe.clone() };
        let budget = MemoryBudget::new(&inner, input.data, self.frame.copies())?;
        let observer = &Share::all(observer);
        let inner = Recipe { memory: Some(budget.left), ..inner };
        let fitted = Stages::new(&inner, input, observer).and_then(|stages| stages.within(&budget).run());
        let mut model = fitted.map_err(|error| budget.of_whole(error))?;
        model.report.predicted_memory = budget.predicted();
        model.report.fitted_rows = self.moments.moments.count;
        model.report.figures.retain(|(figure, _)| *figure != Figure::MissingCells);
        let missing = Some(self.moments.missing_cells()).filter(|cells| *cells > 0.0);
        model.report.figures.extend(missing.map(|cells| (Figure::MissingCells, cells)));
        observer.finish();
        model.report.warnings.extend(self.warnings);
        self.frame.leave(model, self.entered, recipe, given)
    }
}

/// A method that has seen all rows already.
#[derive(Clone)]
struct Elsewhere {
    method: Method,
    build: Arc<Work>,
}

impl fmt::Debug for Elsewhere {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Elsewhere").field("method", &self.method).finish_non_exhaustive()
    }
}

impl Parameters for Elsewhere {
    fn parameters(&self) -> Vec<ParameterInfo> {
        self.method.parameters()
    }

    fn possible_parameters(&self) -> Vec<ParameterInfo> {
        self.method.possible_parameters()
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        self.method.set(name, value)
    }

    fn set_all(&mut self, given: &[(&str, &str)]) -> Result<()> {
        self.method.set_all(given)
    }
}

impl Build for Elsewhere {
    fn info(&self) -> Info {
        self.method.info()
    }

    fn efforts(&self) -> [f64; 3] {
        self.method.efforts()
    }

    fn scales_columns(&self) -> bool {
        self.method.scales_columns()
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        (self.build)(site)
    }
}
