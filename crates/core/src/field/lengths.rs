//! How the results of a method scale with the unit of the data.

/// The powers of the unit of length in the results of a method: data c times as large have results c to this power
/// times as large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    /// Of the coordinates.
    pub map: i32,
    /// Of the eigenvalues, and of a noise variance.
    pub eigenvalues: i32,
    /// Of the covariance K of the field, where that is not the square of the coordinates'.
    pub field: i32,
    /// Of the value of an objective.
    pub objective: i32,
    /// Whether the objective is a negative log density per cell of the data.
    pub density: bool,
    /// Of the weights of edges.
    pub weights: i32,
    /// Of the strength λ of a repulsion.
    pub strength: i32,
}

impl Lengths {
    /// Coordinates without a unit.
    pub const NONE: Lengths =
        Lengths { map: 0, eigenvalues: 0, field: 0, objective: 0, density: false, weights: 0, strength: 0 };
    /// Coordinates in the unit of the data, and their variances.
    pub const COVARIANCE: Lengths = Lengths { map: 1, eigenvalues: 2, field: 2, ..Lengths::NONE };
    /// Coordinates in the unit of the data by a precision.
    pub const PRECISION: Lengths = Lengths { map: 1, eigenvalues: -2, field: 2, weights: -2, ..Lengths::NONE };
}
