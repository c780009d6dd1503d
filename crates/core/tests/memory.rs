//! The memory that every method takes, against its limit: the peak of the resident pages of this process, which Linux counts and
//! lets a process reset. On other systems the test is shown as ignored.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use eigenfold::{Error, Method, Neighbors, Points, Recipe, Silent};
use libtest_mimic::{Arguments, Trial};

/// What a peak may be above its limit (docs/internals/reliability.md): threads, buffers of the matrix library, and what the allocator keeps.
const BESIDE: u64 = 64_000_000;

/// Points without structure.
fn cloud(n: usize, p: usize) -> Points {
    let number = |at: usize| ((at as f64 * 0.618_033_988_749_894_9).fract() - 0.5) * (1.0 + (at % p) as f64).recip();
    Points::new(n, p, (0..n * p).map(number).collect()).unwrap()
}

/// The bytes on a line of the status of this process.
fn status(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// Sets the peak to what is resident now, and returns it.
fn reset_peak() -> Option<u64> {
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    status("VmRSS:")
}

/// The peak of a fit in bytes, the points included; and whether it was refused.
fn peak(method: &Method, points: &Points, neighbors: Neighbors, limit: u64) -> (u64, bool) {
    let mut method = method.clone();
    // An optimization allocates in its first steps.
    let _ = method.set("max-iterations", "3");
    let recipe = Recipe { method, neighbors, memory: Some(limit), ..Recipe::default() };
    let before = reset_peak().unwrap();
    let refused = matches!(recipe.fit(points, &Silent), Err(Error::Memory { .. }));
    (status("VmHWM:").unwrap().saturating_sub(before) + 8 * points.values().len() as u64, refused)
}

fn no_method_takes_more_memory_than_it_may() {
    let (thin, wide) = (cloud(1800, 3), cloud(300, 2000));
    let mut refusals = [0; 3];
    for method in Method::all() {
        let name = method.info().name;
        let cases = [
            (&thin, Neighbors::All, 20_000_000),
            (&thin, Neighbors::Nearest(10), 4_000_000),
            (&wide, Neighbors::Nearest(5), 12_000_000),
        ];
        for (at, (points, neighbors, limit)) in cases.into_iter().enumerate() {
            let (peak, refused) = peak(&method, points, neighbors, limit);
            refusals[at] += usize::from(refused);
            assert!(peak < limit + BESIDE, "{name}, case {at}: {peak} of {limit}");
        }
    }
    assert!(refusals.iter().all(|&count| count > 0), "{refusals:?}: the limits are too large to test anything");
}

/// One trial, since all fits share a process.
fn main() {
    let counted = reset_peak().is_some() && status("VmHWM:").is_some();
    let run = || {
        no_method_takes_more_memory_than_it_may();
        Ok(())
    };
    let trial = Trial::test("no_method_takes_more_memory_than_it_may", run).with_ignored_flag(!counted);
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit();
}
