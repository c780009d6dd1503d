//! Loops on several threads.
//!
//! The thread pool's own iterators are compiled anew for every closure, and that is most of what the compiler has to do
//! in a loop of one line. Here every closure is called through a reference to `dyn Fn`, and the pool is compiled once. A
//! call costs a few nanoseconds, so the work on an index must be worth more than that, or [`fill`] be used.
//!
//! Results do not depend on the number of threads: they are in the order of their indices.

use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most chunks of indices: enough for any number of threads, and few beside the work.
const CHUNKS: usize = 1024;
/// Entries to a chunk where the work on an entry is small.
const FINE: usize = 4096;

/// The results of `work` for every index below `count`, in order.
pub fn collect<T: Send>(count: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
    collect_indices(count, &of)
}

/// The results of `work` for every index below `count`, in order, or the first error that was met. After an error no
/// more work is begun.
pub fn try_collect<T: Send, E: Send>(count: usize, of: impl Fn(usize) -> Result<T, E> + Sync) -> Result<Vec<T>, E> {
    try_collect_indices(count, &of)
}

/// Calls `work` with every item and its index.
pub fn each_of<T: Send>(items: impl IntoIterator<Item = T>, work: impl Fn(usize, T) + Sync) {
    each_item(&handed_out(items), &work);
}

/// The results of `work` for every item and its index, in order.
pub fn collect_of<T: Send, R: Send>(items: impl IntoIterator<Item = T>, of: impl Fn(usize, T) -> R + Sync) -> Vec<R> {
    collect_items(&handed_out(items), &of)
}

/// The results of `work` for every item and its index, in order, or an error as of [`try_collect`].
pub fn try_collect_of<T: Send, R: Send, E: Send>(
    items: impl IntoIterator<Item = T>,
    of: impl Fn(usize, T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    try_collect_items(&handed_out(items), &of)
}

/// Calls `work` with the index and the entries of every chunk of `size` entries; the last chunk may have fewer.
pub fn chunks_mut<T: Send>(entries: &mut [T], size: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    each_chunk(entries, size, &work);
}

/// The results of `work` for every chunk of `size` entries, in order; the last chunk may have fewer.
pub fn collect_chunks_mut<T: Send, R: Send>(
    entries: &mut [T],
    size: usize,
    of: impl Fn(usize, &mut [T]) -> R + Sync,
) -> Vec<R> {
    collect_chunks(entries, size, &of)
}

/// Sets every entry to what is made of its index; fast even where that is little work.
pub fn fill<T: Send>(entries: &mut [T], of: impl Fn(usize) -> T + Sync) {
    chunks_mut(entries, FINE, |chunk, entries| {
        entries.iter_mut().enumerate().for_each(|(at, entry)| *entry = of(chunk * FINE + at));
    });
}

/// The largest of zero and what is made of every index below `count`; fast even where that is little work.
pub fn largest(count: usize, of: impl Fn(usize) -> f64 + Sync) -> f64 {
    let chunk = |chunk: usize| (chunk * FINE..((chunk + 1) * FINE).min(count)).map(&of).fold(0.0, f64::max);
    collect(count.div_ceil(FINE), chunk).into_iter().fold(0.0, f64::max)
}

/// Memory that work needs for itself, lent to one chunk of work after the other; as it was left, so it is lent again.
pub struct Scratch<T, M> {
    free: Mutex<Vec<T>>,
    make: M,
}

impl<T, M: Fn() -> T> Scratch<T, M> {
    /// An empty pool; a value is made when it is needed and none is free.
    pub fn new(make: M) -> Scratch<T, M> {
        Scratch { free: Mutex::new(Vec::new()), make }
    }

    /// Does something with it.
    pub fn lend<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let free = lock(&self.free).pop();
        let mut scratch = free.unwrap_or_else(&self.make);
        let found = work(&mut scratch);
        lock(&self.free).push(scratch);
        found
    }
}

/// The only loop of the thread pool.
#[inline(never)]
fn each_index(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}

#[inline(never)]
fn collect_indices<T: Send>(count: usize, of: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let size = count.div_ceil(CHUNKS).max(1);
    let chunks: Vec<Mutex<Vec<T>>> = (0..count.div_ceil(size)).map(|_| Mutex::new(Vec::new())).collect();
    each_index(chunks.len(), &|chunk| {
        let found = (chunk * size..((chunk + 1) * size).min(count)).map(of).collect();
        *lock(&chunks[chunk]) = found;
    });
    joined(chunks.iter().map(|chunk| std::mem::take(&mut *lock(chunk))).collect())
}

/// Chunks one after the other; moved as a whole, not entry by entry.
fn joined<T>(chunks: Vec<Vec<T>>) -> Vec<T> {
    let mut all = Vec::with_capacity(chunks.iter().map(Vec::len).sum());
    chunks.into_iter().for_each(|mut chunk| all.append(&mut chunk));
    all
}

#[inline(never)]
fn try_collect_indices<T: Send, E: Send>(
    count: usize,
    of: &(dyn Fn(usize) -> Result<T, E> + Sync),
) -> Result<Vec<T>, E> {
    let (failed, first) = (AtomicBool::new(false), Mutex::new(None));
    let found = collect_indices(count, &|i| {
        if failed.load(Ordering::Relaxed) {
            return None;
        }
        let keep = |error: E| {
            failed.store(true, Ordering::Relaxed);
            let mut first = lock(&first);
            if first.as_ref().is_none_or(|(at, _)| i < *at) {
                *first = Some((i, error));
            }
        };
        of(i).map_err(keep).ok()
    });
    match first.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(found.into_iter().flatten().collect()),
    }
}

/// Items that can be taken from any thread, each once.
fn handed_out<T>(items: impl IntoIterator<Item = T>) -> Vec<Mutex<Option<T>>> {
    items.into_iter().map(|item| Mutex::new(Some(item))).collect()
}

#[inline(never)]
fn each_item<T: Send>(items: &[Mutex<Option<T>>], work: &(dyn Fn(usize, T) + Sync)) {
    each_index(items.len(), &|i| {
        let item = lock(&items[i]).take();
        if let Some(item) = item {
            work(i, item);
        }
    });
}

#[inline(never)]
fn collect_items<T: Send, R: Send>(items: &[Mutex<Option<T>>], of: &(dyn Fn(usize, T) -> R + Sync)) -> Vec<R> {
    let found = collect_indices(items.len(), &|i| {
        let item = lock(&items[i]).take();
        item.map(|item| of(i, item))
    });
    found.into_iter().flatten().collect()
}

#[inline(never)]
fn try_collect_items<T: Send, R: Send, E: Send>(
    items: &[Mutex<Option<T>>],
    of: &(dyn Fn(usize, T) -> Result<R, E> + Sync),
) -> Result<Vec<R>, E> {
    let found = try_collect_indices(items.len(), &|i| {
        let item = lock(&items[i]).take();
        item.map(|item| of(i, item)).transpose()
    });
    Ok(found?.into_iter().flatten().collect())
}

#[inline(never)]
fn each_chunk<T: Send>(entries: &mut [T], size: usize, work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    let (together, chunks) = chunks_of_chunks(entries, size);
    each_index(chunks.len(), &|chunk| {
        let mut entries = lock(&chunks[chunk]);
        let chunks = (chunk * together..).zip(entries.chunks_mut(size));
        chunks.for_each(|(at, chunk)| work(at, chunk));
    });
}

#[inline(never)]
fn collect_chunks<T: Send, R: Send>(
    entries: &mut [T],
    size: usize,
    of: &(dyn Fn(usize, &mut [T]) -> R + Sync),
) -> Vec<R> {
    let (together, chunks) = chunks_of_chunks(entries, size);
    let found = collect_indices(chunks.len(), &|chunk| -> Vec<R> {
        let mut entries = lock(&chunks[chunk]);
        let chunks = (chunk * together..).zip(entries.chunks_mut(size));
        chunks.map(|(at, chunk)| of(at, chunk)).collect()
    });
    joined(found)
}

/// How many chunks are worked on together, and the entries of those.
fn chunks_of_chunks<T>(entries: &mut [T], size: usize) -> (usize, Vec<Mutex<&mut [T]>>) {
    if entries.is_empty() {
        return (0, Vec::new());
    }
    let together = entries.len().div_ceil(size).div_ceil(CHUNKS);
    (together, entries.chunks_mut(together * size).map(Mutex::new).collect())
}

/// Lock, ignoring poison: results are discarded after a panic.
fn lock<T>(behind: &Mutex<T>) -> MutexGuard<'_, T> {
    behind.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order() {
        for count in [0, 1, 7, CHUNKS, CHUNKS + 1, 10_000] {
            let doubled: Vec<usize> = (0..count).map(|i| 2 * i).collect();
            assert_eq!(collect(count, |i| 2 * i), doubled);
            assert_eq!(collect_of(0..count, |i, item| i + item), doubled);
            let (mut filled, mut added) = (vec![0; count], vec![0; count]);
            fill(&mut filled, |i| 2 * i);
            assert_eq!(filled, doubled);
            each_of(added.iter_mut(), |i, entry| *entry += 2 * i);
            assert_eq!(added, doubled);
            assert_eq!(largest(count, |i| i as f64), count.saturating_sub(1) as f64);
            let found = try_collect(count, |i| if i < 5000 { Ok(2 * i) } else { Err(i) });
            if count <= 5000 { assert_eq!(found, Ok(doubled)) } else { assert!(found.is_err_and(|i| i >= 5000)) }
        }
    }

    #[test]
    fn chunks_know_their_place() {
        for (count, size) in [(0, 3), (1, 3), (10, 3), (12, 3), (9_001, 2)] {
            let mut entries = vec![0; count];
            let sizes = collect_chunks_mut(&mut entries, size, |at, chunk| {
                chunk.iter_mut().enumerate().for_each(|(i, entry)| *entry += at * size + i);
                chunk.len()
            });
            assert_eq!(entries, (0..count).collect::<Vec<_>>());
            assert_eq!(sizes, entries.chunks(size).map(<[usize]>::len).collect::<Vec<_>>());
            chunks_mut(&mut entries, size, |at, chunk| chunk.iter_mut().for_each(|entry| *entry -= at * size));
            assert!(entries.iter().enumerate().all(|(i, &entry)| entry == i % size));
        }
    }

    #[test]
    fn scratch_is_made_once_for_work_that_does_not_overlap() {
        let scratch = Scratch::new(Vec::new);
        (0..3).for_each(|i| scratch.lend(|seen| seen.push(i)));
        assert_eq!(scratch.lend(|seen| seen.clone()), [0, 1, 2]);
    }
}
