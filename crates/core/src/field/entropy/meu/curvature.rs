//! The curvature of −log det over the multipliers, approximated locally: dense blocks over groups of edges, from the
//! inverse on the factor's pattern.
//!
//! ```text
//! H[e,f] = (b[e]ᵀ K b[f])² / (s[e] s[f])        in the variables w = λ s
//! ```
//!
//! falls off fast with the distance of e from f, so that its diagonal blocks over small blocks of the graph hold nearly
//! all of it. A block is a subtree T of the elimination tree: the edges of T lead within T or to its ancestors B, all
//! entries of K over B are on the pattern, and the rest of what the block needs is
//!
//! ```text
//! X = A[T,T]⁻¹ A[T,B]        K[T,B] = −X K[B,B]        K[T,T] = A[T,T]⁻¹ + X K[B,B] Xᵀ
//! ```
//!
//! A point above all such subtrees is a block of its own; its later neighbors are joined by fill, so that its block
//! lies entirely on the pattern.

use crate::field::entropy::meu::resistances::Edges;
use eigenfold_linalg::dense::cholesky::Positive;
use eigenfold_linalg::dense::small_product;
use eigenfold_linalg::error::Result;
use eigenfold_linalg::optimize::Preconditioner;
use eigenfold_linalg::parallel;
use eigenfold_linalg::sparse::cholesky::Analysis;
use eigenfold_linalg::sparse::selected::{Selected, Slot};
use faer::{Mat, Par};

/// Blocks with more entries per edge than this are not worth their time, ...
const DENSEST: usize = 500;
/// ... unless they have at most this many in total.
const FEW: usize = 10_000_000;
/// The end of an edge that is the grounded point.
const GROUND: usize = usize::MAX;

/// The blocks of a graph.
pub(crate) struct Blocks(Vec<Component>);

struct Component {
    /// How many of the points belong to the subtree; the others follow.
    inner: usize,
    points: usize,
    /// Where the inverse keeps the entries of those others, the lower triangle by rows.
    places: Vec<Slot>,
    /// Every edge that starts here, with its ends among the points.
    edges: Vec<(u32, usize, usize)>,
}

impl Blocks {
    /// The blocks of at most `most` points; nothing if the blocks would be too large to be worth it.
    pub(crate) fn new(
        edges: &Edges,
        analysis: &Analysis,
        most: usize,
        place: impl Fn(usize, usize) -> Option<Slot>,
    ) -> Result<Option<Blocks>> {
        let (order, later) = analysis.pattern()?;
        let rows = order.len();
        let parent = |a: usize| later[a].first().map(|&b| b as usize);
        let mut size = vec![1; rows];
        for a in 0..rows {
            if let Some(above) = parent(a) {
                size[above] += size[a];
            }
        }
        let (mut block_of, mut members) = (vec![0; rows], Vec::<Vec<usize>>::new());
        for a in (0..rows).rev() {
            match parent(a).filter(|&above| size[above] <= most) {
                Some(above) => block_of[a] = block_of[above],
                None => {
                    block_of[a] = members.len();
                    members.push(Vec::new());
                }
            }
            members[block_of[a]].push(a);
        }
        let mut turn = vec![0; rows];
        order.iter().enumerate().for_each(|(a, &i)| turn[i as usize] = a);
        let mut of_block = vec![Vec::new(); members.len()];
        for (e, &(i, j)) in edges.ends.iter().enumerate() {
            let first = if (j as usize) < rows { turn[i as usize].min(turn[j as usize]) } else { turn[i as usize] };
            of_block[block_of[first]].push(e);
        }
        let entries: usize = of_block.iter().map(|list| list.len() * list.len()).sum();
        if entries > FEW.max(DENSEST * edges.ends.len()) {
            return Ok(None);
        }
        let mut local = vec![GROUND; rows];
        let mut blocks = Vec::with_capacity(members.len());
        for (members, list) in members.iter().zip(&of_block) {
            let whole = size[members[0]] <= most;
            let own = members.iter().filter(|_| whole).map(|&a| order[a] as usize);
            let mut points: Vec<usize> = own.collect();
            points.iter().enumerate().for_each(|(at, &i)| local[i] = at);
            let inner = points.len();
            let mut end = |i: u32| {
                let i = i as usize;
                if i < rows && local[i] == GROUND {
                    local[i] = points.len();
                    points.push(i);
                }
                if i < rows { local[i] } else { GROUND }
            };
            let ends = |&e: &usize| (e as u32, end(edges.ends[e].0), end(edges.ends[e].1));
            let ended = list.iter().map(ends).collect();
            points.iter().for_each(|&i| local[i] = GROUND);
            let known = &points[inner..];
            let pairs = (0..known.len()).flat_map(|c| (0..=c).map(move |d| (known[c], known[d])));
            let Some(places) = pairs.map(|(i, j)| place(i, j)).collect() else { return Ok(None) };
            blocks.push(Component { inner, points: points.len(), places, edges: ended });
        }
        Ok(Some(Blocks(blocks)))
    }

    /// The blocks over the wanted edges where the multipliers are w/s, with a multiple of the identity added.
    pub(crate) fn curvature(
        &self,
        (edges, gamma): (&Edges, f64),
        inverse: &Selected,
        w: &[f64],
        wanted: &[bool],
        damping: f64,
    ) -> EdgeCurvature {
        let block = |block: &Component| {
            let list: Vec<(u32, usize, usize)> =
                block.edges.iter().copied().filter(|&(e, _, _)| wanted[e as usize]).collect();
            let Some(k) = block.covariance(edges, gamma, inverse, w).filter(|_| !list.is_empty()) else {
                return (Vec::new(), Mat::new());
            };
            let at = |i: usize, j: usize| if i == GROUND || j == GROUND { 0.0 } else { k[(i, j)] };
            let between = |r: usize, c: usize| {
                let ((e, i, j), (f, p, q)) = (list[r], list[c]);
                let across = at(i, p) - at(i, q) - at(j, p) + at(j, q);
                let own = if r == c { damping } else { 0.0 };
                across * across / (edges.squares[e as usize] * edges.squares[f as usize]) + own
            };
            (list.iter().map(|edge| edge.0).collect(), Mat::from_fn(list.len(), list.len(), between))
        };
        EdgeCurvature(parallel::collect(self.0.len(), |at| block(&self.0[at])))
    }
}

impl Component {
    /// K over the block's points.
    fn covariance(&self, edges: &Edges, gamma: f64, inverse: &Selected, w: &[f64]) -> Option<Mat<f64>> {
        let (inner, points) = (self.inner, self.points);
        let mut k = Mat::zeros(points, points);
        let mut places = self.places.iter();
        for c in inner..points {
            for d in inner..=c {
                let value = inverse.at(*places.next()?);
                (k[(c, d)], k[(d, c)]) = (value, value);
            }
        }
        if inner == 0 {
            return Some(k);
        }
        // All edges of the subtree's points are here, and so are its rows of A.
        let mut a = Mat::<f64>::zeros(inner, points);
        (0..inner).for_each(|i| a[(i, i)] = gamma);
        for &(e, i, j) in &self.edges {
            let weight = w[e as usize] / edges.squares[e as usize];
            for (i, j) in [(i, j), (j, i)].into_iter().filter(|&(i, _)| i < inner) {
                a[(i, i)] += weight;
                if j != GROUND {
                    a[(i, j)] -= weight;
                }
            }
        }
        let factor = Positive::factor(a.subcols(0, inner).to_owned())?;
        let mut own = Mat::<f64>::identity(inner, inner);
        factor.solve_lower(own.as_mut(), Par::Seq);
        factor.solve_upper(own.as_mut(), Par::Seq);
        let x = small_product(own.as_ref(), a.subcols(inner, points - inner));
        let across = small_product(x.as_ref(), k.submatrix(inner, inner, points - inner, points - inner));
        own += small_product(across.as_ref(), x.transpose());
        k.submatrix_mut(0, 0, inner, inner).copy_from(&own);
        for i in 0..inner {
            for b in inner..points {
                (k[(i, b)], k[(b, i)]) = (-across[(i, b - inner)], -across[(i, b - inner)]);
            }
        }
        Some(k)
    }
}

/// The blocks of the curvature, each with the edges it is over.
pub(crate) struct EdgeCurvature(Vec<(Vec<u32>, Mat<f64>)>);

impl Preconditioner for EdgeCurvature {
    /// H x.
    fn product(&self, x: &[f64]) -> Vec<f64> {
        self.gathered(x.len(), |(list, block)| {
            let of = |r: usize| list.iter().enumerate().map(|(c, &e)| block[(r, c)] * x[e as usize]).sum();
            (0..list.len()).map(of).collect()
        })
    }

    /// H⁻¹ x over the edges that are inside, zero elsewhere; x itself for a block that cannot be inverted.
    fn solve(&self, x: &[f64], inside: &[bool]) -> Vec<f64> {
        self.gathered(x.len(), |(list, block)| {
            let kept: Vec<usize> = (0..list.len()).filter(|&r| inside[list[r] as usize]).collect();
            let mut found = Mat::from_fn(kept.len(), 1, |r, _| x[list[kept[r]] as usize]);
            if let Some(factor) =
                Positive::factor(Mat::from_fn(kept.len(), kept.len(), |r, c| block[(kept[r], kept[c])]))
            {
                factor.solve_lower(found.as_mut(), Par::Seq);
                factor.solve_upper(found.as_mut(), Par::Seq);
            }
            let mut all = vec![0.0; list.len()];
            kept.iter().enumerate().for_each(|(at, &r)| all[r] = found[(at, 0)]);
            all
        })
    }
}

impl EdgeCurvature {
    fn gathered(&self, len: usize, of_block: impl Fn(&(Vec<u32>, Mat<f64>)) -> Vec<f64> + Sync + Send) -> Vec<f64> {
        let parts: Vec<Vec<f64>> = parallel::collect(self.0.len(), |at| of_block(&self.0[at]));
        let mut out = vec![0.0; len];
        for ((list, _), part) in self.0.iter().zip(&parts) {
            list.iter().zip(part).for_each(|(&e, &value)| out[e as usize] = value);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use crate::field::entropy::meu::resistances::{Edges, Oracle};
    use crate::sample::r2_swiss_roll;
    use eigenfold_graph::{Neighbors, Search};
    use eigenfold_linalg::optimize::Preconditioner;
    use eigenfold_linalg::progress::Silent;
    use eigenfold_linalg::sparse::cholesky::Analysis;

    /// A column of the full curvature is the change of the gradient along one multiplier; a block holds part of it
    /// exactly.
    #[test]
    fn the_blocks_are_the_central_differences_of_the_gradient() {
        let points = r2_swiss_roll(60);
        let search = Search { neighbors: Neighbors::Nearest(5), ..Search::default() };
        let edges = Edges::new(&search.of_points(&points, &Silent).unwrap().graph.union(), 3);
        let m = edges.ends.len();
        let w: Vec<f64> = (0..m).map(|e| 0.2 + (e % 7) as f64 / 10.0).collect();
        for (gamma, most) in [(0.0, 60), (1e-2, 60), (0.0, 10), (0.0, 1)] {
            let pattern = edges.laplacian(&w, gamma);
            let analysis = Analysis::new(&pattern).unwrap();
            let mut oracle = Oracle::new(&edges, gamma, &pattern, &analysis).unwrap();
            let blocks = oracle.blocks(&pattern, &analysis, most).unwrap().unwrap();
            oracle.value(&w).unwrap().unwrap();
            let curvature = oracle.curvature(&blocks, &w, &vec![true; m], 0.0).unwrap();
            for e in (0..m).step_by(7) {
                let mut unit = vec![0.0; m];
                unit[e] = 1.0;
                let column = curvature.product(&unit);
                let mut ratios = |step: f64| {
                    let mut moved = w.clone();
                    moved[e] += step;
                    oracle.value(&moved).unwrap().unwrap();
                    oracle.ratios.clone()
                };
                let (up, down) = (ratios(1e-5), ratios(-1e-5));
                assert!(column[e] > 0.0, "every edge is in a block");
                for f in (0..m).filter(|&f| most == 60 || column[f] != 0.0) {
                    let difference = (down[f] - up[f]) / 2e-5;
                    assert!((column[f] - difference).abs() < 1e-6, "{most}: {f} {e}: {} {difference}", column[f]);
                }
                let back = curvature.solve(&column, &vec![true; m]);
                assert!(most == 60 || (back[e] - 1.0).abs() < 1e-6, "{most}: {}", back[e]);
            }
        }
    }
}
