//! `mksum merklize --bench --verbose`: when a device's commands ran, as a drawing and in JSON.

use crate::json;
use crate::report::grouped;
use mksum::node_tree::{Step, Timeline};
use serde::Serialize;
use std::fmt::Write;
use std::time::Duration;

/// The columns between a queue's name and the end of its line: together 100.
const COLUMNS: usize = 90;

/// One run over a tree.
pub struct Run<'a> {
    /// The hash.
    pub hash: &'a str,
    /// The name of the device.
    pub device: &'a str,
    /// The number of leaves.
    pub leaves: usize,
    /// The time that passed on the host.
    pub wall: Duration,
    /// The commands.
    pub timeline: &'a Timeline,
}

/// The commands of a tile: from the begin of the first of a kind to the end of the last, in milliseconds.
#[derive(Serialize)]
struct Tile {
    tile: usize,
    queue: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_device_ms: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel_ms: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_device_ms: Option<[f64; 2]>,
}

/// A time in milliseconds, to 0.1 µs.
pub fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e7).round() / 1e4
}

fn tiles(timeline: &Timeline) -> impl Iterator<Item = Tile> {
    (0..timeline.tiles()).filter_map(|tile| {
        let spans = || timeline.spans().iter().filter(move |span| span.tile == tile);
        let queue = spans().next()?.queue;
        let time = |step| {
            let spans = || spans().filter(|span| span.step == step).map(|span| &span.time);
            let begin = spans().map(|time| time.start).min()?;
            Some([millis(begin), millis(spans().map(|time| time.end).max()?)])
        };
        let [to_device_ms, kernel_ms, from_device_ms] = Step::ALL.map(time);
        Some(Tile { tile, queue, to_device_ms, kernel_ms, from_device_ms })
    })
}

impl Run<'_> {
    /// The share of the transfers' time during which a kernel ran too, in per cent.
    fn overlap_percent(&self) -> Option<f64> {
        self.timeline.overlap().map(|share| (share * 1000.0).round() / 10.0)
    }

    /// A line of JSON.
    pub fn json(&self) -> Vec<u8> {
        #[derive(Serialize)]
        struct Object<'a> {
            kind: &'static str,
            hash: &'a str,
            device: &'a str,
            leaves: usize,
            wall_ms: f64,
            kernel_ms: f64,
            to_device_ms: f64,
            from_device_ms: f64,
            overlap_percent: Option<f64>,
            tiles: Vec<Tile>,
        }
        let timings = self.timeline.timings();
        json::object(Object {
            kind: "timeline",
            hash: self.hash,
            device: self.device,
            leaves: self.leaves,
            wall_ms: millis(self.wall),
            kernel_ms: millis(timings.kernel),
            to_device_ms: millis(timings.to_device),
            from_device_ms: millis(timings.from_device),
            overlap_percent: self.overlap_percent(),
            tiles: tiles(self.timeline).collect(),
        })
    }

    /// A line for each queue, a sum, and a line for each tile; no newline at the end.
    pub fn drawing(&self) -> String {
        let (timeline, end) = (self.timeline, self.timeline.end());
        let (tiles_of, queues_of) = (timeline.tiles(), timeline.queues());
        let mut text = format!("{} leaves, the median run: {:.3} ms", grouped(self.leaves as u64), millis(self.wall));
        if end.is_zero() {
            return text + "; the device ran nothing";
        }
        let plural = |count| if count == 1 { "" } else { "s" };
        let _ = write!(text, "; {tiles_of} tile{} on {queues_of} queue{}", plural(tiles_of), plural(queues_of));
        for queue in 0..queues_of {
            let _ = write!(text, "\nqueue {queue} |{}|", line(timeline, queue));
        }
        let last = format!("{:.3} ms", millis(end));
        let _ = write!(text, "\n         0 ms{last:>width$}", width = COLUMNS - 4);
        text += "\n         > leaves to the device   # kernels   < nodes from the device";
        let timings = timeline.timings();
        let _ = write!(text, "\nkernels {:.3} ms", millis(timings.kernel));
        match self.overlap_percent() {
            None => text += ", no transfers",
            Some(percent) => {
                let (to, from) = (millis(timings.to_device), millis(timings.from_device));
                let _ = write!(text, ", to the device {to:.3} ms, from it {from:.3} ms");
                let _ = write!(text, "; overlap: {percent:.1} % of the transfers' time beside kernels");
            }
        }
        text += "\n tile queue         to the device ms               kernels ms       from the device ms";
        for Tile { tile, queue, to_device_ms, kernel_ms, from_device_ms } in tiles(timeline) {
            let _ = write!(text, "\n{tile:>5} {queue:>5}");
            for time in [to_device_ms, kernel_ms, from_device_ms] {
                let _ = match time {
                    None => write!(text, " {:>24}", "-"),
                    Some([begin, end]) => write!(text, " {begin:>11.3} ..{end:>11.3}"),
                };
            }
        }
        text
    }
}

/// The line of a queue. Each column shows the kind of commands that took the most of its time; it is blank if none ran.
fn line(timeline: &Timeline, queue: usize) -> String {
    // In parts of a nanosecond, so that a column has a whole number of them.
    let parts = |time: Duration| time.as_nanos() * COLUMNS as u128;
    let width = timeline.end().as_nanos().max(1);
    // The time of each kind in each column.
    let mut busy = [[0; Step::ALL.len()]; COLUMNS];
    for span in timeline.spans().iter().filter(|span| span.queue == queue) {
        let [start, stop] = [span.time.start, span.time.end].map(parts);
        for (column, begin) in busy.iter_mut().zip((0..).map(|at| at * width)) {
            column[span.step as usize] += stop.min(begin + width).saturating_sub(start.max(begin));
        }
    }
    let letter = |column: [u128; 3]| {
        let letters = column.into_iter().zip(['>', '#', '<']);
        letters.fold((0, ' '), |most, one| if one.0 > most.0 { one } else { most }).1
    };
    busy.map(letter).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mksum::node_tree::Span;
    use std::ops::Range;

    fn timeline() -> Timeline {
        use Step::{FromDevice, Kernel, ToDevice};
        let spans = [
            (0, 0, ToDevice, 0..10),
            (0, 0, Kernel, 10..25),
            (0, 0, Kernel, 25..30),
            (0, 0, FromDevice, 30..35),
            (1, 1, ToDevice, 10..20),
            (1, 1, Kernel, 20..40),
            (1, 1, FromDevice, 40..45),
        ];
        Timeline::new(
            spans
                .map(|(queue, tile, step, time)| {
                    let time = Duration::from_millis(time.start)..Duration::from_millis(time.end);
                    Span { queue, tile, step, time }
                })
                .into(),
        )
    }

    fn run(timeline: &Timeline) -> Run<'_> {
        Run { hash: "blake3", device: "a device", leaves: 1 << 15, wall: Duration::from_millis(50), timeline }
    }

    #[test]
    fn each_queue_has_a_line_and_each_tile_its_times() {
        let timeline = timeline();
        let many = |letter: &str, count| letter.repeat(count);
        // Two columns are a millisecond.
        let first = many(">", 20) + &many("#", 40) + &many("<", 10) + &many(" ", 20);
        let second = many(" ", 20) + &many(">", 20) + &many("#", 40) + &many("<", 10);
        let expected = format!(
            "32,768 leaves, the median run: 50.000 ms; 2 tiles on 2 queues\n\
             queue 0 |{first}|\n\
             queue 1 |{second}|\n\
             \x20        0 ms{}45.000 ms\n\
             \x20        > leaves to the device   # kernels   < nodes from the device\n\
             kernels 30.000 ms, to the device 20.000 ms, from it 10.000 ms; overlap: 50.0 % of the transfers' time beside kernels\n\
             \x20tile queue         to the device ms               kernels ms       from the device ms\n\
             \x20   0     0       0.000 ..     10.000      10.000 ..     30.000      30.000 ..     35.000\n\
             \x20   1     1      10.000 ..     20.000      20.000 ..     40.000      40.000 ..     45.000",
            many(" ", 77)
        );
        let drawn = run(&timeline).drawing();
        assert_eq!(drawn, expected);
        assert!(drawn.lines().all(|line| line.len() <= 120));
    }

    #[test]
    fn short_commands_are_drawn_and_nothing_is_no_drawing() {
        let span = |step, time: Range<u64>| {
            let time = Duration::from_nanos(time.start)..Duration::from_nanos(time.end);
            Span { queue: 0, tile: 0, step, time }
        };
        let spans = vec![span(Step::ToDevice, 0..1), span(Step::Kernel, 899_999..900_000)];
        let timeline = Timeline::new(spans);
        assert_eq!(line(&timeline, 0), format!(">{}#", " ".repeat(88)));
        let drawn = run(&timeline).drawing();
        assert!(drawn.ends_with(" -"), "no transfer from the device: {drawn}");
        let nothing = run(&Timeline::default()).drawing();
        assert_eq!(nothing, "32,768 leaves, the median run: 50.000 ms; the device ran nothing");
    }

    #[test]
    fn json_has_the_exact_times() {
        let line = String::from_utf8(run(&timeline()).json()).unwrap();
        let expected = "{\"kind\":\"timeline\",\"hash\":\"blake3\",\"device\":\"a device\",\"leaves\":32768,\"wall_ms\":50.0,\
            \"kernel_ms\":30.0,\"to_device_ms\":20.0,\"from_device_ms\":10.0,\"overlap_percent\":50.0,\"tiles\":[\
            {\"tile\":0,\"queue\":0,\"to_device_ms\":[0.0,10.0],\"kernel_ms\":[10.0,30.0],\"from_device_ms\":[30.0,35.0]},\
            {\"tile\":1,\"queue\":1,\"to_device_ms\":[10.0,20.0],\"kernel_ms\":[20.0,40.0],\"from_device_ms\":[40.0,45.0]}]}\n";
        assert_eq!(line, expected);
    }
}
