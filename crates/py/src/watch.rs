//! Work that Python waits for: on threads of ours, while the interpreter is free, and Ctrl-C stops it.
//!
//! The calling thread sleeps without the interpreter's lock and wakes some times a second: it looks for signals and tells the
//! listener where the work is. So a listener always runs on the thread that called, never on one of ours.

use crate::errors::{panicked, raised};
use eigenfold::{Error, Observer, Stage};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the calling thread looks for signals.
const TICK: Duration = Duration::from_millis(50);
/// How long Ctrl-C waits for work that does not listen; it then goes on unseen until it does, and its result is dropped.
const PATIENCE: Duration = Duration::from_secs(3);

/// Where the work is, for the thread that waits.
#[derive(Default)]
struct Recorder {
    stop: AtomicBool,
    place: Mutex<Option<(Stage, f64)>>,
    /// The bits of the objective; those of zero until there is one.
    objective: AtomicU64,
    notes: Mutex<Vec<String>>,
}

impl Observer for Recorder {
    fn inner(&self) -> Option<&dyn Observer> {
        None
    }

    fn progress(&self, stage: Stage, fraction: f64) {
        // If the lock is taken, this report is dropped: another one comes soon.
        if let Ok(mut place) = self.place.try_lock() {
            *place = Some((stage, fraction));
        }
    }

    fn objective(&self, value: f64) {
        self.objective.store(value.to_bits(), Ordering::Relaxed);
    }

    fn takes_long(&self, sentence: &str) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(crate::errors::message(sentence));
    }

    fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Recorder {
    /// Reports news to the listener: `listener(stage, fraction, objective, notes)`; a true answer asks to stop.
    fn report(&self, listener: &Bound<'_, PyAny>) -> PyResult<()> {
        let notes = std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner));
        let place = *self.place.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((stage, fraction)) = place else { return Ok(()) };
        let objective = f64::from_bits(self.objective.load(Ordering::Relaxed));
        let objective = (objective != 0.0).then_some(objective);
        if listener.call1((stage.name(), fraction, objective, notes))?.is_truthy()? {
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// What the work sends to the thread that waits for it.
enum Message<T> {
    /// A question to Python, whose answer the work waits for.
    Question(Vec<u8>),
    /// The end of the work.
    Answer(std::thread::Result<eigenfold::Result<T>>),
}

/// Asks a function of Python: bytes in, numbers out.
pub(crate) type Ask<'a> = dyn FnMut(Vec<u8>) -> eigenfold::Result<Vec<f64>> + 'a;

/// Runs work of the library with this number of threads, or one per core.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    listener: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&dyn Observer) -> eigenfold::Result<T> + Send + 'static,
) -> PyResult<T> {
    run_asking(py, threads, (listener, None), move |observer, _| work(observer))
}

/// As [`run`], for work that asks a function of Python; it is called on the calling thread, too.
pub(crate) fn run_asking<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    (listener, asked): (Option<&Bound<'_, PyAny>>, Option<&Bound<'_, PyAny>>),
    work: impl FnOnce(&dyn Observer, &mut Ask<'_>) -> eigenfold::Result<T> + Send + 'static,
) -> PyResult<T> {
    let recorder = Arc::new(Recorder::default());
    let (send, receive) = mpsc::sync_channel(1);
    let (reply, replies) = mpsc::sync_channel::<Vec<f64>>(1);
    let ours = Arc::clone(&recorder);
    pool(threads)?.spawn(move || {
        // A thread that waits no more ends the work.
        let mut ask = |question: Vec<u8>| {
            send.send(Message::Question(question)).map_err(|_| Error::Stopped)?;
            replies.recv().map_err(|_| Error::Stopped)
        };
        let answer = catch_unwind(AssertUnwindSafe(|| work(&*ours, &mut ask)));
        // Nobody waits any more if Ctrl-C was pressed.
        let _ = send.send(Message::Answer(answer));
    });
    let receive = Mutex::new(receive);
    let wait = || py.detach(|| receive.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(TICK));
    let mut interrupted: Option<(PyErr, Instant)> = None;
    loop {
        let answer = wait();
        if let Some((error, since)) = &interrupted {
            // A question stays without an answer, which ends the work.
            if answer.is_ok() || since.elapsed() > PATIENCE {
                return Err(error.clone_ref(py));
            }
            continue;
        }
        match answer {
            Ok(Message::Question(question)) => {
                let notified = listener.map_or(Ok(()), |listener| recorder.report(listener));
                let answered = notified.and_then(|()| answer_of(py, asked, &question));
                let sums = answered.inspect_err(|_| recorder.stop.store(true, Ordering::Relaxed))?;
                // The work waits for it.
                let _ = reply.send(sums);
            }
            Ok(Message::Answer(Ok(answer))) => {
                let notified = listener.map_or(Ok(()), |listener| recorder.report(listener));
                return notified.and_then(|()| answer.map_err(raised));
            }
            Ok(Message::Answer(Err(cause))) => return Err(panicked(&*cause)),
            Err(RecvTimeoutError::Disconnected) => return Err(panicked(&"a thread ended early")),
            Err(RecvTimeoutError::Timeout) => {
                let notified = listener.map_or(Ok(()), |listener| recorder.report(listener));
                if let Err(error) = py.check_signals().and(notified) {
                    recorder.stop.store(true, Ordering::Relaxed);
                    interrupted = Some((error, Instant::now()));
                }
            }
        }
    }
}

/// The numbers with which a function of Python answers.
fn answer_of(py: Python<'_>, asked: Option<&Bound<'_, PyAny>>, question: &[u8]) -> PyResult<Vec<f64>> {
    let Some(asked) = asked else { return Ok(Vec::new()) };
    asked.call1((PyBytes::new(py, question),))?.extract()
}

/// The threads of one process. A process that was forked has none of its parent's.
struct Shared {
    process: u32,
    pool: Arc<ThreadPool>,
}

static SHARED: Mutex<Option<Shared>> = Mutex::new(None);

/// So many threads of their own, or those that all calls share.
fn pool(threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    let build = |builder: ThreadPoolBuilder| builder.build().map(Arc::new);
    let failed = |error| {
        let fact = format!("threads could not be started ({error})");
        raised(eigenfold::Error::numerical(fact, "use a smaller `threads`"))
    };
    if let Some(count) = threads {
        return build(ThreadPoolBuilder::new().num_threads(count)).map_err(failed);
    }
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some(Shared { pool, .. }) = shared.as_ref().filter(|shared| shared.process == process) {
        return Ok(Arc::clone(pool));
    }
    let pool = build(ThreadPoolBuilder::new()).map_err(failed)?;
    // The parent's pool would wait here for threads that do not exist.
    std::mem::forget(shared.replace(Shared { process, pool: Arc::clone(&pool) }));
    Ok(pool)
}
