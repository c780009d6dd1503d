//! The fitted edges of a method whose field has one multiplier for each, or the affinities that a method learned.

/// An edge of the neighborhood graph, or any other pair of points, and what the method made of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight {
    /// One end, a row of the input counted from 0.
    pub i: u32,
    /// The other end, `j > i`.
    pub j: u32,
    /// The length of the edge in the graph; of learned affinities the distance on the map.
    pub distance: f64,
    /// The multiplier λ, what the edge adds to the precision: zero for a slack edge; or the learned affinity.
    pub weight: f64,
}
