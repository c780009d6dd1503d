//! Shared by the kernel methods: the kernel's parameters, and the distances in its feature space.

use crate::field::scaling::centered::Centered;
use crate::field::shown;
use crate::kernel::mercer::Kernel;
use eigenfold_graph::points::Points;
use eigenfold_linalg::error::{Error, Result};
use eigenfold_linalg::progress::Observer;

/// The points of a kernel's feature space, by their centered inner products H K H.
pub(crate) struct FeatureSpace {
    /// The kernel with every parameter chosen.
    pub(crate) kernel: Kernel,
    /// H K H.
    pub(crate) centered: Centered,
}

impl FeatureSpace {
    /// All pairs of points.
    ///
    /// # Errors
    ///
    /// If a parameter cannot be chosen, values overflow, or the observer stops the run.
    pub(crate) fn of(kernel: Kernel, points: &Points, observer: &dyn Observer) -> Result<FeatureSpace> {
        let kernel = kernel.resolve(points)?;
        let centered = match kernel {
            Kernel::Gaussian { bandwidth: Some(b) } => {
                // exp(−s) for s = d² / 2σ², and 2 − 2 k the squared distance.
                let square = |s: f64| 2.0 - 2.0 * (-s).exp();
                Centered::from_euclidean(points, b * std::f64::consts::SQRT_2, 1.0, square, observer)?
            }
            _ => Centered::from_squares(points.rows(), |i, j| kernel.square(points.row(i), points.row(j)), observer)?,
        };
        if !centered.grand_mean().is_finite() {
            return Err(overflow());
        }
        Ok(FeatureSpace { kernel, centered })
    }
}

/// The error for a kernel whose values are not finite.
pub(crate) fn overflow() -> Error {
    Error::parameter("scale", "the kernel's values overflow", "use a smaller `scale` or `degree`")
}

/// Parameters with the default `auto`, as they were chosen.
pub(crate) fn chosen_of(kernel: Kernel) -> Vec<(&'static str, String)> {
    match kernel {
        Kernel::Gaussian { bandwidth: Some(b) } => vec![("bandwidth", shown(b))],
        Kernel::Sigmoid { scale: Some(s), .. } => vec![("scale", shown(s))],
        _ => Vec::new(),
    }
}

/// The names of the kernel's parameters, which are unused if similarities are given.
pub(crate) fn names_of(kernel: Kernel) -> &'static [&'static str] {
    match kernel {
        Kernel::Linear | Kernel::Cosine => &["kernel"],
        Kernel::Gaussian { .. } => &["kernel", "bandwidth"],
        Kernel::Polynomial { .. } => &["kernel", "degree", "offset", "scale"],
        Kernel::Sigmoid { .. } => &["kernel", "offset", "scale"],
    }
}

/// The parameter table of a method with a field `kernel`: the rows of the kernel, then those of the method. [`Kind`]
/// and [`Parameter`] are in scope where it is used.
///
/// [`Kind`]: crate::parameter::Kind
/// [`Parameter`]: crate::parameter::Parameter
macro_rules! kernel_rows {
    (@of $variant:ident, $name:ident) => {
        $crate::parameter::Access {
            get: |method: &Self| match &method.kernel {
                $crate::kernel::mercer::Kernel::$variant { $name, .. } => Some($crate::parameter::FieldValue::value($name)),
                _ => None,
            },
            set: |method: &mut Self, value| {
                if let $crate::kernel::mercer::Kernel::$variant { $name, .. } = &mut method.kernel {
                    *$name = $crate::parameter::FieldValue::from_value(value)?;
                }
                Ok(())
            },
        }
    };
    ($($own:expr),* $(,)?) => {{
        use $crate::field::scaling::feature_space::{OFFSET, SCALE, kernel_rows};
        &[
            Parameter::new(
                "kernel",
                "the inner product in the feature space",
                Kind::Choice($crate::kernel::mercer::Kernel::NAMES),
                $crate::parameter::field!(kernel),
            ),
            Parameter::new("bandwidth", "sigma of the Gaussian kernel", Kind::positive(), kernel_rows!(@of Gaussian, bandwidth))
                .auto("the root mean square distance from the mean")
                .with("kernel", &["gaussian"]),
            Parameter::new("degree", "the degree of the polynomial", Kind::count(1, 20), kernel_rows!(@of Polynomial, degree))
                .with("kernel", &["polynomial"]),
            Parameter::new("offset", OFFSET, Kind::number(-1e150, 1e150), kernel_rows!(@of Polynomial, offset))
                .with("kernel", &["polynomial"]),
            Parameter::new("offset", OFFSET, Kind::number(-1e150, 1e150), kernel_rows!(@of Sigmoid, offset))
                .with("kernel", &["sigmoid"]),
            Parameter::new("scale", SCALE, Kind::positive(), kernel_rows!(@of Polynomial, scale))
                .with("kernel", &["polynomial"]),
            Parameter::new("scale", SCALE, Kind::positive(), kernel_rows!(@of Sigmoid, scale))
                .auto("1 / the mean squared norm")
                .with("kernel", &["sigmoid"]),
            $($own),*
        ]
    }};
}
pub(crate) use kernel_rows;

pub(crate) const OFFSET: &str = "the offset added to the scaled inner product";
pub(crate) const SCALE: &str = "the factor of the inner product";
