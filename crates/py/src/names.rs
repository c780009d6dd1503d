//! The names that Python's users type, as scikit-learn spells them.

/// The Python name of a parameter that the library names: `neighbors` is `n_neighbors`, `min-dist` is `min_dist`.
pub(crate) fn python(name: &str) -> String {
    match name {
        "dims" => "n_components",
        "neighbors" => "n_neighbors",
        "seed" => "random_state",
        "threads" => "n_jobs",
        "tolerance" => "tol",
        "max-iterations" => "max_iter",
        "regularization" => "reg",
        "exaggeration" => "early_exaggeration",
        "negatives" => "negative_sample_rate",
        "supervision" => "target_weight",
        "offset" => "coef0",
        // A word of the language.
        "lambda" => "lam",
        other => return other.replace('-', "_"),
    }
    .to_string()
}
