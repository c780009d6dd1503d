//! Connected components of a graph, and the shortest linking edges between them.
//!
//! Linking edges are a minimum spanning tree over the components, found as Borůvka did: every component but the largest looks for
//! its shortest way out, all these join, and so on. Ties are broken by the indices, smaller first, so that all edges
//! differ and the tree is unique.
//!
//! Where neighbors are searched for with a few mistakes, the tree is that of some points of every component, and its edges then
//! walk: an end moves to whichever of its neighbors is nearest to the other end, until none is nearer. No index of all points is
//! needed for it, which would take more memory than the search.
//!
//! O. Borůvka. O jistém problému minimálním. Práce moravské přírodovědecké společnosti 3, 1926.

use crate::Graph;
use crate::search::index::Lists;
use crate::search::source::Source;
use crate::search::spread::spread;
use crate::search::watch::Watch;
use eigenfold_linalg::error::Result;

/// A search for the connecting k gives up beyond this many nanoseconds of work ([`Source::work`]).
const AFFORDABLE: f64 = 2e9;
/// Points of which the tree is made where neighbors are nearly right, and the most points of a component for which it takes more of them.
const DRAWN: usize = 10_000;
const LEAST: usize = 32;
/// The lists of the largest component are searched too if that takes no more than this.
const REFINED: f64 = 3e8;

/// Sets that only ever merge.
pub struct Sets {
    parent: Vec<u32>,
    count: usize,
}

impl Sets {
    /// Every point a set of its own.
    pub fn new(n: usize) -> Sets {
        Sets { parent: (0..n as u32).collect(), count: n }
    }

    /// The smallest index in the set of a point.
    pub fn root(&mut self, mut i: u32) -> u32 {
        while self.parent[i as usize] != i {
            self.parent[i as usize] = self.parent[self.parent[i as usize] as usize];
            i = self.parent[i as usize];
        }
        i
    }

    /// Merges the sets of two points; whether they were apart. The smaller index stays root.
    pub fn merge(&mut self, i: u32, j: u32) -> bool {
        let (a, b) = (self.root(i), self.root(j));
        self.parent[a.max(b) as usize] = a.min(b);
        self.count -= usize::from(a != b);
        a != b
    }
}

/// The component of each point, following edges either way, and the number of points in each component; components are numbered
/// from the largest, ties from the smallest index.
pub(super) fn label(graph: &Graph) -> (Vec<u32>, Vec<usize>) {
    let n = graph.len();
    let mut sets = Sets::new(n);
    for i in 0..n {
        for &j in graph.neighbors(i) {
            sets.merge(i as u32, j);
        }
    }
    let roots: Vec<u32> = (0..n as u32).map(|i| sets.root(i)).collect();
    let mut sizes = vec![0usize; n];
    roots.iter().for_each(|&root| sizes[root as usize] += 1);
    let mut components: Vec<usize> = (0..n).filter(|&i| sizes[i] > 0).collect();
    components.sort_by_key(|&root| std::cmp::Reverse(sizes[root]));
    let mut number = vec![0u32; n];
    for (component, &root) in components.iter().enumerate() {
        number[root] = component as u32;
    }
    let component_of = roots.iter().map(|&root| number[root as usize]).collect();
    (component_of, components.iter().map(|&root| sizes[root]).collect())
}

/// The shortest edges that connect all components, as (smaller index, larger index, length), shortest first.
pub(super) fn linking_edges(source: &dyn Source, component_of: &[u32], watch: &Watch) -> Result<Vec<(u32, u32, f64)>> {
    let mut labels = component_of.to_vec();
    let mut linking_edges = Vec::new();
    loop {
        let components = labels.iter().max().map_or(0, |&last| last as usize + 1);
        let mut sizes = vec![0usize; components];
        labels.iter().for_each(|&label| sizes[label as usize] += 1);
        let largest = (0..components).fold(0, |best, p| if sizes[p] > sizes[best] { p } else { best });
        let mut shortest: Vec<Option<(f64, u32, u32)>> = vec![None; components];
        for (length, i, j) in source.ways_out(&labels, largest as u32, &watch.again(labels.len()))? {
            let best = &mut shortest[labels[i as usize] as usize];
            let way = (length, i.min(j), i.max(j));
            if best.is_none_or(|best| way.0 < best.0 || (way.0 == best.0 && (way.1, way.2) < (best.1, best.2))) {
                *best = Some(way);
            }
        }
        let mut sets = Sets::new(components);
        for (length, i, j) in shortest.into_iter().flatten() {
            if sets.merge(labels[i as usize], labels[j as usize]) {
                linking_edges.push((i, j, length));
            }
        }
        if sets.count == 1 {
            break;
        }
        let mut number = vec![u32::MAX; components];
        let mut next = 0;
        for component in 0..components as u32 {
            let root = sets.root(component) as usize;
            if number[root] == u32::MAX {
                number[root] = next;
                next += 1;
            }
            number[component as usize] = number[root];
        }
        labels.iter_mut().for_each(|label| *label = number[*label as usize]);
    }
    linking_edges.sort_unstable_by(|a, b| a.2.total_cmp(&b.2).then((a.0, a.1).cmp(&(b.0, b.1))));
    Ok(linking_edges)
}

/// As [`linking_edges`], but nearly the shortest: the tree of some points, whose edges walk along the graph.
pub(super) fn short_linking_edges(
    source: &dyn Source,
    graph: &Graph,
    (component_of, sizes): (&[u32], &[usize]),
    watch: &Watch,
) -> Result<Vec<(u32, u32, f64)>> {
    let drawn = drawn(component_of, sizes);
    let labels: Vec<u32> = drawn.iter().map(|&i| component_of[i as usize]).collect();
    let mut edges = Vec::new();
    source.among(&drawn, &mut |some| {
        edges = linking_edges(some, &labels, watch)?;
        Ok(())
    })?;
    for (i, j, length) in &mut edges {
        (*i, *j) = (drawn[*i as usize], drawn[*j as usize]);
        let ends = |i: u32, j: u32| (source.distance(i as usize, j as usize), i, j);
        let walk = |near: (f64, u32, u32), &next: &(f64, u32, u32)| if next.0 < near.0 { next } else { near };
        let mut best = ends(*i, *j);
        loop {
            let (_, i, j) = best;
            let steps = graph.neighbors(i as usize).iter().map(|&next| ends(next, j));
            let steps: Vec<_> = steps.chain(graph.neighbors(j as usize).iter().map(|&next| ends(i, next))).collect();
            let next = steps.iter().fold(best, walk);
            if next.0 >= best.0 {
                break;
            }
            best = next;
        }
        (*length, *i, *j) = (best.0, best.1.min(best.2), best.1.max(best.2));
    }
    edges.sort_unstable_by(|a, b| a.2.total_cmp(&b.2).then((a.0, a.1).cmp(&(b.0, b.1))));
    Ok(edges)
}

/// Some points of every component, ascending: all of a small one, else as large a part as it has of all points.
fn drawn(component_of: &[u32], sizes: &[usize]) -> Vec<u32> {
    let (n, least) = (component_of.len(), (DRAWN / sizes.len()).clamp(1, LEAST));
    let mut members: Vec<Vec<u32>> = sizes.iter().map(|&size| Vec::with_capacity(size)).collect();
    component_of.iter().zip(0..).for_each(|(&component, i)| members[component as usize].push(i));
    let some = |members: &Vec<u32>| {
        let count = (members.len() * DRAWN / n).max(least).min(members.len());
        spread(count, members.len(), 0).map(|at| members[at as usize]).collect::<Vec<u32>>()
    };
    let mut drawn: Vec<u32> = members.iter().flat_map(some).collect();
    drawn.sort_unstable();
    drawn
}

/// The smallest number of nearest neighbors beyond `k` that connects the components of the graph of `k`; nothing if it takes more
/// than max(64, 8k) or too much work.
///
/// First the lists of all points outside the largest component are searched, which are few as a rule. What they need is an upper
/// bound: points of the largest component may reach out with fewer neighbors, and their lists are searched up to that bound. Only
/// where this would take long is the bound itself the answer.
pub(super) fn connecting_k(
    source: &dyn Source,
    component_of: &[u32],
    k: usize,
    watch: &Watch,
) -> Result<Option<usize>> {
    let n = source.len();
    let (inside, outside): (Vec<u32>, Vec<u32>) = (0..n as u32).partition(|&i| component_of[i as usize] == 0);
    let work = |rows: &[u32], k: usize| source.work(k) * rows.len() as f64 / n as f64;
    let search = |rows: &[u32], k: usize| source.some_others(rows, k, &watch.again(rows.len()));
    let most = (8 * k).max(64).min(n - 1);
    let (mut tried, mut spent, mut bound) = (k, 0.0, None);
    let mut outer = Lists::default();
    while tried < most && bound.is_none() {
        tried = (2 * tried).min(most);
        spent += work(&outside, tried);
        if spent > AFFORDABLE {
            return Ok(None);
        }
        outer = search(&outside, tried)?;
        bound = connecting_prefix(&[(&outside, &outer, tried)], tried, component_of);
    }
    let below = bound.map_or(tried, |bound| bound - 1);
    if below <= k || work(&inside, below) > REFINED {
        return Ok(bound);
    }
    let inner = search(&inside, below)?;
    let all = [(&outside[..], &outer, tried), (&inside[..], &inner, below)];
    Ok(connecting_prefix(&all, below, component_of).or(bound))
}

/// The shortest prefix, of `most` at most, of the lists of some points that connects all components; each of the lists has as many
/// entries as stand beside them.
fn connecting_prefix(all: &[(&[u32], &Lists, usize)], most: usize, component_of: &[u32]) -> Option<usize> {
    let components = component_of.iter().max().map_or(0, |&last| last as usize + 1);
    let mut sets = Sets::new(components);
    (1..=most).find(|&prefix| {
        for &(rows, (targets, _), width) in all {
            for (at, &i) in rows.iter().enumerate() {
                sets.merge(component_of[i as usize], component_of[targets[at * width + prefix - 1] as usize]);
            }
        }
        sets.count == 1
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::points::Points;
    use crate::search::index::Index;
    use crate::{Disconnected, Metric, Neighbors, Search};
    use eigenfold_linalg::progress::Silent;

    fn line(xs: &[f64]) -> Points {
        Points::new(xs.len(), 1, xs.to_vec()).unwrap()
    }

    #[test]
    fn three_pairs_on_a_line_are_joined_by_the_two_gaps() {
        let points = line(&[10.0, 11.0, 0.0, 1.0, 13.5, 14.5]);
        let search = Search { neighbors: Neighbors::Nearest(1), ..Search::default() };
        let found = search.of_points(&points, &Silent).unwrap();
        assert_eq!(found.component_of, [0, 0, 1, 1, 2, 2]);
        assert_eq!(found.sizes, [2, 2, 2]);
        assert_eq!(found.linking_edges, [(1, 4, 2.5), (0, 3, 9.0)]);
        assert_eq!(found.graph.neighbors(1), [0, 4]);
        assert_eq!(found.graph.neighbors(4), [5, 1]);
        // With two neighbors, point 3 reaches 0 and point 1 reaches 4.
        assert_eq!(found.connecting_k, Some(2));
    }

    /// A cluster of nine and, one step beyond its last point, another of four: those of the larger reach out first.
    #[test]
    fn the_connecting_k_is_the_smallest() {
        let near = |at: f64, count: usize| (0..count).map(move |i| at + 0.01 * i as f64);
        let pair: Vec<f64> = near(0.0, 7).chain(near(5.0, 2)).chain(near(8.0, 4)).collect();
        let table = include_str!("../../io/data/iris.csv");
        let row = |line: &str| line.split(',').take(4).map(|cell| cell.parse().unwrap()).collect::<Vec<f64>>();
        let iris = Points::from_rows(&table.lines().skip(1).map(row).collect::<Vec<_>>()).unwrap();
        for (points, k, expected) in [(line(&pair), 1, None), (iris, 5, Some(25))] {
            let of = |k| {
                let search = Search {
                    neighbors: Neighbors::Nearest(k),
                    disconnected: Disconnected::Separate,
                    ..Search::default()
                };
                search.of_points(&points, &Silent).unwrap()
            };
            let smallest = (k..).find(|&k| of(k).sizes.len() == 1).unwrap();
            assert_eq!(of(k).connecting_k, Some(smallest));
            assert!(expected.is_none_or(|expected| expected == smallest), "{smallest}");
        }
    }

    #[test]
    fn components_are_refused_or_left_as_requested() {
        let points = line(&[0.0, 1.0, 2.0, 50.0, 51.0]);
        let search = |disconnected| Search { neighbors: Neighbors::Within(1.0), disconnected, ..Search::default() };
        let error = search(Disconnected::Error).of_points(&points, &Silent).unwrap_err();
        assert!(error.to_string().starts_with("the graph has 2 connected components (3, 2 points)"), "{error}");
        let found = search(Disconnected::Separate).of_points(&points, &Silent).unwrap();
        assert_eq!((found.sizes, found.linking_edges.len(), found.connecting_k), (vec![3, 2], 0, None));
        let error = search(Disconnected::Join).of_graph(&found.graph).unwrap_err();
        assert!(error.to_string().contains("`disconnected` separate"), "{error}");
    }

    /// Linking edges must be the edges of the minimum spanning tree of all points that run between components (Kruskal).
    fn kruskal(points: &Points, metric: Metric, component_of: &[u32]) -> Vec<(u32, u32, f64)> {
        let n = points.rows();
        let mut edges: Vec<(f64, u32, u32)> = Vec::new();
        for i in 0..n {
            for j in i + 1..n {
                edges.push((metric.distance(points.row(i), points.row(j)), i as u32, j as u32));
            }
        }
        edges.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut sets = Sets::new(n);
        edges
            .into_iter()
            .filter(|&(_, i, j)| sets.merge(component_of[i as usize], component_of[j as usize]))
            .map(|(d, i, j)| (i, j, d))
            .collect()
    }

    /// 40 clusters on a grid, of 40,000 points, of which the tree of some is made: its walks end at edges that are nearly the shortest.
    #[test]
    fn edges_that_walk_join_the_same_components_by_nearly_the_shortest_edges() {
        let noise = |at: usize| 0.5 + 0.5 * crate::search::pca_bound::tests::noise(at);
        let value = |i: usize, c: usize| {
            let (cluster, at) = (i % 40, [i % 40 / 8, i % 8][c]);
            at as f64 * 3.0 + (0.5 + (cluster % 3) as f64 / 4.0) * noise(2 * i + c)
        };
        let n = 40_000;
        let points = Points::new(n, 2, (0..2 * n).map(|at| value(at / 2, at % 2)).collect()).unwrap();
        let search = Search { disconnected: Disconnected::Separate, ..Search::default() };
        let found = search.of_points(&points, &Silent).unwrap();
        assert_eq!(found.sizes.len(), 40);
        let (index, watch) = (Index::new(&points, Metric::Euclidean).unwrap(), Watch::new(&Silent, n));
        let exact = linking_edges(&index, &found.component_of, &watch).unwrap();
        let drawn = drawn(&found.component_of, &found.sizes);
        assert!((9_000..12_000).contains(&drawn.len()));
        let short = short_linking_edges(&index, &found.graph, (&found.component_of, &found.sizes), &watch).unwrap();
        let joined = found.graph.with_linking_edges(&short);
        assert_eq!((short.len(), label(&joined).1.len()), (39, 1));
        let total = |edges: &[(u32, u32, f64)]| edges.iter().map(|edge| edge.2).sum::<f64>();
        assert!(total(&short) < 1.05 * total(&exact), "{} {}", total(&short), total(&exact));
        for (i, j, length) in short {
            assert_eq!(index.metric().between(&points, i as usize, j as usize), length);
            assert_ne!(found.component_of[i as usize], found.component_of[j as usize]);
        }
    }

    proptest::proptest! {
        #[test]
        fn linking_edges_are_a_minimum_spanning_tree(
            cells in proptest::collection::vec(0u8..12, 4..80), dims in 1usize..12, metric in 0usize..3
        ) {
            let n = cells.len() / dims;
            proptest::prop_assume!(n >= 3);
            let values = cells[..n * dims].iter().map(|&c| f64::from(c) + 1.0).collect();
            let points = Points::new(n, dims, values).unwrap();
            let metric = [Metric::Euclidean, Metric::Manhattan, Metric::Cosine][metric];
            let search = Search { neighbors: Neighbors::Mutual(1), metric, ..Search::default() };
            let found = search.of_points(&points, &Silent).unwrap();
            proptest::prop_assert_eq!(&found.linking_edges, &kruskal(&points, metric, &found.component_of));
            proptest::prop_assert_eq!(label(&found.graph).1.len(), 1);
        }
    }
}
