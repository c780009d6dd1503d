//! The measures as data: what each is called, what it says, and which way is better.
//!
//! The terminal, JSON, the page, Python and the documentation read this one table.

/// A measure of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Measure {
    /// Whether those near on the map are near in the data.
    Trustworthiness,
    /// Whether those near in the data are near on the map.
    Continuity,
    /// The share of the nearest that are the same on both sides.
    Kept,
    /// The same for neighborhoods of all sizes, less what chance would give.
    RnxAuc,
    /// How many times as far the nearest on the map are as the nearest in the data.
    Farness,
    /// How much the distances differ, in the units of the data.
    Stress,
    /// How much the distances differ once the map has the best length.
    ScaledStress,
    /// The share of the variance of the data's distances that the map's do not explain.
    ResidualVariance,
    /// The correlation of the distances.
    Pearson,
    /// The correlation of the ranks of the distances.
    Spearman,
    /// The share of the nearest on the map with the same label.
    NeighborhoodHit,
    /// The share of rows whose nearest on the map vote for their label.
    KnnAccuracy,
    /// How well the labels are apart on the map.
    Silhouette,
    /// How far off rows are that are led back from the map by the others.
    WayBackError,
    /// How much the shape of the map differs from the true one.
    Disparity,
}

/// What a measure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Group {
    /// Who is near whom.
    Neighborhoods,
    /// How far apart points are.
    Distances,
    /// Classes that are known beside the data.
    Labels,
    /// From the map to the data.
    WayBack,
    /// Coordinates that are known to be right.
    Truth,
}

impl Group {
    /// A heading in lower case.
    pub fn title(self) -> &'static str {
        match self {
            Group::Neighborhoods => "neighborhoods",
            Group::Distances => "distances",
            Group::Labels => "labels",
            Group::WayBack => "way back",
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

/// What there is to say of a measure.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Described {
    /// Which it is.
    pub measure: Measure,
    /// Its name in files.
    pub key: &'static str,
    /// Its name for people, in lower case.
    pub title: &'static str,
    /// One sentence that says what it means.
    pub explain: &'static str,
    /// What it is about.
    pub group: Group,
    /// Which values are better.
    pub better: Better,
    /// The least that it can be, if there is a least.
    pub low: Option<f64>,
    /// The most that it can be, if there is a most.
    pub high: Option<f64>,
    /// Whether it follows the number of neighbors that is asked for.
    pub of_neighbors: bool,
}

const fn of(
    measure: Measure,
    [key, title, explain]: [&'static str; 3],
    group: Group,
    better: Better,
    [low, high]: [Option<f64>; 2],
) -> Described {
    let of_neighbors = matches!(
        measure,
        Measure::Trustworthiness
            | Measure::Continuity
            | Measure::Kept
            | Measure::NeighborhoodHit
            | Measure::KnnAccuracy
    );
    Described { measure, key, title, explain, group, better, low, high, of_neighbors }
}

const ZERO: Option<f64> = Some(0.0);
const ONE: Option<f64> = Some(1.0);

/// Every measure, in the order in which they are told. Each also has a value per point.
pub const MEASURES: [Described; 15] = [
    of(
        Measure::Trustworthiness,
        [
            "trustworthiness",
            "trustworthiness",
            "How rarely the nearest points on the map are far apart in the data: 1 if neighbors on the map can all be believed.",
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
            "How rarely the nearest points in the data are torn apart on the map: 1 if no neighbor is lost.",
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
            "The share of a point's nearest in the data that are among its nearest on the map.",
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
            "The share of neighbors that are kept beyond chance, averaged over neighborhoods of all sizes, small ones counting most: 1 is perfect, 0 is chance.",
        ],
        Group::Neighborhoods,
        Better::Higher,
        [None, ONE],
    ),
    of(
        Measure::Farness,
        [
            "farness",
            "farness",
            "How many times as far in the data the ten nearest on the map are as the ten nearest that there are: 1 is perfect.",
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
            "How much the distances on the map differ from those in the data, as a share of those: 0 if all are the same.",
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
            "How much the distances differ once the whole map is stretched as suits it best: 0 if all are in proportion.",
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
            "The correlation of the ranks of the distances: 1 if longer distances in the data are longer on the map, by whatever rule.",
        ],
        Group::Distances,
        Better::Higher,
        [Some(-1.0), ONE],
    ),
    of(
        Measure::NeighborhoodHit,
        ["neighborhood_hit", "neighborhood hit", "The share of a point's nearest on the map that have its label."],
        Group::Labels,
        Better::Higher,
        [ZERO, ONE],
    ),
    of(
        Measure::KnnAccuracy,
        [
            "knn_accuracy",
            "k-NN accuracy",
            "The share of points whose label is the commonest among their nearest on the map.",
        ],
        Group::Labels,
        Better::Higher,
        [ZERO, ONE],
    ),
    of(
        Measure::Silhouette,
        [
            "silhouette",
            "silhouette of the labels",
            "How much nearer on the map points are to their own label than to the next one: 1 is far apart, 0 overlapping, below 0 mixed up.",
        ],
        Group::Labels,
        Better::Higher,
        [Some(-1.0), ONE],
    ),
    of(
        Measure::WayBackError,
        [
            "way_back_error",
            "error of the way back",
            "How far off a row of data is that is predicted from its place on the map by the other rows: 0 is exact, 1 no better than the mean.",
        ],
        Group::WayBack,
        Better::Lower,
        [ZERO, ONE],
    ),
    of(
        Measure::Disparity,
        [
            "disparity",
            "disparity to the truth",
            "How much the shape of the map differs from the true coordinates, whatever its turn and length: 0 is the same shape.",
        ],
        Group::Truth,
        Better::Lower,
        [ZERO, ONE],
    ),
];

impl Measure {
    /// What there is to say of it.
    pub fn described(self) -> &'static Described {
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
