//! The table of quality measures: name, meaning and direction.
//!
//! The terminal, JSON, the page, Python and the documentation all use this table.

/// A measure of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Measure {
    /// Whether neighbors on the map are neighbors in the data.
    Trustworthiness,
    /// Whether neighbors in the data are neighbors on the map.
    Continuity,
    /// The share of neighbors that are preserved.
    Kept,
    /// The same for neighborhoods of all sizes, corrected for chance.
    RnxAuc,
    /// The neighbor distance ratio: how much farther away in the data the neighbors on the map are than the true
    /// neighbors.
    NeighborRatio,
    /// How much the distances differ, in the units of the data.
    Stress,
    /// How much the distances differ after optimal scaling of the map.
    ScaledStress,
    /// The share of the variance of the data's distances that the map's distances do not explain.
    ResidualVariance,
    /// The correlation of the distances.
    Pearson,
    /// The correlation of the ranks of the distances.
    Spearman,
    /// The share of neighbors on the map with the same label.
    NeighborhoodHit,
    /// The accuracy of a k-NN classifier on the map.
    KnnAccuracy,
    /// How well the labels are separated on the map.
    Silhouette,
    /// The reconstruction error of rows, from the map and the other rows.
    ReconstructionError,
    /// How much the shape of the map differs from the true one.
    Disparity,
}

/// The group of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Group {
    /// Neighborhoods.
    Neighborhoods,
    /// Distances.
    Distances,
    /// Known classes.
    Labels,
    /// The inverse transform.
    InverseTransform,
    /// Known true coordinates.
    Truth,
}

impl Group {
    /// A heading in lower case.
    pub fn title(self) -> &'static str {
        match self {
            Group::Neighborhoods => "neighborhoods",
            Group::Distances => "distances",
            Group::Labels => "labels",
            Group::InverseTransform => "inverse transform",
            Group::Truth => "truth",
        }
    }
}

/// Which values of a measure are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Large ones.
    Higher,
    /// Small ones.
    Lower,
}

impl Better {
    /// One lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            Better::Higher => "higher",
            Better::Lower => "lower",
        }
    }
}

/// The description of a measure.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MeasureInfo {
    /// The measure.
    pub measure: Measure,
    /// Its name in files.
    pub key: &'static str,
    /// Its name for people, in lower case.
    pub title: &'static str,
    /// One sentence on its meaning.
    pub explain: &'static str,
    /// Its group.
    pub group: Group,
    /// Which values are better.
    pub better: Better,
    /// Its minimum, if there is one.
    pub low: Option<f64>,
    /// Its maximum, if there is one.
    pub high: Option<f64>,
    /// Whether it depends on the number of neighbors.
    pub of_neighbors: bool,
}

const fn of(
    measure: Measure,
    [key, title, explain]: [&'static str; 3],
    group: Group,
    better: Better,
    [low, high]: [Option<f64>; 2],
) -> MeasureInfo {
    let of_neighbors = matches!(
        measure,
        Measure::Trustworthiness
            | Measure::Continuity
            | Measure::Kept
            | Measure::NeighborhoodHit
            | Measure::KnnAccuracy
    );
    MeasureInfo { measure, key, title, explain, group, better, low, high, of_neighbors }
}

const ZERO: Option<f64> = Some(0.0);
const ONE: Option<f64> = Some(1.0);

/// Every measure, in the order of the report. Each also has a value per point.
pub const MEASURES: [MeasureInfo; 15] = [
    of(
        Measure::Trustworthiness,
        [
            "trustworthiness",
            "trustworthiness",
            "Whether neighbors on the map are neighbors in the data: 1 if there are no false neighbors.",
        ],
        Group::Neighborhoods,
        Better::Higher,
        [ZERO, ONE],
    ),
    of(
        Measure::Continuity,
        [
            "continuity",
            "continuity",
            "Whether neighbors in the data stay neighbors on the map: 1 if no neighbor is lost.",
        ],
        Group::Neighborhoods,
        Better::Higher,
        [ZERO, ONE],
    ),
    of(
        Measure::Kept,
        [
            "neighbors_kept",
            "neighbors kept",
            "The share of a point's nearest neighbors in the data that are also nearest neighbors on the map.",
        ],
        Group::Neighborhoods,
        Better::Higher,
        [ZERO, ONE],
    ),
    of(
        Measure::RnxAuc,
        [
            "rnx_auc",
            "neighbors kept at all sizes",
            "The share of neighbors kept, averaged over neighborhoods of all sizes, with most weight on small ones: 1 is perfect, 0 is a random embedding.",
        ],
        Group::Neighborhoods,
        Better::Higher,
        [None, ONE],
    ),
    of(
        Measure::NeighborRatio,
        [
            "neighbor_ratio",
            "neighbor distance ratio",
            "The mean distance in the data to the ten nearest neighbors on the map, relative to the ten true nearest neighbors: 1 is perfect.",
        ],
        Group::Neighborhoods,
        Better::Lower,
        [ONE, None],
    ),
    of(
        Measure::Stress,
        [
            "stress",
            "stress",
            "How much the distances on the map differ from those in the data, relative to the latter: 0 if all are equal.",
        ],
        Group::Distances,
        Better::Lower,
        [ZERO, None],
    ),
    of(
        Measure::ScaledStress,
        [
            "scaled_stress",
            "stress at the best scale",
            "How much the distances differ after optimal scaling of the map: 0 if all are in proportion.",
        ],
        Group::Distances,
        Better::Lower,
        [ZERO, ONE],
    ),
    of(
        Measure::ResidualVariance,
        [
            "residual_variance",
            "residual variance",
            "The share of the variance of the distances in the data that those on the map leave unexplained.",
        ],
        Group::Distances,
        Better::Lower,
        [ZERO, ONE],
    ),
    of(
        Measure::Pearson,
        ["pearson", "correlation of distances", "The correlation of the distances in the data with those on the map."],
        Group::Distances,
        Better::Higher,
        [Some(-1.0), ONE],
    ),
    of(
        Measure::Spearman,
        [
            "spearman",
            "correlation of ranks",
            "The rank correlation of the distances: 1 if the order of the distances is preserved.",
        ],
        Group::Distances,
        Better::Higher,
        [Some(-1.0), ONE],
    ),
    of(
        Measure::NeighborhoodHit,
        [
            "neighborhood_hit",
            "neighborhood hit",
            "The share of a point's nearest neighbors on the map that have its label.",
        ],
        Group::Labels,
        Better::Higher,
        [ZERO, ONE],
    ),
    of(
        Measure::KnnAccuracy,
        ["knn_accuracy", "k-NN accuracy", "The accuracy of a k-nearest-neighbor classifier on the map."],
        Group::Labels,
        Better::Higher,
        [ZERO, ONE],
    ),
    of(
        Measure::Silhouette,
        [
            "silhouette",
            "silhouette of the labels",
            "How much closer on the map points are to their own label than to the next one: 1 is well separated, 0 overlapping, below 0 mixed.",
        ],
        Group::Labels,
        Better::Higher,
        [Some(-1.0), ONE],
    ),
    of(
        Measure::ReconstructionError,
        [
            "reconstruction_error",
            "reconstruction error",
            "The error of a data row that is reconstructed from its embedding point by the other rows: 0 is exact, 1 no better than the mean.",
        ],
        Group::InverseTransform,
        Better::Lower,
        [ZERO, ONE],
    ),
    of(
        Measure::Disparity,
        [
            "disparity",
            "disparity to the true coordinates",
            "How much the map differs from the true coordinates after Procrustes alignment: 0 is the same shape.",
        ],
        Group::Truth,
        Better::Lower,
        [ZERO, ONE],
    ),
];

impl Measure {
    /// Its description.
    pub fn described(self) -> &'static MeasureInfo {
        &MEASURES[self as usize]
    }

    /// Its name in files.
    pub fn key(self) -> &'static str {
        self.described().key
    }

    /// The measure of this name in files.
    pub fn named(key: &str) -> Option<Measure> {
        MEASURES.iter().find(|described| described.key == key).map(|described| described.measure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_measures() {
        for (at, described) in MEASURES.iter().enumerate() {
            assert_eq!((described.measure as usize, described.measure.described()), (at, described));
            assert_eq!(Measure::named(described.key), Some(described.measure));
            assert!(described.explain.ends_with('.') && described.explain.matches(". ").count() == 0, "one sentence");
        }
        assert_eq!(Measure::named("beauty"), None);
    }
}
