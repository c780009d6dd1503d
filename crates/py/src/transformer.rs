//! A model that embeds one batch after the other: it is prepared once, on threads of its own that wait for the batches.

use crate::arrays::{Numbers, matrix};
use crate::errors::{panicked, raised};
use crate::model::transformed_with_std;
use crate::request::missing;
use eigenfold::{Error, HeldOutExtension, Points, Transformed};
use numpy::PyArray2;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// How often the calling thread looks for signals.
const TICK: Duration = Duration::from_millis(50);

type Matrix<'py> = Bound<'py, PyArray2<f64>>;
/// What a batch was answered; the text of a panic.
type Answer = Result<eigenfold::Result<Transformed>, String>;

/// The two ends of the threads that embed.
struct Ends {
    rows: SyncSender<Points>,
    answers: Receiver<Answer>,
}

/// A prepared model.
#[pyclass(frozen, module = "eigenfold._eigenfold")]
pub(crate) struct Transformer {
    model: Arc<eigenfold::Model>,
    // Dropped before the threads, which end when nothing more can come.
    ends: Mutex<Ends>,
    _threads: ThreadPool,
}

impl Transformer {
    pub(crate) fn new(
        model: Arc<eigenfold::Model>,
        extension: Arc<OnceLock<HeldOutExtension>>,
        deviations: bool,
        held_out: Option<bool>,
        threads: Option<usize>,
    ) -> PyResult<Transformer> {
        let threads = ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build().map_err(|error| {
            raised(Error::numerical(format!("threads could not be started ({error})"), "use a smaller `threads`"))
        })?;
        let (rows, coming) = sync_channel::<Points>(1);
        let (send, answers) = sync_channel::<Answer>(1);
        let ours = Arc::clone(&model);
        threads.spawn(move || {
            let transformer = match ours.transformer() {
                Ok(transformer) => transformer,
                Err(error) => {
                    if coming.recv().is_ok() {
                        let _ = send.send(Ok(Err(error)));
                    }
                    return;
                }
            };
            for rows in coming {
                let embed = || match deviations {
                    true => transformed_with_std(&transformer, &extension, &rows, held_out, &eigenfold::Silent),
                    false => transformer.transform_detailed(&rows),
                };
                let answer = catch_unwind(AssertUnwindSafe(embed)).map_err(|cause| {
                    let text = cause.downcast_ref::<String>().cloned();
                    text.or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).into())).unwrap_or_default()
                });
                if send.send(answer).is_err() {
                    return;
                }
            }
        });
        Ok(Transformer { model, ends: Mutex::new(Ends { rows, answers }), _threads: threads })
    }
}

#[pymethods]
impl Transformer {
    /// Places the rows of one batch: coordinates, the rows that are far from all training points, and standard deviations if they
    /// were requested.
    fn transform<'py>(
        &self,
        py: Python<'py>,
        rows: Numbers,
        missing_cells: &str,
    ) -> PyResult<(Matrix<'py>, Vec<usize>, Option<Matrix<'py>>)> {
        let rows = rows.new_rows(missing(Some(missing_cells)).map_err(raised)?, self.model.names()).map_err(raised)?;
        let ended = || panicked(&"a thread ended early");
        let sent = py.detach(|| {
            let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
            // What an interrupted call did not wait for.
            while ends.answers.try_recv().is_ok() {}
            ends.rows.send(rows)
        });
        sent.map_err(|_| ended())?;
        let wait = || py.detach(|| self.ends.lock().unwrap_or_else(PoisonError::into_inner).answers.recv_timeout(TICK));
        let answer = loop {
            match wait() {
                Ok(answer) => break answer,
                Err(RecvTimeoutError::Disconnected) => return Err(ended()),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            }
        };
        let placed = answer.map_err(|text| panicked(&text))?.map_err(raised)?;
        let deviations = placed.deviations.as_ref().map(|all| matrix(py, all)).transpose()?;
        Ok((matrix(py, &placed.coordinates)?, placed.far, deviations))
    }
}
