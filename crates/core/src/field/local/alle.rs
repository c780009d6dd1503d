//! Acyclic locally linear embedding: LLE with a directed acyclic graph: each point is reconstructed from neighbors later in an order.
//!
//! ```text
//! w[i] = argmin ‖x[i] − Σⱼ w[i,j] x[j]‖²,  Σⱼ w[i,j] = 1,  j among the parents of i, all of them after i
//!      = C⁻¹1 / 1ᵀC⁻¹1,   C[j,k] = (x[j] − x[i])·(x[k] − x[i]) + r tr(C) δ[j,k]
//! precision M Mᵀ,   M[·, i] = m[i] (e[i] − Σⱼ w[i,j] e[j]),   m[i]⁻² = ‖x[i] − Σⱼ w[i,j] x[j]‖² / p
//! ```
//!
//! Without cycles the regressions are the conditionals of one joint density: M is its own Cholesky factor, and
//! the log likelihood is exact, Σ −p/2 (log 2π m[i]⁻² + 1) over all points but the last, which is free.
//!
//! N. D. Lawrence. A unifying probabilistic perspective for spectral dimensionality reduction: insights and new models.
//! JMLR 13, 2012, section 2.7.4. (Its fixed point for m[i] lost the p, see docs/internals/claims.md.)

use crate::extend::Rule;
use crate::field::local::lle::REGULARIZATION_HELP;
use crate::field::{Basis, Build, Built, Field, Info, InputKind, Site, needs_points, shown};
use crate::input::Measured;
use crate::input::regression::Regression;
use crate::parameter::{Choice, Kind, Parameter, Table, choices, field};
use eigenfold_graph::ordered::{Ordered, geodesic_order, principal_order};
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::parallel;
use eigenfold_linalg::sparse::root::Root;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// The largest regularization that is chosen, the usual one of lle.
const MOST: f64 = 1e-3;
/// The smallest one.
const LEAST: f64 = 1e-9;
/// The maximum number of points at which the curvature of the data is estimated.
const SAMPLED: usize = 1024;
/// A variance below this fraction of that of the data is rounding.
const FLOOR: f64 = 1e-12;

/// The order of the points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ordering {
    /// The order of the rows.
    Input,
    /// A random order.
    Random,
    /// Along the first principal component.
    Principal,
    /// By the distance along the graph from one of its peripheral points, which comes last.
    #[default]
    Geodesic,
    /// The order of least fill; the parents are the pattern of the graph's Cholesky factor.
    Elimination,
}

choices! {
    Ordering {
        Input: "input", "the order of the rows";
        Random: "random", "random, by the seed";
        Principal: "principal", "along the first principal component (points only)";
        Geodesic: "geodesic", "by the graph distance from one end of the graph, which comes last";
        Elimination: "elimination", "a fill-reducing elimination order, whose fill pattern gives the parents";
    }
}

/// Acyclic locally linear embedding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Alle {
    /// r: the fraction of the local trace that is added to the diagonal; by default the fraction of it that lies beyond
    /// the first `dims` directions, by the median over the points, and at most 1e-3.
    pub regularization: Option<f64>,
    /// The order of the points.
    pub ordering: Ordering,
}

impl Table for Alle {
    const METHOD: &'static str = "alle";
    const TABLE: &'static [Parameter<Alle>] = &[
        Parameter::new("regularization", REGULARIZATION_HELP, Kind::number(1e-15, 1e3), field!(regularization))
            .auto("the fraction of local variance outside the leading directions, at most 0.001"),
        Parameter::new("ordering", "the order of the points", Kind::Choice(Ordering::NAMES), field!(ordering)),
    ];
}

impl Build for Alle {
    fn info(&self) -> Info {
        Info {
            name: Self::METHOD,
            aliases: &["acyclic-lle"],
            summary: "LLE with a directed acyclic graph: each point is reconstructed from neighbors later in an order",
            title: "Acyclic LLE",
            good_for: "a manifold with an exact likelihood, in one pass over the points",
            caution: "The map depends on the order of the points; lengths are not those of the data.",
            basis: Basis::Precision,
            paper: "Lawrence 2012, section 2.7.4",
            accepts: InputKind::MEASURED,
            needs_graph: true,
            uses_metric: true,
        }
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let data = site.measured(self.info().name)?;
        let ordered = self.ordered(site, data)?;
        let regularization = match self.regularization {
            Some(given) => given,
            None => share_beyond(data, &ordered, site.dims),
        };
        let rows = regressions(site, data, &ordered, regularization)?;
        let (root, log_likelihood) = root(data, ordered, &rows);
        let mut built = Built::new(Field::Root(root), Rule::barycenter(regularization));
        built.log_likelihood = log_likelihood;
        if self.regularization.is_none() {
            built.used.push(("regularization", shown(regularization)));
        }
        Ok(built)
    }
}

impl Alle {
    /// The order, and the parents of every point: 1.5 times as many as it has neighbors, since they are on one side.
    fn ordered(&self, site: &Site<'_>, data: Measured<'_>) -> Result<Ordered> {
        let graph = site.graph()?;
        let union = graph.union();
        let order = match self.ordering {
            Ordering::Input => (0..graph.len() as u32).collect(),
            Ordering::Random => {
                let mut order: Vec<u32> = (0..graph.len() as u32).collect();
                order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(site.seed));
                order
            }
            Ordering::Principal => {
                let Measured::Points(points, _) = data else {
                    return Err(needs_points("`ordering` principal", "geodesic orders distances as well"));
                };
                principal_order(points)
            }
            Ordering::Geodesic => geodesic_order(&union),
            Ordering::Elimination => return Ordered::elimination(&union),
        };
        let most = (3 * (graph.edge_count() / graph.len()).max(1)).div_ceil(2);
        let distance = |i: usize, j: usize| data.distance(i, j);
        Ok(Ordered::nearest(&union, order, most, &distance))
    }
}

/// The parents of a point.
fn parents(ordered: &Ordered, place: usize) -> Vec<u32> {
    ordered.parents(place).iter().map(|&b| ordered.order[b as usize]).collect()
}

/// The default regularization. It must not be much below the fraction of the local variance that lies beyond the first
/// `dims` directions, or the weights follow the curvature of the manifold, and not far above, or every point is shrunk
/// towards its parents, which are all on one side of it. So it is that fraction, by the median over the points.
fn share_beyond(data: Measured<'_>, ordered: &Ordered, dims: usize) -> f64 {
    let places = ordered.order.len() - 1;
    let sampled = places.min(SAMPLED);
    let share = |at: usize| {
        let place = at * places / sampled;
        let parents = parents(ordered, place);
        data.around(ordered.order[place] as usize, &parents).share_beyond(parents.len(), dims)
    };
    let shares: Vec<Option<f64>> = parallel::collect(sampled, share);
    let mut shares: Vec<f64> = shares.into_iter().flatten().collect();
    shares.sort_unstable_by(f64::total_cmp);
    shares.get(shares.len() / 2).map_or(MOST, |share| share.clamp(LEAST, MOST))
}

/// The regression of every point but the last on its parents.
fn regressions(site: &Site<'_>, data: Measured<'_>, ordered: &Ordered, regularization: f64) -> Result<Vec<Regression>> {
    let regression = |place: usize| {
        if place.is_multiple_of(512) && site.observer.stop() {
            return Err(Error::Stopped);
        }
        let parents = parents(ordered, place);
        Ok(data.around(ordered.order[place] as usize, &parents).regression(parents.len(), regularization))
    };
    parallel::try_collect(ordered.order.len() - 1, regression)
}

/// M, and the log likelihood if the number of features is known and the points do not all coincide.
fn root(data: Measured<'_>, ordered: Ordered, rows: &[Regression]) -> (Root, Option<f64>) {
    let variance = data.variance();
    // Points that all coincide have no scale; then all regressions have the same weight.
    let unit = if variance > 0.0 { variance } else { 1.0 };
    let floor = if variance > 0.0 { (FLOOR * variance).max(f64::MIN_POSITIVE) } else { 1.0 };
    let variances: Vec<f64> = rows.iter().map(|row| row.residual.max(floor)).collect();
    let log_likelihood = data.features().filter(|_| variance > 0.0).map(|p| {
        let term = |(row, v): (&Regression, &f64)| (std::f64::consts::TAU * v).ln() + row.residual / v;
        -0.5 * p as f64 * rows.iter().zip(&variances).map(term).sum::<f64>()
    });
    let weights = rows.iter().flat_map(|row| row.weights.iter().copied()).collect();
    let root = Root::new(ordered.order, (ordered.offsets, ordered.parents), weights, &variances, unit);
    (root, log_likelihood)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Parameters;
    use crate::sample::r2_swiss_roll as swiss;
    use eigenfold_graph::points::Points;
    use eigenfold_graph::{Neighbors, Search};
    use eigenfold_linalg::Operator;
    use eigenfold_linalg::progress::Silent;

    fn site(points: &Points) -> Site<'_> {
        Site::of(points.into())
    }

    /// Every point of swiss(60) written by its four nearest later rows, wherever they are, with r = 1e-3: NumPy's
    /// solver for the weights, the sum above for the likelihood, and its dense eigenvalues of M Mᵀ.
    #[test]
    fn a_small_roll_has_the_likelihood_and_the_eigenvalues_that_numpy_finds() {
        let points = swiss(60);
        let distance = |i: usize, j: usize| eigenfold_graph::Metric::Euclidean.distance(points.row(i), points.row(j));
        let mut ordered = Ordered { order: (0..60).collect(), offsets: vec![0], parents: Vec::new() };
        for i in 0..60 {
            let mut later: Vec<usize> = (i + 1..60).collect();
            later.sort_by(|&a, &b| distance(i, a).total_cmp(&distance(i, b)));
            later.truncate(4);
            later.sort_unstable();
            ordered.parents.extend(later.iter().map(|&j| j as u32));
            ordered.offsets.push(ordered.parents.len());
        }
        let data = Measured::Points(&points, eigenfold_graph::Metric::Euclidean);
        let rows = regressions(&site(&points), data, &ordered, 1e-3).unwrap();
        let (root, log_likelihood) = root(data, ordered, &rows);
        assert!((log_likelihood.unwrap() / 114.550277907666 - 1.0).abs() < 1e-10, "{log_likelihood:?}");
        // The first column of M: 1/√v, and −w/√v of the rows 4, 16, 37 and 53.
        let m = 2.8099823986284087;
        assert!((1.0 / rows[0].residual.sqrt() / m - 1.0).abs() < 1e-10);
        let column = [5.472371014688041, -0.8074070740673912, -0.27019568247355985, -7.2047506567754995];
        for (w, entry) in rows[0].weights.iter().zip(column) {
            assert!((-w * m / entry - 1.0).abs() < 1e-10, "{:?}", rows[0].weights);
        }
        let spectrum = crate::coordinates::spectral::map(&Field::Root(root), 3, 0, u64::MAX, &Silent).unwrap();
        let eigenvalues = spectrum.diagnostics.eigenvalues;
        for (ours, theirs) in
            eigenvalues.iter().zip([0.0013651426190328423, 0.0014979871687946264, 0.0017380794685061091])
        {
            assert!((ours / theirs - 1.0).abs() < 1e-7, "{eigenvalues:?}");
        }
    }

    /// Points 0, 1, 3 and 7 on a line, written by the next two and hardly regularized: each but the last two is on the
    /// line through its parents, so that the precision is free on all lines, not only on constants.
    #[test]
    fn on_a_line_each_point_is_extrapolated_from_the_next_two() {
        let points = Points::from_rows(&[[0.0], [1.0], [3.0], [7.0]]).unwrap();
        let ordered = Ordered { order: vec![0, 1, 2, 3], offsets: vec![0, 2, 4, 5, 5], parents: vec![1, 2, 2, 3, 3] };
        let rows =
            regressions(&site(&points), Measured::Points(&points, eigenfold_graph::Metric::Euclidean), &ordered, 1e-12)
                .unwrap();
        for (row, expected) in rows.iter().zip([vec![1.5, -0.5], vec![1.5, -0.5], vec![1.0]]) {
            assert!(row.weights.iter().zip(&expected).all(|(w, e)| (w - e).abs() < 1e-9), "{row:?}");
        }
        assert!((rows[2].residual - 16.0).abs() < 1e-9);
        let (root, _) = root(Measured::Points(&points, eigenfold_graph::Metric::Euclidean), ordered, &rows);
        let line = faer::Mat::from_fn(4, 1, |i, _| points.row(i)[0]);
        let mut image = faer::Mat::zeros(4, 1);
        root.precision().apply(line.as_ref(), image.as_mut());
        // Only the step from 3 to 7 costs anything: (7 − 3)² m² = 1.
        let energy: f64 = (0..4).map(|i| line[(i, 0)] * image[(i, 0)]).sum();
        assert!((energy - 1.0).abs() < 1e-3, "{energy}");
    }

    #[test]
    fn every_ordering_has_one_root_and_its_own_name() {
        let points = swiss(150);
        let search = Search { neighbors: Neighbors::Nearest(6), ..Search::default() };
        let found = search.of_points(&points, &Silent).unwrap();
        let site = Site { graph: Some(&found.graph), ..site(&points) };
        for (&ordering, name) in Ordering::ALL.iter().zip(Ordering::NAMES.iter().map(|named| named.name)) {
            let mut method = Alle::default();
            method.set("ordering", name).unwrap();
            assert_eq!(method.ordering, ordering);
            let ordered = method.ordered(&site, Measured::Points(&points, eigenfold_graph::Metric::Euclidean)).unwrap();
            let mut order = ordered.order.clone();
            order.sort_unstable();
            assert!(order.iter().copied().eq(0..150), "{name}");
            assert!((0..149).all(|a| !ordered.parents(a).is_empty()), "{name}");
            assert!((0..149).all(|a| ordered.parents(a).iter().all(|&b| b as usize > a)), "{name}");
            if ordering != Ordering::Elimination {
                assert!((0..150).all(|a| ordered.parents(a).len() <= 9), "{name}: half as many again as six");
            }
        }
    }
}
