//! Shortest paths from one set of seeds with a heap.
//!
//! E. W. Dijkstra. A note on two problems in connexion with graphs. Numerische Mathematik 1, 1959.

use crate::Undirected;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Fills `d` with the distance of every point from the nearest seed, each seed starting at its own length; points out
/// of reach are at infinity.
pub(crate) fn dijkstra(graph: &Undirected, seeds: &[(u32, f64)], d: &mut [f64]) {
    settle(graph, seeds, d, |_| (), |_, _| ());
}

/// As [`dijkstra`], naming the points as they are settled: nearest first, and each after its predecessor on a shortest
/// path to it. Every shorter way to a point is named as it is found, by the point and its predecessor; the last one
/// stands.
pub fn settle(
    graph: &Undirected,
    seeds: &[(u32, f64)],
    d: &mut [f64],
    mut settled: impl FnMut(u32),
    mut shortened: impl FnMut(u32, u32),
) {
    d.fill(f64::INFINITY);
    // Lengths are not negative, so that their bits sort as they do.
    let mut heap: BinaryHeap<(Reverse<u64>, u32)> = BinaryHeap::with_capacity(seeds.len());
    for &(seed, length) in seeds {
        if length < d[seed as usize] {
            d[seed as usize] = length;
            heap.push((Reverse(length.to_bits()), seed));
        }
    }
    while let Some((Reverse(bits), v)) = heap.pop() {
        let here = f64::from_bits(bits);
        if here > d[v as usize] {
            continue;
        }
        settled(v);
        for (u, length) in graph.edges(v as usize) {
            let there = here + length;
            if there < d[u] {
                d[u] = there;
                shortened(u as u32, v);
                heap.push((Reverse(there.to_bits()), u as u32));
            }
        }
    }
}
