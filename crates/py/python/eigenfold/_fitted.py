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
        known |= _axes(model, embedding, eigenvalues)
    if model.latent is not None:
        known |= _latent(*model.latent)
    if model.prepared is not None:
        known["center_"], known["scale_"] = model.prepared
    if model.weights is not None:
        i, j, _, weights = model.weights
        known |= {"edges_": np.column_stack([i, j]), "edge_weights_": weights}
    return known


def _axes(model: Any, embedding: np.ndarray, eigenvalues: np.ndarray) -> dict[str, Any]:
    """The axes of principal components: Xᵀ Y / λ, since Y = X V; of the columns as they were prepared."""
    points = model.seen
    mean = points.mean(axis=0)
    centered = points - mean
    with np.errstate(divide="ignore", invalid="ignore"):
        axes = np.nan_to_num(embedding.T @ centered / eigenvalues[:, None])
    variances = eigenvalues / (len(embedding) - 1)
    total = centered.var(axis=0, ddof=1).sum()
    return {
        "components_": axes,
        "mean_": mean,
        "explained_variance_": variances,
        "explained_variance_ratio_": variances / total if total > 0 else np.zeros_like(variances),
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
