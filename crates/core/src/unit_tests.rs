//! The list of unit tests that are part of the library (feature `unit-tests`), for the program `tests/unit.rs` that runs them.

/// One test; `eigenfold_unit_test::test` enters it.
#[derive(Debug)]
pub struct UnitTest {
    /// Its path in the library.
    pub name: &'static str,
    /// Panics where the test fails.
    pub run: fn(),
}

inventory::collect!(UnitTest);

/// All that were entered, by name.
pub fn all() -> Vec<&'static UnitTest> {
    let mut tests: Vec<_> = inventory::iter::<UnitTest>.into_iter().collect();
    tests.sort_by_key(|test| test.name);
    tests
}
