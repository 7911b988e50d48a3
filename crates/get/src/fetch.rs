//! Missing ranges, fetched from all mirrors at once: each unit is judged before it is written, or its mirror is blamed.

use crate::kept::Tree;
use crate::plan::{Plan, Task};
use crate::request::Mirror;
use crate::seed::units;
use crate::sink::Sink;
use mksum_io::outboard::append;
use mksum_io::{Error, Input, Options, Refusal, Replica, Stop, open_bytes, open_replica};
use std::io::Read;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The bytes of a request, at most, unless one unit has more.
const MOST: u64 = 4 << 20;
/// The time after which a range is asked of another mirror too.
const PATIENCE: Duration = Duration::from_secs(5);
/// The errors in a row after which a mirror is given up, and the bad ranges, if they have more bytes than the good ones.
const STRIKES: u32 = 3;
const BAD: usize = 8;

/// What is shared by the threads that fetch.
struct Shared {
    tree: Arc<Tree>,
    options: Options,
    /// The bytes of a request, at most.
    most: u64,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    plan: Plan,
    /// The place of verified bytes, until the work is over: a thread that still waits for a server writes nothing after that.
    sink: Option<Sink>,
    mirrors: Vec<Standing>,
    /// An error that ends the work.
    fatal: Option<Error>,
}

/// A mirror, and what it is worth.
struct Standing {
    report: Mirror,
    is_alive: bool,
    /// Whether it sends whole objects where parts are asked for.
    sends_all: bool,
    /// The bytes that were right and wrong, and the errors since the last answer.
    good: u64,
    bad: u64,
    strikes: u32,
    /// Whether its first unit is on the way: until that is judged, it is asked for nothing else.
    is_on_trial: bool,
}

impl Standing {
    fn new(report: Mirror) -> Standing {
        Standing { report, is_alive: true, sends_all: false, good: 0, bad: 0, strikes: 0, is_on_trial: false }
    }
}

/// The result of fetching ranges.
pub struct Fetched {
    pub sink: Sink,
    pub missing: Vec<Range<u64>>,
    pub mirrors: Vec<Mirror>,
}

/// Fetches the ranges `missing` from all mirrors, by `connections` requests at a time.
///
/// # Errors
/// If the verified bytes cannot be written, or the outboard not be read.
pub fn fetch(
    (tree, missing): (Arc<Tree>, Vec<Range<u64>>),
    mirrors: Vec<Mirror>,
    connections: usize,
    sink: Sink,
    options: &Options,
) -> Result<Fetched, Error> {
    let left: u64 = missing.iter().map(|range| range.end - range.start).sum();
    options.meter.expect(left);
    let plan = Plan::new(tree.outboard().layout(), missing, mirrors.len());
    let mirrors: Vec<_> = mirrors.into_iter().map(Standing::new).collect();
    // Each connection gets several requests, so that a faster one takes more of them, and all have room at once.
    let most = (left / 4).min(sink.room()) / connections.max(1) as u64;
    let most = most.clamp(1, MOST);
    let state = State { plan, sink: Some(sink), mirrors, fatal: None };
    let shared =
        Arc::new(Shared { tree, options: options.clone(), most, state: Mutex::new(state), changed: Condvar::new() });
    // They are not joined: one may wait for a server that has no more to say.
    let begin = |own: usize| {
        let shared = shared.clone();
        let work = move || shared.work(own);
        thread::Builder::new().name("get".into()).spawn(work).is_ok()
    };
    let begun = (0..connections.max(1)).filter(|&own| begin(own)).count();
    if begun == 0 {
        shared.work(0);
    }
    let mut state = shared.lock();
    while !state.is_over() {
        state = shared.wait(state);
        // The others may wait for servers.
        state.check(&shared.options.stop);
        state.relax();
    }
    let (plan, mut sink) = (state.plan.missing(), state.sink.take().expect("it is taken once"));
    let mirrors = std::mem::take(&mut state.mirrors);
    let fatal = state.fatal.take();
    drop(state);
    shared.changed.notify_all();
    if let Some(error) = fatal {
        return Err(error);
    }
    let (mut missing, mut reports) = (plan, Vec::new());
    for mut standing in mirrors {
        if standing.sends_all && !missing.is_empty() {
            missing = stream(&mut standing.report, missing, (&shared.tree, &mut sink), options)?;
        }
        reports.push(standing.report);
    }
    Ok(Fetched { sink, missing, mirrors: reports })
}

impl State {
    /// Ends the work if it was stopped.
    fn check(&mut self, stop: &Stop) {
        if stop.is_stopped() && self.fatal.is_none() && !self.plan.is_done() {
            self.fatal = Some(Error::Stopped { path: Input::Stdin });
        }
    }

    /// Fetches what comes later, too, if a range is missing everywhere.
    fn relax(&mut self) {
        if self.plan.is_idle() && !self.plan.is_done() && self.is_stuck() {
            self.sink.as_mut().map(Sink::relax);
        }
    }

    /// Whether nothing more can be fetched.
    fn is_over(&self) -> bool {
        self.fatal.is_some() || self.sink.is_none() || self.plan.is_done() || (self.plan.is_idle() && self.is_stuck())
    }

    /// Whether no mirror can be asked for what is missing.
    fn is_stuck(&self) -> bool {
        let alive: Vec<_> = self.mirrors.iter().map(|mirror| mirror.is_alive).collect();
        let limit = self.sink.as_ref().map_or(0, Sink::limit);
        !(0..alive.len()).any(|mirror| alive[mirror] && self.plan.has(mirror, limit, &alive))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout(state, Duration::from_millis(100));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// The work of one thread: its own mirror comes first, and the others where that has nothing to do.
    fn work(&self, own: usize) {
        let mut replicas: Vec<Option<Box<dyn Replica>>> = self.lock().mirrors.iter().map(|_| None).collect();
        while let Some((mirror, task, place, mut buffer)) = self.next(own) {
            let len = task.range.end - task.range.start;
            if let Some(throttle) = &self.options.throttle {
                throttle.wait(len);
            }
            let mut before = replicas[mirror].as_ref().map_or(0, |replica| replica.fetched());
            let read = resize(&mut buffer, len, &place).and_then(|()| {
                let read = replicas[mirror].as_mut().map(|replica| replica.read(task.range.start, &mut buffer));
                match read {
                    Some(Ok(())) => Ok(()),
                    // Another version of the file may have the same bytes here, and these are judged.
                    Some(Err(_)) | None => {
                        before = 0;
                        let replica = replicas[mirror].insert(open_replica(&place, &self.options)?);
                        replica.read(task.range.start, &mut buffer)
                    }
                }
            });
            let fetched = replicas[mirror].as_ref().map_or(0, |replica| replica.fetched()) - before;
            let (mut good, mut bad) = (Vec::new(), Vec::new());
            let mut fatal = None;
            let error = match read {
                Ok(()) => {
                    let units: Vec<_> = units(self.tree.outboard().layout(), task.range.clone()).collect();
                    match self.tree.accepts_each(&units, &buffer) {
                        Ok(right) => {
                            for (unit, is_right) in units.into_iter().zip(right) {
                                append(if is_right { &mut good } else { &mut bad }, unit.start..unit.end());
                            }
                        }
                        Err(error) => fatal = Some(Error::from_outboard(error, &place)),
                    }
                    None
                }
                Err(error) => {
                    // The next request finds the mirror as it is then.
                    replicas[mirror] = None;
                    Some(error)
                }
            };
            let mut state = self.lock();
            state.fatal = state.fatal.take().or(fatal);
            state.settle(mirror, &task, (buffer, fetched), (good, bad), error, &self.options);
            drop(state);
            self.changed.notify_all();
        }
        self.changed.notify_all();
    }

    /// The next range, the mirror that is asked for it, and a buffer; waits while others may leave one. `None` at the end.
    fn next(&self, own: usize) -> Option<(usize, Task, Input, Vec<u8>)> {
        let mut state = self.lock();
        loop {
            state.check(&self.options.stop);
            state.relax();
            if state.is_over() {
                return None;
            }
            let limit = state.sink.as_ref()?.limit();
            let alive: Vec<_> = state.mirrors.iter().map(|mirror| mirror.is_alive).collect();
            let count = alive.len();
            let now = Instant::now();
            for mirror in (own..own + count).map(|mirror| mirror % count).filter(|&mirror| alive[mirror]) {
                let standing = &state.mirrors[mirror];
                let (is_new, is_on_trial) = (standing.good == 0, standing.is_on_trial);
                if is_on_trial {
                    continue;
                }
                // One unit shows whether a mirror has the file at all.
                let task = match is_new {
                    true => state.plan.probe(mirror, limit, &alive),
                    false => state.plan.take(mirror, self.most, limit, &alive),
                };
                let since = now.checked_sub(PATIENCE).unwrap_or(now);
                if let Some(task) = task.or_else(|| state.plan.steal(mirror, since)) {
                    let standing = &mut state.mirrors[mirror];
                    standing.is_on_trial = is_new;
                    let place = standing.report.place.clone();
                    return Some((mirror, task, place, state.sink.as_mut()?.spare.pop().unwrap_or_default()));
                }
            }
            state = self.wait(state);
        }
    }
}

impl State {
    /// Writes what was right, and notes what was not.
    fn settle(
        &mut self,
        mirror: usize,
        task: &Task,
        (bytes, fetched): (Vec<u8>, u64),
        (good, bad): (Vec<Range<u64>>, Vec<Range<u64>>),
        error: Option<Error>,
        options: &Options,
    ) {
        // After the end, the mirrors are taken.
        let Some(standing) = self.mirrors.get_mut(mirror) else { return };
        standing.is_on_trial = false;
        standing.report.bytes += fetched;
        // All before these bytes came, too: such a server is read once at the end, if others do not suffice.
        if fetched > task.range.end - task.range.start {
            (standing.sends_all, standing.is_alive) = (true, false);
        }
        let missing = if error.is_some() { vec![task.range.clone()] } else { bad.clone() };
        match error {
            Some(error) => {
                standing.strikes += 1;
                // One that never sent anything is not waited for again.
                standing.is_alive &= standing.strikes < STRIKES && standing.good + standing.bad > 0;
                standing.report.error = Some(error.to_string());
            }
            None => {
                let sum = |ranges: &[Range<u64>]| ranges.iter().map(|range| range.end - range.start).sum::<u64>();
                standing.strikes = 0;
                standing.good += sum(&good);
                standing.bad += sum(&bad);
                standing.report.bad.extend(bad);
                if standing.report.bad.len() >= BAD && standing.bad > standing.good {
                    standing.is_alive = false;
                    standing.report.error = Some("most of what it sent was wrong: it has another file".into());
                }
            }
        }
        let Some(sink) = &mut self.sink else { return };
        if !self.plan.is_wanted(task) {
            return sink.spare.push(bytes);
        }
        options.meter.add(good.iter().map(|range| range.end - range.start).sum());
        let put = match &good[..] {
            [range] if *range == task.range => sink.put_buffer(range.start, bytes),
            good => {
                let place = |at: u64| (at - task.range.start) as usize;
                let put = good
                    .iter()
                    .try_for_each(|range| sink.put(range.start, &bytes[place(range.start)..place(range.end)]));
                sink.spare.push(bytes);
                put
            }
        };
        if let Err(error) = put {
            self.fatal.get_or_insert(error);
            return;
        }
        self.plan.finish(task, mirror, &missing);
    }
}

/// Takes the missing units out of a whole object, as one response brings it. Returns what is missing then.
fn stream(
    mirror: &mut Mirror,
    missing: Vec<Range<u64>>,
    (tree, sink): (&Tree, &mut Sink),
    options: &Options,
) -> Result<Vec<Range<u64>>, Error> {
    let mut reader = match open_bytes(&mirror.place, options) {
        Ok(reader) => reader,
        Err(error) => {
            mirror.error = Some(error.to_string());
            return Ok(missing);
        }
    };
    mirror.error = None;
    let (mut rest, mut at, mut bytes) = (Vec::new(), 0, Vec::new());
    let mut ranges = missing.into_iter();
    while let Some(range) = ranges.next() {
        for unit in units(tree.outboard().layout(), range.clone()) {
            let skipped = std::io::copy(&mut reader.by_ref().take(unit.start - at), &mut std::io::sink());
            bytes.resize(unit.len as usize, 0);
            if let Err(error) = skipped.and_then(|_| reader.read_exact(&mut bytes)) {
                mirror.error = Some(format!("the response ended before byte {}: {error}", unit.end()));
                append(&mut rest, unit.start..range.end);
                rest.extend(ranges);
                return Ok(rest);
            }
            mirror.bytes += unit.end() - at;
            at = unit.end();
            if let Some(throttle) = &options.throttle {
                throttle.wait(unit.len);
            }
            match tree.accepts(unit, &bytes).map_err(|error| Error::from_outboard(error, &mirror.place))? {
                true => {
                    sink.put(unit.start, &bytes)?;
                    options.meter.add(unit.len);
                }
                false => {
                    mirror.bad.push(unit.start..unit.end());
                    append(&mut rest, unit.start..unit.end());
                }
            }
        }
    }
    Ok(rest)
}

/// Makes a buffer `len` bytes long, or refuses to.
fn resize(buffer: &mut Vec<u8>, len: u64, place: &Input) -> Result<(), Error> {
    let refuse = || Error::refused(place, Refusal::Memory(len));
    let count = usize::try_from(len).map_err(|_| refuse())?;
    buffer.try_reserve_exact(count.saturating_sub(buffer.len())).map_err(|_| refuse())?;
    buffer.resize(count, 0);
    Ok(())
}
