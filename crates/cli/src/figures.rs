//! Figures as words: counts, bytes, sizes, speeds and times.

pub use mksum_cli::figures::grouped;

/// A number of bytes, as words.
pub fn bytes(number: u64) -> String {
    format!("{} byte{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Bytes a second, as a [`size`].
pub fn speed(bytes: u64, seconds: f64) -> String {
    format!("{}/s", size((bytes as f64 / seconds.max(1e-9)) as u64))
}

/// A duration with three or four digits that matter.
pub fn time(seconds: f64) -> String {
    match seconds {
        0.0..1e-3 => format!("{:.0} µs", seconds * 1e6),
        1e-3..1.0 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

/// Seconds without the digits after the millionths.
pub fn micros(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

/// About so many bytes, in units of 1000, as disks are sold; fewer are exact.
pub fn size(number: u64) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"];
    match number.checked_ilog10().unwrap_or(0) as usize / 3 {
        0 => bytes(number),
        power => format!("{:.2} {}", number as f64 / 1000_f64.powi(power as i32), units[power - 1]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!([0, 999, 1000, 4_096_000].map(grouped), ["0", "999", "1,000", "4,096,000"]);
        assert_eq!([0.000_05, 0.0123, 1.5, 99.994].map(time), ["50 µs", "12.3 ms", "1.50 s", "99.99 s"]);
        assert_eq!(speed(3_000_000_000, 2.0), "1.50 GB/s");
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!(
            [0, 999, 1500, 15_000_000, 5_000_000_000].map(size),
            ["0 bytes", "999 bytes", "1.50 kB", "15.00 MB", "5.00 GB"]
        );
        assert_eq!(size(u64::MAX), "18.45 EB");
    }
}
