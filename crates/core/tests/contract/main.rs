//! The contract that every method keeps: one trial per property and method, so that no failure hides another.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod extremes;
mod metrics;
mod properties;
#[path = "../support/mod.rs"]
mod support;

use eigenfold::Method;
use libtest_mimic::{Arguments, Trial};

/// What a method must do, and the methods that it applies to.
struct Property {
    name: &'static str,
    check: fn(&Method),
    applies: fn(&Method) -> bool,
}

/// Properties by the names of their functions; `if` selects the methods that a property applies to.
macro_rules! properties {
    ($($module:ident::$check:ident $(if $applies:expr)?;)*) => {
        [$(Property {
            name: stringify!($check),
            check: $module::$check,
            applies: properties!(@applies $($applies)?),
        }),*]
    };
    (@applies) => { |_| true };
    (@applies $applies:expr) => { $applies };
}

fn main() {
    let properties = properties! {
        properties::every_row_gets_finite_coordinates_and_every_map_its_diagnostics;
        properties::the_bytes_do_not_depend_on_the_number_of_threads;
        properties::the_likelihood_is_on_one_scale;
        properties::permuting_the_points_permutes_the_rows;
        properties::rotating_the_data_changes_no_distance if properties::ignores_the_axes;
        properties::duplicates_and_constant_columns_are_harmless;
        properties::a_training_row_gets_its_own_coordinates_and_rows_do_not_see_each_other;
        properties::a_prepared_model_places_batches_as_all_rows_at_once;
        properties::a_saved_model_places_points_as_the_one_in_memory;
        properties::points_in_single_precision_give_the_same_bytes;
        properties::training_rows_are_reconstructed_within_their_intervals;
        properties::reconstruction_is_the_same_alone_on_any_number_of_threads_and_after_saving;
        properties::components_are_joined_kept_apart_or_refused_and_no_row_vanishes if |method| method.info().needs_graph;
        properties::bad_parameters_get_their_own_errors;
        properties::a_limit_on_memory_is_kept_before_anything_is_allocated if properties::holds_all_pairs;
        metrics::a_metric_gives_the_map_of_its_distances if metrics::sees_distances_alone;
        metrics::a_metric_chooses_the_neighbors if metrics::fits_patches;
        metrics::a_metric_changes_nothing_where_there_is_none if metrics::has_no_metric;
        extremes::two_points_part;
        extremes::numbers_near_the_largest_have_a_map;
        extremes::coinciding_points_have_their_outcome;
    };
    let trial = |property: &Property, method: Method| {
        let (check, name) = (property.check, method.info().name);
        let run = move || {
            check(&method);
            Ok(())
        };
        Trial::test(format!("{name}::{}", property.name), run)
    };
    // By property first, so that trials side by side do not wait for the same fit.
    let trials = properties.iter().flat_map(|property| {
        support::methods()
            .into_iter()
            .filter(property.applies)
            .map(|method| trial(property, method))
            .collect::<Vec<_>>()
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}
