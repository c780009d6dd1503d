//! How much is allocated at most, by every method, beside the limit that it was given.
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(unsafe_code, reason = "an allocator that counts cannot be had otherwise")]

use eigenfold::graph::Neighbors;
use eigenfold::{Error, Method, Points, Recipe};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The allocator of the system, counting.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn more(bytes: usize) {
    MOST.fetch_max(NOW.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

// SAFETY: all work is done by the allocator of the system, with the arguments as they come.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The old and the new block may be there together.
        more(size);
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Points without structure.
fn cloud(n: usize, p: usize) -> Points {
    let number = |at: usize| ((at as f64 * 0.618_033_988_749_894_9).fract() - 0.5) * (1.0 + (at % p) as f64).recip();
    Points::new(n, p, (0..n * p).map(number).collect()).unwrap()
}

/// What a fit allocates at most, the points included, in bytes; and whether it was refused.
fn peak(method: &Method, points: &Points, neighbors: Neighbors, limit: u64) -> (u64, bool) {
    let mut method = method.clone();
    for name in ["max-iterations", "tolerance"] {
        // What a descent needs it needs from its first steps on.
        let _ = method.set(name, if name == "tolerance" { "0.01" } else { "3" });
    }
    let recipe = Recipe { method, neighbors, memory: Some(limit), ..Recipe::default() };
    let before = NOW.load(Relaxed) as u64;
    MOST.store(NOW.load(Relaxed), Relaxed);
    let refused = matches!(recipe.fit(points), Err(Error::Memory { .. }));
    (MOST.load(Relaxed) as u64 - before + 8 * points.values().len() as u64, refused)
}

/// Peak within 1.2 times the limit, and a few megabytes that do not grow with the points; one test, since all share a count.
#[test]
fn no_method_allocates_more_than_it_may() {
    // Threads and their buffers are not a method's.
    rayon::ThreadPoolBuilder::new().num_threads(2).build_global().unwrap();
    let (thin, wide) = (cloud(1500, 3), cloud(300, 2000));
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
            assert!(peak < limit * 6 / 5 + 8_000_000, "{name}, case {at}: {peak} of {limit}");
        }
        let enough = 400_000_000;
        let (peak, refused) = peak(&method, &cloud(200, 3), Neighbors::Nearest(10), enough);
        assert!(!refused && peak < enough, "{name}: {peak}");
    }
    assert!(refusals.iter().all(|&count| count > 0), "{refusals:?}: the limits are too large to tell anything");
}
