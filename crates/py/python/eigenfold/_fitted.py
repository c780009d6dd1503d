"""What a fit leaves behind, by the names that scikit-learn's users know."""

from __future__ import annotations

from typing import Any

import numpy as np

LOCAL = ("lle", "ltsa", "hessian-lle", "modified-lle", "alle")
DIVERGENCE = ("sne", "symmetric-sne", "tsne")
STRESS = ("smacof", "sammon")


def attributes(method: str, model: Any, report: dict[str, Any]) -> dict[str, Any]:
    """Every fitted attribute that the method has; what is not known is left out, never invented."""
    embedding = model.embedding
    dims = embedding.shape[1]
    known: dict[str, Any] = {"embedding_": embedding, "n_iter_": report["iterations"]}
    eigenvalues = np.asarray(report["eigenvalues"][:dims], dtype=float)
    figures = dict(report["figures"])
    if len(eigenvalues):
        known["eigenvalues_"] = eigenvalues
    if method in LOCAL:
        known["reconstruction_error_"] = float(eigenvalues.sum())
    if method in DIVERGENCE:
        known["kl_divergence_"] = report["objective"]
    if method in STRESS:
        known["stress_"] = report["objective"]
        known["normalized_stress_"] = figures.get("normalized_stress")
    if report["certificate"] is not None:
        known["certificate_"] = report["certificate"]
        known["duality_gap_"] = report["certificate"]["gap"]
    if "gap" in figures:
        known["duality_gap_"] = figures["gap"]
    if report["path"]:
        known["path_"] = report["path"]
    if report["log_likelihood"] is not None:
        known["log_likelihood_"] = report["log_likelihood"]
    if method == "pca":
        mean, axes = model.axes
        known |= _axes(mean, axes, eigenvalues, report)
    if model.latent is not None:
        known |= _latent(*model.latent)
    if model.prepared is not None:
        known["center_"], known["scale_"] = model.prepared
    if model.weights is not None:
        i, j, _, weights = model.weights
        known |= {"edges_": np.column_stack([i, j]), "edge_weights_": weights}
    return known


def _axes(mean: np.ndarray, axes: np.ndarray, eigenvalues: np.ndarray, report: dict[str, Any]) -> dict[str, Any]:
    """The axes of principal components of all rows that were fitted; of the columns as they were prepared."""
    explained = report["explained"]
    return {
        "components_": axes.T,
        "mean_": mean,
        "explained_variance_": eigenvalues / (report["fitted_rows"] - 1),
        "explained_variance_ratio_": eigenvalues / explained["total"] if explained else np.zeros_like(eigenvalues),
        "singular_values_": np.sqrt(np.maximum(eigenvalues, 0)),
    }


def _latent(mean: np.ndarray, loadings: np.ndarray, noise: np.ndarray) -> dict[str, Any]:
    """x = μ + W z + ε: its mean, W transposed and the variances of ε."""
    return {"mean_": mean, "components_": loadings.T, "noise_variance_": noise}


def symmetric(edges: np.ndarray, weights: np.ndarray, n: int) -> Any:
    """The weights of pairs as a sparse symmetric matrix."""
    from scipy.sparse import coo_array

    one_way = coo_array((weights, (edges[:, 0], edges[:, 1])), shape=(n, n))
    return (one_way + one_way.T).tocsr()


def laplacian(weights: Any, diagonal: float) -> Any:
    """D - W, and a precision of every point's own."""
    from scipy.sparse import diags_array

    return (diags_array(np.asarray(weights.sum(axis=1)).ravel() + diagonal) - weights).tocsr()
