//! The geodesics from all landmarks to one point after the other, without a table of them.
//!
//! On an eliminated graph the distances of a point follow from those of its later neighbors, which are its ancestors in the
//! elimination tree:
//!
//! ```text
//! d[v] = min over u ∈ up(v) of d[u] + arc(v, u)        v neither a landmark nor an ancestor of one
//! ```
//!
//! So the distances of the landmarks and of their ancestors, the top, are found first and kept. The trees below the top are
//! walked from their roots down, a row of all landmarks at a time, and of those only the rows on the way to the root are held.
//!
//! D. Delling, A. V. Goldberg, R. F. Werneck. Faster batched shortest paths in road networks. ATMOS 2011.

use crate::Paths;
use crate::paths::elimination::Elimination;
use crate::paths::sweep::LANES;
use crate::paths::{Route, in_blocks};
use eigenfold_linalg::error::Result;
use eigenfold_linalg::parallel;
use eigenfold_linalg::progress::Observer;
use pulp::{Simd, WithSimd};
use std::sync::Arc;

/// No position.
const NONE: u32 = u32::MAX;
/// Points that are walked together.
const TOGETHER: u32 = 2048;

/// A graph, eliminated, with the geodesics between all landmarks and from them to their ancestors in the elimination tree.
#[derive(Clone, Debug)]
pub struct SweptGeodesics {
    elimination: Arc<Elimination>,
    landmarks: usize,
    /// The row of each position in the top.
    row: Vec<u32>,
    /// One row a position of the top, one column a landmark.
    top: Vec<f64>,
    /// One row and one column a landmark.
    between: Vec<f64>,
}

impl SweptGeodesics {
    /// The bytes that are kept beside the graph if the top has so many positions.
    fn memory(landmarks: usize, top: usize) -> u64 {
        8 * (landmarks as u64) * (landmarks as u64 + top as u64)
    }

    /// The bytes that are kept beside the graph.
    pub fn bytes(&self) -> u64 {
        (size_of_val(self.top.as_slice()) + size_of_val(self.between.as_slice())) as u64
    }

    /// Those between the landmarks and of the top; nothing if the graph is not eliminated, or they need more memory.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`](eigenfold_linalg::Error::Stopped) if the observer stops the work.
    pub fn new(
        paths: &Paths,
        landmarks: &[u32],
        memory: u64,
        observer: &dyn Observer,
    ) -> Result<Option<SweptGeodesics>> {
        let Route::Elimination(elimination) = &paths.route else { return Ok(None) };
        let (n, m) = (elimination.len(), landmarks.len());
        let seeds: Vec<u32> = landmarks.iter().map(|&landmark| elimination.position[landmark as usize]).collect();
        let members = elimination.ancestors(0, &seeds);
        if SweptGeodesics::memory(m, members.len()) > memory {
            return Ok(None);
        }
        let mut row = vec![NONE; n];
        members.iter().enumerate().for_each(|(at, &v)| row[v as usize] = at as u32);
        let own = elimination.among(&members, &row);
        let mut top = vec![f64::INFINITY; members.len() * m];
        let mut blocks: Vec<(&[u32], Vec<f64>)> = seeds.chunks(LANES).map(|seeds| (seeds, Vec::new())).collect();
        in_blocks(blocks.iter_mut(), observer, |(seeds, d)| {
            d.resize(members.len() * LANES, f64::INFINITY);
            let starts: Vec<u32> = seeds.iter().map(|&seed| row[seed as usize]).collect();
            starts.iter().enumerate().for_each(|(lane, &at)| d[at as usize * LANES + lane] = 0.0);
            own.sweep(&own.arcs, 0, &starts, d);
        })?;
        for (block, (seeds, d)) in blocks.iter().enumerate() {
            for (row, values) in top.chunks_exact_mut(m).zip(d.chunks_exact(LANES)) {
                row[block * LANES..][..seeds.len()].copy_from_slice(&values[..seeds.len()]);
            }
        }
        let of_landmark = |&seed: &u32| &top[row[seed as usize] as usize * m..][..m];
        let between = seeds.iter().flat_map(of_landmark).copied().collect();
        Ok(Some(SweptGeodesics { elimination: elimination.clone(), landmarks: m, row, top, between }))
    }

    /// The number of landmarks.
    pub fn landmarks(&self) -> usize {
        self.landmarks
    }

    /// The geodesic between two landmarks, by their numbers.
    pub fn between(&self, one: usize, other: usize) -> f64 {
        self.between[one * self.landmarks + other]
    }

    /// What is made of every point and its geodesics from all landmarks, `width` numbers a point, in the order of the points.
    pub fn of_points(&self, width: usize, of: impl Fn(usize, &[f64], &mut [f64]) + Sync) -> Vec<f64> {
        let tree = &*self.elimination;
        let (n, m) = (tree.len(), self.landmarks);
        let parent = |v: usize| tree.heads[tree.starts[v]..tree.starts[v + 1]].first().copied();
        let below = |v: usize| self.row[v] == NONE;
        // How far each point is below the top, and the trees below it.
        let (mut depth, mut size) = (vec![0u32; n], vec![1u32; n]);
        let (mut child, mut sibling, mut roots) = (vec![NONE; n], vec![NONE; n], Vec::new());
        for v in (0..n).filter(|&v| below(v)) {
            match parent(v).filter(|&u| below(u as usize)) {
                Some(u) => {
                    size[u as usize] += size[v];
                    sibling[v] = std::mem::replace(&mut child[u as usize], v as u32);
                }
                None => roots.push(v as u32),
            }
        }
        for v in (0..n).rev().filter(|&v| below(v)) {
            if let Some(u) = parent(v).filter(|&u| below(u as usize)) {
                depth[v] = depth[u as usize] + 1;
            }
        }
        let mut groups: Vec<&[u32]> = Vec::new();
        let mut rest = roots.as_slice();
        while !rest.is_empty() {
            let mut points = 0;
            let reached = |&root: &u32| {
                points += size[root as usize];
                points >= TOGETHER
            };
            let (group, others) = rest.split_at(rest.iter().position(reached).map_or(rest.len(), |last| last + 1));
            groups.push(group);
            rest = others;
        }
        let walked = parallel::collect_of(groups, |_, roots| {
            let (mut points, mut values) = (Vec::new(), Vec::new());
            let (mut held, mut stack) = (Vec::<f64>::new(), roots.to_vec());
            while let Some(v) = stack.pop() {
                let v = v as usize;
                let here = depth[v] as usize * m;
                if held.len() < here + m {
                    held.resize(here + m, 0.0);
                }
                let (ways, to) = held.split_at_mut(here);
                let way = |u: u32| match self.row[u as usize] {
                    NONE => &ways[depth[u as usize] as usize * m..][..m],
                    at => &self.top[at as usize * m..][..m],
                };
                let to = &mut to[..m];
                to.fill(f64::INFINITY);
                let range = tree.starts[v]..tree.starts[v + 1];
                let (heads, arcs) = (&tree.heads[range.clone()], &tree.arcs[range]);
                pulp::Arch::new().dispatch(Descend { to, heads, arcs, way });
                let point = tree.order[v];
                points.push(point);
                let made = values.len();
                values.resize(made + width, 0.0);
                of(point as usize, to, &mut values[made..]);
                let mut next = child[v];
                while next != NONE {
                    stack.push(next);
                    next = sibling[next as usize];
                }
            }
            (points, values)
        });
        let mut made = vec![0.0; n * width];
        for (points, values) in walked {
            for (&point, values) in points.iter().zip(values.chunks_exact(width)) {
                made[point as usize * width..][..width].copy_from_slice(values);
            }
        }
        for v in (0..n).filter(|&v| !below(v)) {
            let (point, row) = (tree.order[v] as usize, self.row[v] as usize);
            of(point, &self.top[row * m..][..m], &mut made[point * width..][..width]);
        }
        made
    }
}

/// `to = min(to, d[u] + arc(v, u))` over the later neighbors u of one point, in every lane.
struct Descend<'a, F> {
    to: &'a mut [f64],
    heads: &'a [u32],
    arcs: &'a [f64],
    way: F,
}

impl<'a, F: Fn(u32) -> &'a [f64]> WithSimd for Descend<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Descend { to, heads, arcs, way } = self;
        let (heads, last_heads) = heads.as_chunks::<4>();
        let (arcs, last_arcs) = arcs.as_chunks::<4>();
        // Loops, for a closure would be compiled without the vector instructions.
        for (&[a, b, c, d], arcs) in heads.iter().zip(arcs) {
            relax(simd, to, [way(a), way(b), way(c), way(d)], *arcs);
        }
        for (&head, &arc) in last_heads.iter().zip(last_arcs) {
            relax(simd, to, [way(head)], [arc]);
        }
    }
}

/// Some later neighbors at a time, to go over `to` less often.
#[inline(always)]
fn relax<S: Simd, const K: usize>(simd: S, to: &mut [f64], from: [&[f64]; K], arcs: [f64; K]) {
    let lanes = to.len();
    let (to, to_rest) = S::as_mut_simd_f64s(to);
    let (mut wide, mut rest, mut wide_arcs) = ([&[][..]; K], [&[][..]; K], [simd.splat_f64s(0.0); K]);
    for k in 0..K {
        let (whole, part) = S::as_simd_f64s(&from[k][..lanes]);
        (wide[k], rest[k]) = (&whole[..to.len()], &part[..to_rest.len()]);
        wide_arcs[k] = simd.splat_f64s(arcs[k]);
    }
    for at in 0..to.len() {
        let mut least = to[at];
        for k in 0..K {
            least = simd.min_f64s(least, simd.add_f64s(wide[k][at], wide_arcs[k]));
        }
        to[at] = least;
    }
    for at in 0..to_rest.len() {
        for k in 0..K {
            to_rest[at] = to_rest[at].min(rest[k][at] + arcs[k]);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::Graph;
    use crate::paths::landmarks::LandmarkGeodesics;
    use eigenfold_linalg::progress::Silent;

    /// A grid of 40 × 30 points with edges of several lengths, and a path of ten points that no edge joins to it.
    fn graph() -> crate::Undirected {
        let (width, height) = (40usize, 30usize);
        let list = |i: usize| -> Vec<(u32, f64)> {
            if i >= width * height {
                return (i + 1 < width * height + 10).then(|| (i as u32 + 1, 0.25)).into_iter().collect();
            }
            let right = (i % width + 1 < width).then(|| (i as u32 + 1, 1.0 + ((i * 7) % 5) as f64 / 3.0));
            let below = (i / width + 1 < height).then(|| ((i + width) as u32, 0.5 + ((i * 11) % 7) as f64 / 5.0));
            right.into_iter().chain(below).collect()
        };
        Graph::from_lists((0..width * height + 10).map(list).collect()).unwrap().union()
    }

    #[test]
    fn the_geodesics_of_each_point_are_those_of_the_table() {
        let graph = graph();
        let n = graph.len();
        for landmarks in [vec![17u32], (0..n as u32).step_by(13).collect::<Vec<u32>>(), (0..n as u32).collect()] {
            let (paths, m) = (Paths::new(&graph, n), landmarks.len());
            let swept = SweptGeodesics::new(&paths, &landmarks, u64::MAX, &Silent).unwrap().unwrap();
            assert_eq!(swept.landmarks(), m);
            let all = swept.of_points(m, |_, lengths, out| out.copy_from_slice(lengths));
            let sources: Vec<usize> = landmarks.iter().map(|&landmark| landmark as usize).collect();
            let rows = paths.from_sources(&sources, &Silent).unwrap();
            for (at, row) in rows.chunks_exact(n).enumerate() {
                for (point, &length) in row.iter().enumerate() {
                    let found = all[point * m + at];
                    assert!(found == length || (found - length).abs() < 1e-12 * length, "{found} {length}");
                }
            }
            let table = LandmarkGeodesics::new(&paths, &landmarks, u64::MAX, &Silent).unwrap();
            for (one, other) in (0..m).flat_map(|one| (0..m).map(move |other| (one, other))) {
                let (a, b) = (swept.between(one, other), table.between(one, other));
                assert!(a == b || (a - b).abs() < 1e-12 * b, "{a} {b}");
            }
            let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            assert_eq!(alone.install(|| swept.of_points(m, |_, lengths, out| out.copy_from_slice(lengths))), all);
        }
    }

    #[test]
    fn a_graph_that_is_not_eliminated_and_a_top_that_does_not_fit_have_none() {
        let graph = graph();
        assert!(SweptGeodesics::new(&Paths::new(&graph, 1), &[3], u64::MAX, &Silent).unwrap().is_none());
        assert!(SweptGeodesics::new(&Paths::new(&graph, graph.len()), &[3], 100, &Silent).unwrap().is_none());
    }
}
