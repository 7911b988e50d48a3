//! Results of a thread that works ahead of the iterator that hands them out.

use crate::ending;
use crate::errors;
use crate::work::{Call, TICK};
use mksum_io::{Error, Options, jobs_ahead};
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;

/// The objects that are taken before the first result is handed out: more than the engine keeps in hand, unless a thread is late.
pub const AHEAD: usize = 1024;

/// What a thread sends. When this is dropped, the thread is stopped.
pub struct Results<T> {
    call: Call,
    /// `None` after the end or an error.
    receiver: Option<Receiver<T>>,
}

impl<T> Drop for Results<T> {
    fn drop(&mut self) {
        self.call.options.stop.stop();
    }
}

impl<T: Send> Results<T> {
    /// Begins `work` in a thread of its own, whose results come by `receiver`.
    pub fn of(call: Call, receiver: Receiver<T>, work: impl FnOnce(&Options) + Send + 'static) -> PyResult<Self> {
        let options = call.options.clone();
        thread::Builder::new().name("mksum".into()).spawn(move || work(&options))?;
        Ok(Results { call, receiver: Some(receiver) })
    }

    /// The next result, while signals are attended to; `None` when the thread has ended. After an error there are no more.
    pub fn next(&mut self, py: Python<'_>) -> PyResult<Option<T>> {
        self.next_with(py, || {})
    }

    /// The same; calls `late` whenever there was none for a [`TICK`].
    fn next_with(&mut self, py: Python<'_>, mut late: impl FnMut()) -> PyResult<Option<T>> {
        while let Some(receiver) = self.receiver.take() {
            let (receiver, received) = ending::detach(py, move || {
                let received = receiver.recv_timeout(TICK);
                (receiver, received)
            });
            match received {
                Ok(result) => {
                    self.receiver = Some(receiver);
                    return Ok(Some(result));
                }
                Err(RecvTimeoutError::Disconnected) => {}
                Err(RecvTimeoutError::Timeout) => {
                    self.call.attend(py)?;
                    late();
                    self.receiver = Some(receiver);
                }
            }
        }
        Ok(None)
    }

    /// Handles signals, and reports the progress.
    pub fn attend(&mut self, py: Python<'_>) -> PyResult<()> {
        self.call.attend(py)
    }

    /// Stops the thread: there are no more results.
    pub fn end(&mut self) {
        self.receiver = None;
        self.call.options.stop.stop();
    }
}

impl<V: Send, E: Send> Results<Result<V, E>> {
    /// The next value; an error, of which `raised` makes an exception, stops the thread.
    pub fn next_value(&mut self, py: Python<'_>, raised: impl FnOnce(Python<'_>, E) -> PyErr) -> PyResult<Option<V>> {
        self.next(py)?.transpose().map_err(|error| {
            self.end();
            raised(py, error)
        })
    }
}

/// Objects of an iterable that are taken ahead, and the results of the work that each stands for, in their order.
pub struct Ahead<W, V> {
    source: Source<W>,
    results: Results<Result<V, Error>>,
}

/// The objects, and where their work goes.
struct Source<W> {
    /// The objects that were not taken yet; `None` when there are no more.
    objects: Option<Py<PyIterator>>,
    /// What ended the objects too early: raised after the results before it.
    failure: Option<PyErr>,
    /// The objects that are begun; one that stands for no work has an error instead.
    begun: VecDeque<(Py<PyAny>, Option<PyErr>)>,
    work: Option<Sender<W>>,
}

/// An object and its result, or why it stands for no work.
pub type Taken<V> = (Py<PyAny>, PyResult<Result<V, Error>>);

impl<W: Send + 'static, V: Send + 'static> Ahead<W, V> {
    /// Begins `work` in a thread of its own, which sends one result for each piece of work that it receives.
    pub fn of(
        call: Call,
        objects: &Bound<'_, PyAny>,
        work: impl FnOnce(Receiver<W>, Sender<Result<V, Error>>, &Options) + Send + 'static,
    ) -> PyResult<Self> {
        let objects = Some(objects.try_iter()?.unbind());
        let ((pieces, taken), (sender, receiver)) = (mpsc::channel(), mpsc::channel());
        let results = Results::of(call, receiver, move |options| work(taken, sender, options))?;
        let source = Source { objects, failure: None, begun: VecDeque::new(), work: Some(pieces) };
        Ok(Ahead { source, results })
    }

    /// The next object and its result; `None` after the last. `read` says for which work an object stands.
    pub fn next(
        &mut self,
        py: Python<'_>,
        read: impl Fn(&Bound<'_, PyAny>) -> PyResult<W>,
    ) -> PyResult<Option<Taken<V>>> {
        self.source.begin(py, AHEAD, &read);
        let Some((object, refused)) = self.source.begun.pop_front() else {
            self.results.attend(py)?;
            return self.source.failure.take().map_or(Ok(None), Err);
        };
        let result = match refused {
            Some(error) => Err(error),
            None => Ok(self.result(py, read).inspect_err(|_| self.end())?),
        };
        self.results.attend(py)?;
        Ok(Some((object, result)))
    }

    fn result(
        &mut self,
        py: Python<'_>,
        read: impl Fn(&Bound<'_, PyAny>) -> PyResult<W>,
    ) -> PyResult<Result<V, Error>> {
        let Ahead { source, results } = self;
        // A thread that has this file and no others waits for the next objects, if the other threads have done all that were begun.
        let most = jobs_ahead(results.call.options.threads);
        let late = || source.begin(py, most.min(source.begun.len() + AHEAD), &read);
        match results.next_with(py, late)? {
            Some(Err(error @ Error::Stopped { .. })) => Err(errors::io(py, error)),
            Some(result) => Ok(result),
            None => Err(errors::error(py, "StoppedError", "the iteration was ended")),
        }
    }

    fn end(&mut self) {
        (self.source.objects, self.source.work) = (None, None);
        self.source.begun.clear();
        self.results.end();
    }
}

impl<W> Source<W> {
    /// Takes objects until so many are begun.
    fn begin(&mut self, py: Python<'_>, most: usize, read: impl Fn(&Bound<'_, PyAny>) -> PyResult<W>) {
        while self.begun.len() < most
            && let Some(objects) = &self.objects
        {
            match ending::call(py, || objects.bind(py).clone().next()) {
                Some(Ok(object)) => {
                    let refused = match read(&object) {
                        Ok(piece) => {
                            // The other end is gone only after a stop, which `result` reports.
                            let _ = self.work.as_ref().map(|work| work.send(piece));
                            None
                        }
                        Err(error) => Some(error),
                    };
                    self.begun.push_back((object.unbind(), refused));
                }
                end => {
                    self.failure = end.and_then(Result::err);
                    (self.objects, self.work) = (None, None);
                }
            }
        }
    }
}
