//! How much memory there is.

/// The bytes the machine has free, less a margin; 8 GB where that cannot be known.
pub(crate) fn available() -> u64 {
    let known = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    known.map_or(8_000_000_000, |kilobytes| kilobytes * 1024 / 10 * 9)
}
