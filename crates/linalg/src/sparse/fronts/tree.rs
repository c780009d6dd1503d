//! The elimination tree of a graph: its fronts in postorder, what each is made of, and which are done together.

use crate::error::{Error, Result};
use crate::sparse::cholesky::Analysis;
use crate::sparse::fronts::{EARLIER, Front, Fronts, Incident};
use crate::sparse::rows::Counted;
use faer::sparse::linalg::cholesky::SymbolicCholeskyRaw;
use std::ops::Range;

/// Subtrees with less than this part of the work each are done by one thread.
const SUBTREE: f64 = 1.0 / 48.0;

impl Fronts {
    /// The fronts of a graph with these edges, in the order of the analysis of its Laplacian.
    ///
    /// # Errors
    ///
    /// If the structure does not fit into memory.
    pub fn new(analysis: &Analysis, ends: &[(u32, u32)]) -> Result<Fronts> {
        let symbolic = analysis.symbolic()?.symbolic;
        let no_tree = || Error::numerical("the graph's elimination tree was not found", "");
        let SymbolicCholeskyRaw::Supernodal(nodes) = symbolic.raw() else { return Err(no_tree()) };
        let (_, inverse) = symbolic.perm().ok_or_else(no_tree)?.arrays();
        let blocks: Vec<Range<usize>> = nodes
            .supernode_begin()
            .iter()
            .zip(nodes.supernode_end())
            .map(|(&begin, &end)| begin as usize..end as usize)
            .collect();
        let rows: Vec<&[u32]> = (0..blocks.len()).map(|s| nodes.supernode(s).pattern()).collect();
        let mut of_column = vec![0u32; inverse.len()];
        for (s, block) in blocks.iter().enumerate() {
            of_column[block.clone()].fill(s as u32);
        }
        let parent: Vec<Option<usize>> =
            rows.iter().map(|rows| rows.first().map(|&row| of_column[row as usize] as usize)).collect();
        // Postorder makes subtrees contiguous; it keeps the order along every path to the root, so rows stay ascending.
        let order = postorder(&parent);
        let (mut moved, mut start) = (vec![0u32; inverse.len()], 0);
        let mut at = vec![0u32; blocks.len()];
        for (new, &s) in order.iter().enumerate() {
            at[s] = new as u32;
            for (offset, column) in blocks[s].clone().enumerate() {
                moved[column] = (start + offset) as u32;
            }
            start += blocks[s].len();
        }
        let mut fronts: Vec<Front> = Vec::with_capacity(order.len());
        let mut start = 0;
        for &s in &order {
            let rows = rows[s].iter().map(|&row| moved[row as usize]).collect();
            fronts.push(Front { start, width: blocks[s].len(), rows, into_parent: Vec::new(), children: Vec::new() });
            start += blocks[s].len();
        }
        for (new, &s) in order.iter().enumerate() {
            let Some(parent) = parent[s].map(|parent| at[parent] as usize) else { continue };
            let above = &fronts[parent];
            let into = fronts[new].rows.iter().map(|&row| above.row(row)).collect::<Option<Vec<u32>>>();
            fronts[new].into_parent = into.ok_or_else(no_tree)?;
            fronts[parent].children.push(new as u32);
        }
        let place: Vec<u32> = inverse.iter().map(|&column| moved[column as usize]).collect();
        let mut point = vec![0u32; place.len()];
        place.iter().enumerate().for_each(|(i, &at)| point[at as usize] = i as u32);
        let (offsets, incident) = incidence(&fronts, &place, ends).ok_or_else(no_tree)?;
        let (subtrees, waves) = schedule(&fronts);
        let fill = fronts.iter().map(|front| (front.width * front.height()) as f64).sum();
        Ok(Fronts { point, fronts, offsets, incident, subtrees, waves, fill })
    }
}

/// The fronts with children before parents, every subtree contiguous.
fn postorder(parent: &[Option<usize>]) -> Vec<usize> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parent.len()];
    let mut stack = Vec::new();
    for s in (0..parent.len()).rev() {
        match parent[s] {
            Some(parent) => children[parent].push(s),
            None => stack.push(s),
        }
    }
    // A node is put down when it comes up for the second time, after its children.
    let mut order = Vec::with_capacity(parent.len());
    let mut open = vec![false; parent.len()];
    while let Some(&s) = stack.last() {
        if open[s] {
            stack.pop();
            order.push(s);
        } else {
            open[s] = true;
            stack.extend(&children[s]);
        }
    }
    order
}

/// For each position its edges, with the row of the other end in the front.
fn incidence(fronts: &[Front], place: &[u32], ends: &[(u32, u32)]) -> Option<(Vec<usize>, Vec<Incident>)> {
    let mut front_of = vec![0u32; place.len()];
    for (f, front) in fronts.iter().enumerate() {
        front_of[front.start..front.start + front.width].fill(f as u32);
    }
    let at = |i: u32| place[i as usize];
    let mut rows = Counted::rows(place.len(), ends.iter().flat_map(|&(i, j)| [at(i) as usize, at(j) as usize]));
    let mut incident = vec![Incident { edge: 0, row: EARLIER }; rows.entries()];
    for (edge, &(i, j)) in ends.iter().enumerate() {
        let (a, b) = (at(i).min(at(j)), at(i).max(at(j)));
        let row = fronts[front_of[a as usize] as usize].row(b)?;
        for (end, row) in [(a, row), (b, EARLIER)] {
            incident[rows.place(end as usize)] = Incident { edge: edge as u32, row };
        }
    }
    Some((rows.offsets, incident))
}

/// Subtrees of little work, and the fronts above them in waves.
fn schedule(fronts: &[Front]) -> (Vec<Range<usize>>, Vec<Vec<usize>>) {
    let own = |front: &Front| front.width as f64 * (front.height() as f64).powi(2);
    let (mut work, mut size) = (vec![0.0; fronts.len()], vec![1usize; fronts.len()]);
    for (f, front) in fronts.iter().enumerate() {
        let children = || front.children.iter().map(|&child| child as usize);
        work[f] = own(front) + children().map(|child| work[child]).sum::<f64>();
        size[f] += children().map(|child| size[child]).sum::<usize>();
    }
    let total: f64 = fronts.iter().map(own).sum();
    let is_small = |f: usize| work[f] <= SUBTREE * total;
    let (mut subtrees, mut waves) = (Vec::new(), Vec::<Vec<usize>>::new());
    let mut height = vec![0usize; fronts.len()];
    for (f, front) in fronts.iter().enumerate().filter(|&(f, _)| !is_small(f)) {
        for &child in &front.children {
            let child = child as usize;
            if is_small(child) {
                subtrees.push(child + 1 - size[child]..child + 1);
            } else {
                height[f] = height[f].max(height[child] + 1);
            }
        }
        if waves.len() <= height[f] {
            waves.resize(height[f] + 1, Vec::new());
        }
        waves[height[f]].push(f);
    }
    // A root may be small itself, in a graph of several chunks.
    let roots = (0..fronts.len()).filter(|&f| fronts[f].rows.is_empty() && is_small(f));
    subtrees.extend(roots.map(|root| root + 1 - size[root]..root + 1));
    subtrees.sort_unstable_by_key(|range| range.start);
    (subtrees, waves)
}
