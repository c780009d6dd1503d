//! The hint that is printed if the embedding lost the neighborhoods.

use crate::args::Embed;
use eigenfold::{Count, Model, NeighborRatio};

/// From this part on and this neighbor_ratio, neighborhoods are lost: no map of everyday data with a trustworthiness above 0.94 is there
/// (docs/decisions/0133-neighbor-distance-ratio-of-every-embedding.md).
const LOST: f64 = 0.35;
const LOST_FAR: f64 = 1.5;
/// From this part on they are lost however far: where all distances are nearly alike, none can be 1.5 times as far
/// (docs/decisions/0144-neighborhood-preservation-warning.md).
const HALF: f64 = 0.5;
/// Methods that keep neighborhoods before all else.
const LOCAL: [&str; 2] = ["umap", "tsne"];

/// One sentence, where little is left of the neighborhoods.
pub(crate) fn poor(args: &Embed, model: &Model, near: Option<&NeighborRatio>) -> Option<String> {
    let near = near.filter(|near| is_poor(near))?;
    let percent = 100.0 * near.lost();
    let NeighborRatio { neighbor_ratio, random } = near;
    let fact = format!(
        "{percent:.0} % of the neighborhoods are lost: the 10-NN distance ratio is {neighbor_ratio:.2} \
         (1 = perfect, {random:.2} = random embedding)"
    );
    let chooses = model.recipe().method.info().needs_graph && args.neighbors.k != Some(Count::Auto);
    let local = LOCAL.contains(&model.report().method.as_str());
    let ways = [(chooses, "-k auto"), (true, "more coordinates (-d)"), (!local, "-m umap or -m tsne")];
    let ways: Vec<&str> = ways.into_iter().filter(|(fits, _)| *fits).map(|(_, way)| way).collect();
    Some(format!("{fact}; try {}", ways.join(", ")))
}

/// Whether little is left of the neighborhoods.
fn is_poor(near: &NeighborRatio) -> bool {
    let lost = near.lost();
    lost >= HALF || (lost >= LOST && near.neighbor_ratio >= LOST_FAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NeighborRatio and chance as they were measured (docs/decisions/0144-neighborhood-preservation-warning.md).
    #[test]
    fn poor_maps_of_many_dimensions_are_separated_from_good_ones() {
        let poor = |neighbor_ratio, random| is_poor(&NeighborRatio { neighbor_ratio, random });
        for (map, neighbor_ratio, random) in
            [("ltsa of MNIST", 1.49, 1.83), ("hessian-lle of MNIST", 1.56, 1.83), ("alle of optdigits", 1.75, 2.59)]
        {
            assert!(poor(neighbor_ratio, random), "{map}");
        }
        for (map, neighbor_ratio, random) in [
            ("umap of MNIST", 1.20, 1.83),
            ("umap of the USPS digits", 1.21, 1.75),
            ("modified-lle of the digits", 1.47, 2.42),
            ("ltsa of oil", 1.82, 6.68),
            ("isomap of oil", 1.61, 6.68),
            ("pca of iris", 1.13, 5.33),
        ] {
            assert!(!poor(neighbor_ratio, random), "{map}");
        }
    }
}
