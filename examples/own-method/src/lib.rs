//! Commute times: the distance of two points on the map is the time of a random walk from one to the other and back.
//!
//! ```text
//! w[i,j] = 1 for neighbors either way,   L = D − W,   y = √(1/λ) u for the pairs L u = λ u,   ‖y[i] − y[j]‖² ∝ L⁺[i,i] + L⁺[j,j] − 2 L⁺[i,j]
//! ```
//!
//! H. Qiu, E. R. Hancock. Clustering and embedding using commute times. IEEE PAMI 29(11), 2007.
//!
//! The method knows eigenfold by its public contract alone. Graph, eigenvectors, likelihood, new points with their
//! uncertainty, the inverse transform and every quality measure come with it.

use eigenfold::{
    Basis, Info, Result,
    contract::{Build, Built, CoordinateScale, Field, Parameter, Rule, Site, SparseSymmetric, Table},
};

/// The method; it has no parameters.
#[derive(Clone, Debug, Default)]
pub struct CommuteTimes;

impl Table for CommuteTimes {
    const METHOD: &'static str = "commute-times";
    const TABLE: &'static [Parameter<Self>] = &[];
}

impl Build for CommuteTimes {
    fn info(&self) -> Info {
        Info {
            summary: "eigenvectors of the graph Laplacian, as long as a random walk takes",
            ..Info::new(Self::METHOD, "Commute times", Basis::Precision)
        }
    }

    fn build(&self, site: &Site<'_>) -> Result<Built> {
        let union = site.graph()?.union();
        let (ends, weights): (Vec<_>, Vec<_>) = union.pairs().map(|(i, j, _)| ((i, j), 1.0)).unzip();
        let matrix = SparseSymmetric::laplacian(site.len(), &ends, &weights, 0.0);
        let field =
            Field::Precision { matrix, order: None, normalization: None, scale: CoordinateScale::Covariance(1.0) };
        Ok(Built::new(field, Rule::barycenter(1e-3)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenfold::{Graph, Method, Points, Recipe, Silent};

    /// On a path the resistance between two points, and so the commute time, is the number of edges between them.
    #[test]
    fn squared_distances_on_a_path_are_proportional_to_its_edges() {
        let ends = |i: u32| [i.checked_sub(1), Some(i + 1).filter(|&j| j < 6)].into_iter().flatten();
        let path = Graph::from_lists((0..6).map(|i| ends(i).map(|j| (j, 1.0)).collect()).collect()).unwrap();
        let recipe = Recipe { method: Method::own(CommuteTimes), dims: 5, ..Recipe::default() };
        let model = recipe.fit(&path, &Silent).unwrap();
        let square = |i: usize, j: usize| -> f64 {
            model.embedding().row(i).iter().zip(model.embedding().row(j)).map(|(a, b)| (a - b) * (a - b)).sum()
        };
        for (i, j) in (0..6).flat_map(|i| (0..i).map(move |j| (i, j))) {
            assert!((square(i, j) / square(1, 0) - (i - j) as f64).abs() < 1e-9, "{i} {j}");
        }
    }

    #[test]
    fn new_points_and_the_inverse_transform_come_with_it() {
        let points =
            Points::from_rows(&(0..60).map(|i| [f64::from(i), (0.1 * f64::from(i)).sin()]).collect::<Vec<_>>());
        let points = points.unwrap();
        let model = Recipe { method: Method::own(CommuteTimes), ..Recipe::default() }.fit(&points, &Silent).unwrap();
        assert_eq!(&model.transform(&points).unwrap(), model.embedding());
        assert_eq!(model.reconstruct(model.embedding()).unwrap().points.cols(), 2);
        assert!(model.to_bytes().unwrap_err().to_string().contains("commute-times is not a method of this library"));
    }
}
