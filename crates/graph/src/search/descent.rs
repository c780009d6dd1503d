//! Nearest neighbors that are almost all right, for many points: near blocks by matrix products, then NN-descent.
//!
//! The points are put in an order in which neighbors are mostly close to each other and cut into blocks. Every block is
//! compared with the blocks nearest to it, which finds most neighbors. Lists then improve in rounds: a neighbor's
//! neighbor is likely a neighbor, and all but those in near blocks are new. A round looks at lists of the last one only
//! and every point rewrites nothing but its own, so that the outcome does not depend on the number of threads. The lists
//! carry a few spare neighbors, and the final choice is made by distance.
//!
//! W. Dong, C. Moses, K. Li. Efficient k-nearest neighbor graph construction for generic similarity measures.
//! WWW 2011.

use crate::metric::Metric;
use crate::points::Points;
use crate::search::approximate::Effort;
use crate::search::best::Best;
use crate::search::brute::Rounding;
use crate::search::groups::{GROUP, Groups, STRIP};
use crate::search::index::{Lists, concat, put_back};
use crate::search::sketch::Sketch;
use crate::search::watch::Watch;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel::{self, Scratch};
use eigenfold_linalg::sort;
use eigenfold_linalg::widest;

/// Rounds at most.
const ROUNDS: usize = 8;

/// A round that changes less than this share of all entries is the last.
const SETTLED: f64 = 0.001;

/// Neighbors of a point whose neighbors are looked at, at most, and points whose neighbor it is.
const FORWARD: usize = 24;
const LEAST_FORWARD: usize = 8;
const BACKWARD: usize = 8;

/// Squared distances below this part of the points' squared norms have lost too many digits in single precision.
const LOST: f32 = 1e-3;

/// Marks an entry that has come in since the last round.
const FRESH: u32 = 1 << 31;

/// A neighbor in a list: its rank and its row, with [`FRESH`].
type Entry = (f32, u32);

const NOBODY: Entry = (f32::INFINITY, u32::MAX);

/// The number of neighbors of a list beyond the requested ones.
pub(crate) fn spare(k: usize) -> usize {
    (k / 3).max(4)
}

/// The `k` nearest other points of every point, most of them; every point is first compared with the groups nearest to it.
pub(crate) fn nearest_others(
    points: &Points,
    (rounding, groups): (&Rounding, &Groups),
    k: usize,
    effort: Effort,
    watch: &Watch,
) -> Result<Lists> {
    let (n, sketch, length, reach) =
        (points.rows(), groups.sketch(), k + effort.spare, effort.reach.min(groups.count()));
    let watch = watch.again(groups.count() * (2 + ROUNDS));
    let mut lists = vec![NOBODY; n * length];
    let compared = parallel::collect_chunks_mut(&mut lists, STRIP * GROUP * length, |strip, lists| {
        let near = groups.nearest(strip, reach);
        for (at, (lists, near)) in lists.chunks_mut(GROUP * length).zip(near.chunks(GROUP * reach)).enumerate() {
            watch.step(1)?;
            first_lists(groups, strip * STRIP + at, near, effort.measured, lists);
        }
        // What a narrow sketch ruled out may be a neighbor all the same.
        Ok(if sketch.is_narrow() { Vec::new() } else { near })
    });
    let compared = compared.into_iter().collect::<Result<Vec<Vec<u32>>>>()?;
    for _ in 0..ROUNDS {
        let steps = both_ways(&lists, (k, length));
        lists.iter_mut().filter(|entry| entry.1 != NOBODY.1).for_each(|entry| entry.1 &= !FRESH);
        let marks = Scratch::new(|| (vec![u32::MAX; n], vec![false; groups.count()], Vec::new()));
        let changed = parallel::collect_chunks_mut(&mut lists, GROUP * length, |group, lists| {
            watch.step(1)?;
            Ok(marks.lend(|(seen, known, found)| {
                widest(
                    #[inline(always)]
                    || {
                        let mut changed = 0;
                        for (at, list) in lists.chunks_exact_mut(length).enumerate() {
                            let i = group * GROUP + at;
                            let near = &compared[group / STRIP];
                            let near = match near.is_empty() {
                                true => &[],
                                false => &near[i % (STRIP * GROUP) * reach..][..reach],
                            };
                            near.iter().for_each(|&near| known[near as usize] = true);
                            changed += look_around(sketch, &steps, (seen, known), i, list, found);
                            near.iter().for_each(|&near| known[near as usize] = false);
                        }
                        changed
                    },
                )
            }))
        });
        let changed: usize = changed.into_iter().sum::<Result<usize>>()?;
        if (changed as f64) < SETTLED * lists.len() as f64 {
            break;
        }
    }
    let parts = parallel::collect_of(lists.chunks(GROUP * length), |group, lists| {
        let mut out = Lists::default();
        for (at, list) in lists.chunks_exact(length).enumerate() {
            let own = group * GROUP + at;
            let best = widest(
                #[inline(always)]
                || chosen(points, rounding, sketch, own, list, k),
            );
            best.write(&mut out);
        }
        out
    });
    drop((lists, compared));
    Ok(put_back(&concat(parts), &sketch.order, k))
}

/// The nearest of every row of a group among the rows that it is compared with.
fn first_lists(groups: &Groups, group: usize, near: &[u32], measured: usize, lists: &mut [Entry]) {
    let (rows, sketch) = (groups.rows(group), groups.sketch());
    let length = lists.len() / rows.len();
    let found = groups.compare(group, near, measured.max(length));
    for ((own, mut near), list) in rows.zip(found).zip(lists.chunks_exact_mut(length)) {
        widest(
            #[inline(always)]
            || sketch.measure(own, &mut near, f32::INFINITY),
        );
        near.sort_unstable_by(sort::by_key);
        list.iter_mut().zip(near).for_each(|(entry, (rank, j))| *entry = (rank, j | FRESH));
    }
}

/// The points one step away from each: its nearest neighbors, and the nearest of those whose neighbor it is.
struct Steps {
    starts: Vec<u32>,
    targets: Vec<u32>,
}

impl Steps {
    #[inline(always)]
    fn of(&self, i: usize) -> &[u32] {
        &self.targets[self.starts[i] as usize..self.starts[i + 1] as usize]
    }
}

fn both_ways(lists: &[Entry], (k, length): (usize, usize)) -> Steps {
    let (n, forward) = (lists.len() / length, k.clamp(LEAST_FORWARD.min(length), FORWARD));
    let heads =
        || lists.chunks_exact(length).enumerate().flat_map(|(i, list)| list[..forward].iter().map(move |e| (i, e)));
    let mut starts = vec![0u32; n + 1];
    heads().filter(|(_, entry)| entry.1 != NOBODY.1).for_each(|(_, e)| starts[(e.1 & !FRESH) as usize + 1] += 1);
    (0..n).for_each(|i| starts[i + 1] += starts[i]);
    let mut incoming = vec![(0.0f32, 0u32); starts[n] as usize];
    let mut ends = starts.clone();
    for (i, &(rank, j)) in heads().filter(|(_, entry)| entry.1 != NOBODY.1) {
        let end = &mut ends[(j & !FRESH) as usize];
        incoming[*end as usize] = (rank, i as u32 | (j & FRESH));
        *end += 1;
    }
    let steps: Vec<Vec<u32>> = parallel::collect(n.div_ceil(GROUP), |b| {
        let mut out = Vec::new();
        for i in b * GROUP..n.min((b + 1) * GROUP) {
            let mut from: Vec<(f32, u32)> = incoming[starts[i] as usize..starts[i + 1] as usize].to_vec();
            from.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((a.1 & !FRESH).cmp(&(b.1 & !FRESH))));
            from.truncate(BACKWARD);
            let own = &lists[i * length..i * length + forward];
            let before = out.len() + 1;
            out.push(0);
            out.extend(own.iter().map(|entry| entry.1).filter(|&j| j != NOBODY.1));
            let another = |j: &u32| own.iter().all(|entry| entry.1 & !FRESH != j & !FRESH);
            out.extend(from.iter().map(|item| item.1).filter(another));
            out[before - 1] = (out.len() - before) as u32;
        }
        out
    });
    let mut all =
        Steps { starts: Vec::with_capacity(n + 1), targets: Vec::with_capacity(steps.iter().map(Vec::len).sum()) };
    all.starts.push(0);
    for part in steps {
        let mut rest = &part[..];
        while let Some((&count, tail)) = rest.split_first() {
            let (list, tail) = tail.split_at(count as usize);
            all.targets.extend_from_slice(list);
            all.starts.push(all.targets.len() as u32);
            rest = tail;
        }
    }
    all
}

/// Offers to point `i` the points two steps away, where one of the steps is fresh, and which are in no group that it was
/// compared with; `seen` marks them with `i`. Returns how many came in.
#[inline(always)]
fn look_around(
    sketch: &Sketch,
    steps: &Steps,
    (seen, known): (&mut [u32], &[bool]),
    i: usize,
    list: &mut [Entry],
    found: &mut Vec<(f32, u32)>,
) -> usize {
    let mark = i as u32;
    seen[i] = mark;
    list.iter().filter(|entry| entry.1 != NOBODY.1).for_each(|entry| seen[entry.1 as usize] = mark);
    found.clear();
    for &step in steps.of(i) {
        for &next in steps.of((step & !FRESH) as usize) {
            let c = (next & !FRESH) as usize;
            if (step | next) & FRESH != 0 && !known[c / GROUP] && seen[c] != mark {
                seen[c] = mark;
                found.push((0.0, c as u32));
            }
        }
    }
    let last = list.len() - 1;
    sketch.measure(i, found, list[last].0);
    let mut changed = 0;
    for &(rank, c) in found.iter() {
        if rank < list[last].0 {
            let at = list.partition_point(|entry| (entry.0, entry.1 & !FRESH) < (rank, c));
            list.copy_within(at..last, at + 1);
            list[at] = (rank, c | FRESH);
            changed += 1;
        }
    }
    changed
}

/// The best `k` of a list by (distance, index).
#[inline(always)]
fn chosen(points: &Points, rounding: &Rounding, sketch: &Sketch, own: usize, list: &[Entry], k: usize) -> Best {
    let i = sketch.order[own] as usize;
    let mut best = Best::new(k);
    // A few more than are wanted, in case the digits of single precision decide.
    for &(rank, row) in list.iter().take(k + 4).filter(|entry| entry.1 != NOBODY.1) {
        let row = (row & !FRESH) as usize;
        let other = sketch.order[row];
        let digits = !sketch.is_narrow()
            && rounding.metric != Metric::Manhattan
            && rank > LOST * (sketch.sizes[own] + sketch.sizes[row]);
        let distance = match digits {
            true => rounding.length(rank),
            false => rounding.metric.between(points, i, other as usize),
        };
        best.offer(distance, other);
    }
    best
}
