//! Groups of points that are close to each other, and which of them a point is compared with.
//!
//! The points in the order of a [`Sketch`] are cut into groups. A point is compared with the groups whose centers are
//! nearest to it. Points of one group choose among the same groups, so that a matrix product compares many at a time.

use crate::metric::Metric;
use crate::search::rank_block::{BLOCK, Tile};
use crate::search::sketch::Sketch;
use crate::search::truth::Truth;
use eigenfold_linalg::parallel;
use eigenfold_linalg::sort;
use eigenfold_linalg::widest;
use std::ops::Range;

/// Points in a group.
pub(crate) const GROUP: usize = 128;

/// Groups that the points of a group choose from, for each that a point is compared with.
const CHOICE: usize = 4;

/// Groups whose points choose together.
pub(crate) const STRIP: usize = 8;

/// The centers of all groups.
#[derive(Debug)]
pub(crate) struct Groups<'a> {
    sketch: &'a Sketch,
    centers: Vec<f32>,
    sizes: Vec<f32>,
}

impl<'a> Groups<'a> {
    /// The groups of a sketch.
    pub(crate) fn new(sketch: &'a Sketch) -> Groups<'a> {
        let (rows, width) = sketch.rows();
        let center = |rows: &[f32]| {
            let mut sums = vec![0.0f32; width];
            rows.chunks_exact(width).for_each(|row| sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x));
            let count = (rows.len() / width) as f32;
            sums.iter_mut().for_each(|sum| *sum /= count);
            sums
        };
        let centers = parallel::collect_of(rows.chunks(GROUP * width), |_, rows| center(rows)).concat();
        let sizes = centers.chunks_exact(width).map(|row| row.iter().map(|x| x * x).sum()).collect();
        Groups { sketch, centers, sizes }
    }

    /// The sketch that is cut into groups.
    pub(crate) fn sketch(&self) -> &'a Sketch {
        self.sketch
    }

    /// The number of groups.
    pub(crate) fn count(&self) -> usize {
        self.sizes.len()
    }

    /// The rows of a group.
    pub(crate) fn rows(&self, group: usize) -> Range<usize> {
        group * GROUP..self.sketch.order.len().min((group + 1) * GROUP)
    }

    fn width(&self) -> usize {
        self.sketch.rows().1
    }

    /// The sketch of some rows.
    fn values(&self, rows: Range<usize>) -> &[f32] {
        let (values, width) = self.sketch.rows();
        &values[rows.start * width..rows.end * width]
    }

    /// In which places, counted from 0 and ascending, the groups of true neighbors stand when all groups are sorted by the
    /// distance of their centers from a point.
    pub(crate) fn places(&self, truth: &Truth) -> Vec<usize> {
        let place = self.place();
        let of_point = |t: usize| {
            let own = place[truth.rows[t] as usize] as usize;
            let mut tile = Tile::default();
            tile.fill(Metric::Euclidean, self.width(), &self.centers, self.values(own..own + 1));
            let mut ranked = self.ranked(tile.column(0));
            ranked.sort_unstable_by(sort::by_key);
            let mut places = vec![0; ranked.len()];
            ranked.iter().enumerate().for_each(|(at, &(_, group))| places[group as usize] = at);
            let group = |j: u32| place[j as usize] as usize / GROUP;
            truth.neighbors[t].iter().map(|&(_, j)| places[group(j)]).collect::<Vec<usize>>()
        };
        let mut places = parallel::collect(truth.rows.len(), of_point).concat();
        places.sort_unstable();
        places
    }

    /// In which places, counted from 0 and ascending, true neighbors stand when all points are sorted by the sketch.
    pub(crate) fn places_in_sketch(&self, truth: &Truth) -> Vec<usize> {
        let place = self.place();
        let of_point = |t: usize| {
            let own = place[truth.rows[t] as usize] as usize;
            let (mut tile, mut ranks) = (Tile::default(), Vec::with_capacity(place.len()));
            for first in (0..place.len()).step_by(BLOCK) {
                let across = first..place.len().min(first + BLOCK);
                tile.fill(self.sketch.metric(), self.width(), self.values(across.clone()), self.values(own..own + 1));
                let with_sizes = tile.column(0).iter().zip(&self.sketch.sizes[across]);
                ranks.extend(with_sizes.map(|(value, size)| value + size));
            }
            let nearer = |rank: f32| ranks.iter().filter(|&&other| other < rank).count();
            let rank = |j: u32| ranks[place[j as usize] as usize];
            truth.neighbors[t].iter().map(|&(_, j)| nearer(rank(j))).collect::<Vec<usize>>()
        };
        let mut places = parallel::collect(truth.rows.len(), of_point).concat();
        places.sort_unstable();
        places
    }

    /// The row of every point.
    fn place(&self) -> Vec<u32> {
        let mut place = vec![0u32; self.sketch.order.len()];
        self.sketch.order.iter().enumerate().for_each(|(at, &i)| place[i as usize] = at as u32);
        place
    }

    /// All groups with the squared distances of their centers, less what is the same for all.
    fn ranked(&self, products: &[f32]) -> Vec<(f32, u32)> {
        products.iter().zip(&self.sizes).zip(0..).map(|((value, size), group)| (value + size, group)).collect()
    }

    /// The `reach` groups, of which there are as many at least, nearest to every point of a strip, row after row.
    pub(crate) fn nearest(&self, strip: usize, reach: usize) -> Vec<u32> {
        let width = self.width();
        let choice = (CHOICE * reach).max(32).min(self.count());
        let groups = strip * STRIP..self.count().min((strip + 1) * STRIP);
        let mut tile = Tile::default();
        tile.fill(Metric::Euclidean, width, &self.centers, &self.centers[groups.start * width..groups.end * width]);
        let mut nearest = Vec::with_capacity(groups.len() * GROUP * reach);
        for (at, group) in groups.enumerate() {
            let mut near = self.ranked(tile.column(at));
            smallest(&mut near, choice);
            self.of_rows(self.rows(group), &near, reach, &mut nearest);
        }
        nearest
    }

    /// The `reach` groups nearest to each of some rows, of those to choose from.
    fn of_rows(&self, rows: Range<usize>, choice: &[(f32, u32)], reach: usize, nearest: &mut Vec<u32>) {
        let width = self.width();
        let center = |group: u32| &self.centers[group as usize * width..][..width];
        let centers: Vec<f32> = choice.iter().flat_map(|&(_, group)| center(group)).copied().collect();
        let mut tile = Tile::default();
        tile.fill(Metric::Euclidean, width, &centers, self.values(rows.clone()));
        for at in 0..rows.len() {
            let rank = |(value, &(_, group)): (&f32, &(f32, u32))| (value + self.sizes[group as usize], group);
            let mut ranked: Vec<(f32, u32)> = tile.column(at).iter().zip(choice).map(rank).collect();
            smallest(&mut ranked, reach);
            nearest.extend(ranked.iter().map(|&(_, group)| group));
        }
    }

    /// The `keep` nearest rows of each row of a group, by the sketch, among the rows of the groups that each is compared
    /// with; `nearest` has as many of these for every row.
    pub(crate) fn compare(&self, group: usize, nearest: &[u32], keep: usize) -> Vec<Vec<(f32, u32)>> {
        let (rows, width) = (self.rows(group), self.width());
        // Which rows are compared with which group.
        let reach = nearest.len() / rows.len();
        let of_row = |at: usize| &nearest[at * reach..][..reach];
        let mut pairs: Vec<(u32, u32)> =
            (0..rows.len()).flat_map(|at| of_row(at).iter().map(move |&other| (other, at as u32))).collect();
        pairs.sort_unstable();
        let room = keep + keep / 2 + 16;
        let mut lists: Vec<Vec<(f32, u32)>> = vec![Vec::with_capacity(room); rows.len()];
        let mut limits = vec![f32::INFINITY; rows.len()];
        let (mut tile, mut gathered, mut gates, mut hits) = (Tile::default(), Vec::new(), Vec::new(), Vec::new());
        // The own group first: it makes the limits.
        let (own, others): (Vec<_>, Vec<_>) =
            pairs.chunk_by(|a, b| a.0 == b.0).partition(|pairs| pairs[0].0 as usize == group);
        for pairs in own.into_iter().chain(others) {
            let across = self.rows(pairs[0].0 as usize);
            gathered.clear();
            pairs.iter().for_each(|&(_, at)| {
                let row = rows.start + at as usize;
                gathered.extend_from_slice(self.values(row..row + 1));
            });
            tile.fill(self.sketch.metric(), width, &gathered, self.values(across.clone()));
            gates.clear();
            gates.extend(pairs.iter().map(|&(_, at)| limits[at as usize]));
            for (column, j) in across.enumerate() {
                widest(
                    #[inline(always)]
                    || tile.down_within(column, self.sketch.sizes[j], &gates, &mut hits),
                );
                for &(i, rank) in &hits {
                    let at = pairs[i as usize].1 as usize;
                    let list = &mut lists[at];
                    if rows.start + at == j {
                        continue;
                    }
                    list.push((rank, j as u32));
                    if list.len() >= room {
                        smallest(list, keep);
                        gates[i as usize] = largest(list);
                        limits[at] = gates[i as usize];
                    }
                }
            }
            for &(_, at) in pairs {
                let list = &mut lists[at as usize];
                if list.len() >= keep + keep / 4 {
                    smallest(list, keep);
                    limits[at as usize] = largest(list);
                }
            }
        }
        lists
    }
}

/// Leaves the `keep` smallest.
fn smallest(list: &mut Vec<(f32, u32)>, keep: usize) {
    if list.len() > keep {
        list.select_nth_unstable_by(keep - 1, sort::by_key);
        list.truncate(keep);
    }
}

/// The largest rank of a list.
fn largest(list: &[(f32, u32)]) -> f32 {
    list.iter().fold(f32::NEG_INFINITY, |most, item| most.max(item.0))
}
