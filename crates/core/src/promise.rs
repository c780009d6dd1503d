//! What one part of the library has promised another: checked in tests, and where debug assertions are.
//!
//! The checks build the library without debug assertions, which would have the standard library check its own unsafe code in
//! every loop of ours (an eighth of the build); what is promised here they do check.

/// Panics where a promise is broken and somebody looks: `promised!(a.len() == b.len())`.
macro_rules! promised {
    ($($what:tt)*) => {
        if cfg!(any(debug_assertions, test, feature = "unit-tests")) {
            assert!($($what)*);
        }
    };
}
pub(crate) use promised;
