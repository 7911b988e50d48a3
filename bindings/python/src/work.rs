//! Long work outside of the interpreter, while the calling thread attends to signals and shows the progress.

use crate::counts;
use crate::ending;
use crate::errors;
use mksum_io::{Objects, Options, available_threads};
use pyo3::prelude::*;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Ends work from another thread: pass one to a call, and later call its `stop`.
///
/// The call raises `StoppedError` within about 50 ms. One object can stop any number of calls, and none of them can be resumed.
#[pyclass(frozen, module = "mksum")]
#[derive(Default)]
pub struct Stop {
    stop: mksum_io::Stop,
}

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Stop::default()
    }

    /// Ends the calls that this was passed to.
    fn stop(&self) {
        self.stop.stop();
    }

    /// Whether `stop` was called.
    #[getter]
    fn stopped(&self) -> bool {
        self.stop.is_stopped()
    }
}

/// The time between two looks at signals and progress.
pub const TICK: Duration = Duration::from_millis(25);

/// A call that reads: its options, and whom it tells how far it is.
pub struct Call {
    pub options: Options,
    /// The caller's way to stop it. The call has a flag of its own besides, so that an interrupt stops this call alone.
    stop: Option<mksum_io::Stop>,
    on_progress: Option<Py<PyAny>>,
    /// The bytes that were told.
    told: u64,
}

/// The result of work in another thread, or its panic.
pub type Outcome<T> = Receiver<thread::Result<T>>;

impl Call {
    pub fn new(asked: Option<NonZero<usize>>, on_progress: Option<Py<PyAny>>, stop: Option<&Bound<'_, Stop>>) -> Self {
        let options = Options {
            threads: asked.map_or_else(available_threads, NonZero::get),
            objects: objects(),
            ..Options::new()
        };
        Call { options, stop: stop.map(|stop| stop.get().stop.clone()), on_progress, told: 0 }
    }

    /// Whether nobody watches the call: a short one needs no thread of its own then.
    pub fn is_unwatched(&self) -> bool {
        self.stop.is_none() && self.on_progress.is_none()
    }

    /// Handles signals, reports the progress and passes a stop on. After an error the work is stopped.
    pub fn attend(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.stop.as_ref().is_some_and(mksum_io::Stop::is_stopped) {
            self.options.stop.stop();
        }
        ending::call(py, || py.check_signals()).and_then(|()| self.tell(py)).inspect_err(|_| self.options.stop.stop())
    }

    /// Calls `on_progress` with the number of bytes since it was last called, if there are any.
    fn tell(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(on_progress) = &self.on_progress else { return Ok(()) };
        let done = self.options.meter.bytes() + self.options.meter.skipped();
        let more = done - self.told;
        self.told = done;
        if more > 0 { ending::call(py, || on_progress.call1(py, (more,))).map(drop) } else { Ok(()) }
    }

    /// Begins `work` in a thread of its own.
    pub fn spawn<T: Send + 'static>(&self, work: impl FnOnce(&Options) -> T + Send + 'static) -> PyResult<Outcome<T>> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let options = self.options.clone();
        let caught = move || {
            // The receiver is gone after an interrupt.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(|| work(&options))));
        };
        thread::Builder::new().name("mksum".into()).spawn(caught)?;
        Ok(receiver)
    }

    /// Waits for the result, attending meanwhile.
    ///
    /// After an interrupt the work is stopped and not waited for: it ends after the read that it is in.
    pub fn wait<T: Send>(&mut self, py: Python<'_>, mut outcome: Outcome<T>) -> PyResult<T> {
        loop {
            let result;
            (outcome, result) = ending::detach(py, move || {
                let result = outcome.recv_timeout(TICK);
                (outcome, result)
            });
            match result {
                Ok(Ok(result)) => {
                    self.attend(py)?;
                    return Ok(result);
                }
                Ok(Err(panic)) => return Err(errors::panicked(py, &*panic)),
                Err(RecvTimeoutError::Timeout) => self.attend(py)?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(errors::error(py, "MksumError", "the working thread ended without a result"));
                }
            }
        }
    }

    /// The result of `work`, which runs in a thread of its own.
    pub fn run<T: Send + 'static>(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&Options) -> T + Send + 'static,
    ) -> PyResult<T> {
        let outcome = self.spawn(work)?;
        self.wait(py, outcome)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        counts::add(&self.options.meter);
    }
}

/// The stores that this build has clients of.
fn objects() -> Option<Arc<dyn Objects>> {
    #[cfg(feature = "stores")]
    return Some(Arc::new(crate::network::stores()));
    #[cfg(not(feature = "stores"))]
    None
}
