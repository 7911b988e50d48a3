//! The jobs that wait, as far as they are known.

use crate::objects::Objects;
use crate::{Input, Job, Options};
use std::cmp::Reverse;
use std::collections::VecDeque;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A job and its place among all jobs.
pub struct Numbered {
    pub number: usize,
    pub job: Job,
}

/// Looks some jobs ahead, so that few files are shared evenly among the threads, and the last ones are begun longest first.
pub struct Queue<'a, J> {
    jobs: Option<J>,
    window: VecDeque<Numbered>,
    /// The number of the next job.
    next: usize,
    /// The number of jobs that were handed out.
    given: usize,
    /// The threads that take jobs.
    threads: usize,
    /// The client of stores, notified of the objects that will be opened.
    objects: Option<Arc<dyn Objects>>,
    /// The number of jobs in the window, for all threads.
    waiting: &'a AtomicUsize,
}

impl<'a, J: Iterator<Item = Job>> Queue<'a, J> {
    /// The most jobs that are looked at before they are handed out.
    const WINDOW: usize = 256;

    /// The size of the window for a number of threads.
    pub fn window(threads: usize) -> usize {
        Self::WINDOW.max(2 * threads)
    }

    pub fn new(jobs: J, options: &Options, waiting: &'a AtomicUsize) -> Self {
        let (threads, objects) = (options.threads, options.objects.clone());
        Queue { jobs: Some(jobs), window: VecDeque::new(), next: 0, given: 0, threads, objects, waiting }
    }
}

impl<J: Iterator<Item = Job>> Iterator for Queue<'_, J> {
    type Item = Numbered;

    fn next(&mut self) -> Option<Numbered> {
        // Not much further than jobs were handed out: whoever writes a list into a pipe, line by line, waits for the results.
        let wanted = (self.given + 2 * self.threads).min(Self::window(self.threads));
        while self.window.len() < wanted
            && let Some(jobs) = &mut self.jobs
        {
            match jobs.next() {
                Some(job) => {
                    if let (Some(objects), Input::Url(url), None) = (&self.objects, &job.input, job.window) {
                        objects.expect(url);
                    }
                    self.window.push_back(Numbered { number: self.next, job });
                    self.next += 1;
                }
                None => {
                    self.jobs = None;
                    self.window.make_contiguous().sort_by_cached_key(|waiting| Reverse(length(&waiting.job.input)));
                }
            }
        }
        let first = self.window.pop_front()?;
        self.given += 1;
        self.waiting.store(self.window.len(), Ordering::Relaxed);
        Some(first)
    }
}

/// The length of a file, 0 for whatever else an input is.
fn length(input: &Input) -> u64 {
    let metadata = input.file().and_then(|path| fs::metadata(path).ok());
    metadata.filter(fs::Metadata::is_file).map_or(0, |metadata| metadata.len())
}
