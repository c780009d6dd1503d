//! A kd-tree: points in nested boxes, for few features.
//!
//! Leaves of eight points, all full but the last, hold their coordinates feature by feature, so that one instruction
//! advances several distances. Every node keeps the tight box of its points. The distance of a query to a box is
//! summed in the same order as the distance to a point, and rounding is monotone: the computed bound of a box never
//! exceeds the computed rank of a point in it, so pruning needs no tolerance.
//!
//! J. H. Friedman, J. L. Bentley, R. A. Finkel. An algorithm for finding best matches in logarithmic expected time.
//! ACM Transactions on Mathematical Software 3(3), 1977.

use crate::metric::{Metric, power};
use crate::points::Points;
use crate::search::best::Best;
use crate::search::filter::{Filter, Others};
use crate::search::watch::Watch;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use eigenfold_linalg::sort;
use eigenfold_linalg::widest;

/// Points in a leaf.
const LEAF: usize = 8;

/// Below this many leaves a subtree is built by one thread.
const ALONE: usize = 256;

/// Subtrees left for later in a walk: (bound, first node, first leaf, number of leaves).
type Pending = Vec<(f64, u32, u32, u32)>;

/// The tree; nodes in preorder, so that a subtree of m leaves is 2m − 1 consecutive nodes, its left child first.
#[derive(Debug)]
pub(crate) struct KdTree {
    metric: Metric,
    dims: usize,
    /// The points' indices, leaf after leaf.
    order: Vec<u32>,
    /// Coordinates: leaf, feature, place in the leaf.
    leaves: Vec<f64>,
    /// The box of each node: lowest and highest value of each feature.
    boxes: Vec<[f64; 2]>,
    /// The smallest index in each node.
    first: Vec<u32>,
}

/// The goal of a walk through the tree.
trait Goal {
    /// Larger ranks are of no use.
    fn reach(&self) -> f64;
    /// Whether nothing in the node can be of use, whose smallest index is given.
    fn rules_out(&self, node: usize, first: u32) -> bool;
    /// A point within reach.
    fn offer(&mut self, rank: f64, index: u32);
    /// A leaf is about to be scanned.
    #[inline(always)]
    fn scanned(&mut self) {}
}

impl KdTree {
    pub(crate) fn new(points: &Points, metric: Metric) -> KdTree {
        let (n, dims) = (points.rows(), metric.ranked_cols(points.cols()));
        let ranked = metric.ranked_rows(points);
        let leaf_count = n.div_ceil(LEAF);
        let mut order: Vec<u32> = (0..n as u32).collect();
        let mut boxes = vec![[f64::INFINITY, f64::NEG_INFINITY]; (2 * leaf_count - 1) * dims];
        let mut first = vec![0; 2 * leaf_count - 1];
        build(&ranked, dims, &mut order, &mut boxes, &mut first);
        // Places beyond the last point keep a NaN, which is within no reach.
        let mut leaves = vec![f64::NAN; leaf_count * LEAF * dims];
        parallel::chunks_mut(&mut leaves, LEAF * dims, |at, leaf| {
            for (place, &i) in order[at * LEAF..].iter().take(LEAF).enumerate() {
                for c in 0..dims {
                    leaf[c * LEAF + place] = ranked[i as usize * dims + c];
                }
            }
        });
        KdTree { metric, dims, order, leaves, boxes, first }
    }

    /// The points' indices in the order of the leaves.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// For each node the label that all its points share, or `u32::MAX` if they have several.
    pub(crate) fn uniform(&self, labels: &[u32]) -> Vec<u32> {
        let mut uniform = vec![u32::MAX; self.first.len()];
        let mut pending = vec![(0, 0, self.order.len().div_ceil(LEAF))];
        let mut inner = Vec::new();
        while let Some((node, leaf, count)) = pending.pop() {
            if count == 1 {
                let members = &self.order[leaf * LEAF..self.order.len().min((leaf + 1) * LEAF)];
                let label = labels[members[0] as usize];
                if members.iter().all(|&i| labels[i as usize] == label) {
                    uniform[node] = label;
                }
            } else {
                let left = count.div_ceil(2);
                inner.push((node, node + 2 * left));
                pending.push((node + 1, leaf, left));
                pending.push((node + 2 * left, leaf + left, count - left));
            }
        }
        // Parents were met before their children.
        for &(node, right) in inner.iter().rev() {
            if uniform[node + 1] == uniform[right] {
                uniform[node] = uniform[right];
            }
        }
        uniform
    }

    /// Finds the `k` nearest of each of the given rows of `queries`, one list after the other.
    pub(crate) fn nearest<F: Filter>(
        &self,
        points: &Points,
        (queries, rows): (&Points, &[u32]),
        k: usize,
        filter: &F,
        write: &mut impl FnMut(&Best),
    ) {
        let mut goal = Nearest {
            metric: self.metric,
            points,
            filter,
            query: 0,
            row: Vec::new(),
            other: Vec::new(),
            reach: 0.0,
            best: Best::new(k),
            scanned: 0,
        };
        let (mut ranked, mut pending) = (Vec::with_capacity(self.dims), Pending::new());
        widest(
            #[inline(always)]
            || {
                for &query in rows {
                    goal.start(query, queries);
                    self.metric.ranked(&goal.row, &mut ranked);
                    self.walk(&ranked, &mut goal, &mut pending);
                    if let Some((distance, _)) = goal.best.worst() {
                        filter.record(query, distance);
                    }
                    write(&goal.best);
                }
            },
        );
    }

    /// How many leaves are scanned to find the `k` nearest of each of the given points.
    pub(crate) fn leaves_scanned(&self, points: &Points, rows: &[u32], k: usize) -> usize {
        let (metric, filter) = (self.metric, &Others);
        let (mut ranked, mut pending) = (Vec::with_capacity(self.dims), Pending::new());
        let (row, other, best) = (Vec::new(), Vec::new(), Best::new(k));
        let mut goal = Nearest { metric, points, filter, query: 0, row, other, reach: 0.0, best, scanned: 0 };
        for &query in rows {
            goal.start(query, points);
            metric.ranked(&goal.row, &mut ranked);
            self.walk(&ranked, &mut goal, &mut pending);
        }
        goal.scanned
    }

    /// All other points within `radius` of each point, sorted by (distance, index).
    pub(crate) fn within(&self, points: &Points, radius: f64, watch: &Watch) -> Result<Vec<Vec<(u32, f64)>>> {
        let reach = self.metric.rank_limit(radius, self.dims);
        let all: Vec<u32> = (0..points.rows() as u32).collect();
        let parts: Vec<Vec<Vec<(u32, f64)>>> = parallel::try_collect_of(all.chunks(256), |_, rows| {
            watch.step(rows.len())?;
            let (mut ranked, mut pending) = (Vec::with_capacity(self.dims), Pending::new());
            let (mut own, mut other) = (Vec::new(), Vec::new());
            let list = |&query: &u32| {
                let row = points.read(query as usize, &mut own);
                let inside = Vec::new();
                let mut goal =
                    Ball { metric: self.metric, points, query, row, other: &mut other, radius, reach, inside };
                self.metric.ranked(row, &mut ranked);
                self.walk(&ranked, &mut goal, &mut pending);
                goal.inside.sort_unstable_by(sort::by_distance);
                goal.inside
            };
            Ok(rows.iter().map(list).collect())
        })?;
        Ok(parts.into_iter().flatten().collect())
    }

    /// Visits the leaves that may be of use, the nearer child of a node first.
    #[inline(always)]
    fn walk<G: Goal>(&self, query: &[f64], goal: &mut G, pending: &mut Pending) {
        match self.metric {
            Metric::Manhattan => self.walk_by(query, goal, pending, f64::abs, |sum, term| sum + term),
            Metric::Chebyshev => self.walk_by(query, goal, pending, f64::abs, f64::max),
            Metric::Minkowski(p) => {
                self.walk_by(query, goal, pending, |difference| power(difference.abs(), p), |sum, term| sum + term);
            }
            _ => self.walk_by(query, goal, pending, |difference| difference * difference, |sum, term| sum + term),
        }
    }

    #[inline(always)]
    fn walk_by<G: Goal>(
        &self,
        query: &[f64],
        goal: &mut G,
        pending: &mut Pending,
        term: impl Fn(f64) -> f64 + Copy,
        join: impl Fn(f64, f64) -> f64 + Copy,
    ) {
        pending.clear();
        pending.push((0.0, 0, 0, self.order.len().div_ceil(LEAF) as u32));
        while let Some((bound, node, leaf, count)) = pending.pop() {
            let (mut node, mut leaf, mut count) = (node as usize, leaf as usize, count as usize);
            if bound > goal.reach() || goal.rules_out(node, self.first[node]) {
                continue;
            }
            while count > 1 {
                let half = count.div_ceil(2);
                let left = (self.bound(node + 1, query, term, join), node + 1, leaf, half);
                let right =
                    (self.bound(node + 2 * half, query, term, join), node + 2 * half, leaf + half, count - half);
                let left_first = left.0 < right.0 || (left.0 == right.0 && self.first[left.1] < self.first[right.1]);
                let (near, far) = if left_first { (left, right) } else { (right, left) };
                if far.0 <= goal.reach() {
                    pending.push((far.0, far.1 as u32, far.2 as u32, far.3 as u32));
                }
                (_, node, leaf, count) = near;
                if near.0 > goal.reach() || goal.rules_out(node, self.first[node]) {
                    break;
                }
            }
            if count == 1 {
                goal.scanned();
                self.scan(leaf, query, goal, term, join);
            }
        }
    }

    /// A rank that no point of the node is below.
    #[inline(always)]
    fn bound(&self, node: usize, query: &[f64], term: impl Fn(f64) -> f64, join: impl Fn(f64, f64) -> f64) -> f64 {
        let mut bound = 0.0;
        for (&x, &[low, high]) in query.iter().zip(&self.boxes[node * self.dims..(node + 1) * self.dims]) {
            let below = low - x;
            let above = x - high;
            let outside = if below > above { below } else { above };
            bound = join(bound, term(if outside > 0.0 { outside } else { 0.0 }));
        }
        bound
    }

    #[inline(always)]
    fn scan<G: Goal>(
        &self,
        leaf: usize,
        query: &[f64],
        goal: &mut G,
        term: impl Fn(f64) -> f64,
        join: impl Fn(f64, f64) -> f64,
    ) {
        let (columns, _) = self.leaves[leaf * LEAF * self.dims..(leaf + 1) * LEAF * self.dims].as_chunks::<LEAF>();
        let mut ranks = [0.0; LEAF];
        for (&x, column) in query.iter().zip(columns) {
            for place in 0..LEAF {
                ranks[place] = join(ranks[place], term(x - column[place]));
            }
        }
        let members = &self.order[leaf * LEAF..self.order.len().min((leaf + 1) * LEAF)];
        for (&rank, &index) in ranks.iter().zip(members) {
            if rank <= goal.reach() {
                goal.offer(rank, index);
            }
        }
    }
}

/// Fills the nodes of a subtree: its box, and two halves by the widest feature, ties by index.
fn build(rows: &[f64], dims: usize, order: &mut [u32], boxes: &mut [[f64; 2]], first: &mut [u32]) {
    let (own, children) = boxes.split_at_mut(dims);
    first[0] = u32::MAX;
    for &i in order.iter() {
        first[0] = first[0].min(i);
        for (range, &x) in own.iter_mut().zip(&rows[i as usize * dims..(i as usize + 1) * dims]) {
            *range = [if x < range[0] { x } else { range[0] }, if x > range[1] { x } else { range[1] }];
        }
    }
    let count = order.len().div_ceil(LEAF);
    if count == 1 {
        return;
    }
    let width = |c: usize| own[c][1] - own[c][0];
    let widest = (1..dims).fold(0, |best, c| if width(c) > width(best) { c } else { best });
    let key = |i: u32| rows[i as usize * dims + widest];
    let half = count.div_ceil(2);
    order.select_nth_unstable_by(half * LEAF - 1, |&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
    let (left_order, right_order) = order.split_at_mut(half * LEAF);
    let (left_boxes, right_boxes) = children.split_at_mut((2 * half - 1) * dims);
    let (left_first, right_first) = first[1..].split_at_mut(2 * half - 1);
    let mut left = || build(rows, dims, left_order, left_boxes, left_first);
    let mut right = || build(rows, dims, right_order, right_boxes, right_first);
    if count < ALONE {
        left();
        right();
    } else {
        rayon::join(left, right);
    }
}

/// The k nearest points that a filter allows.
struct Nearest<'a, F> {
    metric: Metric,
    points: &'a Points,
    filter: &'a F,
    query: u32,
    /// The query, and a point that is compared with it.
    row: Vec<f64>,
    other: Vec<f64>,
    reach: f64,
    best: Best,
    /// Leaves scanned since the beginning.
    scanned: usize,
}

impl<F: Filter> Nearest<'_, F> {
    #[inline(always)]
    fn start(&mut self, query: u32, queries: &Points) {
        self.query = query;
        self.row.clear();
        self.row.extend_from_slice(queries.read(query as usize, &mut self.other));
        self.reach = self.metric.rank_limit(self.filter.limit(query), self.row.len());
        self.best.clear();
    }
}

impl<F: Filter> Goal for Nearest<'_, F> {
    #[inline(always)]
    fn scanned(&mut self) {
        self.scanned += 1;
    }

    #[inline(always)]
    fn reach(&self) -> f64 {
        self.reach
    }

    #[inline(always)]
    fn rules_out(&self, node: usize, first: u32) -> bool {
        self.best.complete(first) || self.filter.rules_out(self.query, node)
    }

    #[inline(always)]
    fn offer(&mut self, rank: f64, index: u32) {
        if !self.filter.allows(self.query, index) {
            return;
        }
        let distance = self.metric.of_rank(rank, &self.row, self.points.read(index as usize, &mut self.other));
        if self.best.offer(distance, index)
            && let Some((worst, _)) = self.best.worst()
        {
            self.reach = self.reach.min(self.metric.rank_limit(worst, self.row.len()));
        }
    }
}

/// All points of a ball around the query but the query itself.
struct Ball<'a> {
    metric: Metric,
    points: &'a Points,
    query: u32,
    row: &'a [f64],
    other: &'a mut Vec<f64>,
    radius: f64,
    reach: f64,
    inside: Vec<(u32, f64)>,
}

impl Goal for Ball<'_> {
    #[inline(always)]
    fn reach(&self) -> f64 {
        self.reach
    }

    #[inline(always)]
    fn rules_out(&self, _node: usize, _first: u32) -> bool {
        false
    }

    #[inline(always)]
    fn offer(&mut self, rank: f64, index: u32) {
        let distance = self.metric.of_rank(rank, self.row, self.points.read(index as usize, self.other));
        if distance <= self.radius && index != self.query {
            self.inside.push((index, distance));
        }
    }
}
