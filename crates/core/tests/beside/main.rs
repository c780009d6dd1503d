//! Tests on data beside the project, which are too large or not free enough to be kept here: in the directory that the
//! environment variable EIGENFOLD_SHARED names, or in `shared` next to the workspace. A test whose files are absent is shown
//! as ignored.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod claims;
mod dimension;
mod lawrence_2012;
mod reference;
#[path = "../support/mod.rs"]
mod support;

use libtest_mimic::{Arguments, Trial};

const COIL: &str = "data/coil20/data_32x32.npy";
const FACES: &str = "data/isomap_faces_32x32/data.npy";
const OIL: &str = "data/oil/data.csv";
const OSU_RUN1: &str = "data/osu_run1/data.csv";
const ROBOT_WIRELESS: &str = "data/robot_wireless/data.csv";
const UNFOLDED_RUN: &str = "data/osu_run1/reference_embeddings/talk_figure_MVU.csv";
const USPS_SIX: &str = "data/usps_six/data.csv";
const DRILL: &str = "gold/drill_T_digits_50_knn6_0.csv";
const IRIS_COORDINATES: &str = "gold/ppco_iris_uci_psi.csv";
const LIKELIHOODS: [&str; 4] = [
    "gold/gplvm_iris150_PCA2_X.csv",
    "gold/gplvm_iris150_PCA2_Y.csv",
    "gold/gplvm_digits100_PCA2_X.csv",
    "gold/gplvm_digits100_PCA2_Y.csv",
];

/// Trials by the names of their functions, each with the files that it reads.
macro_rules! trials {
    ($($module:ident::$check:ident($files:expr);)*) => {
        vec![$(trial(stringify!($check), $module::$check, &$files)),*]
    };
}

fn trial(name: &str, check: fn(), files: &[&str]) -> Trial {
    let present = files.iter().all(|file| support::is_shared(file));
    let run = move || {
        check();
        Ok(())
    };
    Trial::test(name, run).with_ignored_flag(!present)
}

fn main() {
    let trials = trials! {
        claims::z03_iris_has_the_coordinates_of_the_reference([IRIS_COORDINATES]);
        claims::z03_table_2_of_the_oil_flow([OIL]);
        claims::e09_new_images_land_between_their_neighbors_and_are_reconstructed([COIL]);
        dimension::rendered_faces_are_taken_for_four_dimensions_with_a_caveat([FACES]);
        dimension::even_steps_on_a_turntable_are_flagged([COIL]);
        dimension::oil_flow_has_two_dimensions_below_its_noise([OIL]);
        lawrence_2012::l13_the_six_of_the_paper_traces_a_circle([USPS_SIX]);
        lawrence_2012::l14_motion_capture_has_the_authors_scores([OSU_RUN1]);
        lawrence_2012::l14_motion_capture_like_for_like([OSU_RUN1]);
        lawrence_2012::l15_robot_wifi_has_the_authors_scores([ROBOT_WIRELESS]);
        lawrence_2012::l16_drills_score_peaks_at_an_inner_penalty([OSU_RUN1]);
        reference::drill_of_digits_has_the_optima_of_the_reference([DRILL]);
        reference::digits_and_iris_have_the_likelihoods_of_the_reference_files(LIKELIHOODS);
        reference::lawrences_data_have_the_known_variances([OSU_RUN1, ROBOT_WIRELESS, UNFOLDED_RUN]);
    };
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
