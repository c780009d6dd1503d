"""What the docstring of each class shows beside its parameters: its full name, related classes, and an example that fits the method."""

from __future__ import annotations

TITLES = {
    "PCA": "Principal component analysis (PCA)",
    "ClassicalMDS": "Classical multidimensional scaling, also called principal coordinate analysis",
    "KernelPCA": "Kernel principal component analysis",
    "Isomap": "Isomap, isometric mapping by shortest paths on the neighborhood graph",
    "LocallyLinearEmbedding": "Locally linear embedding (LLE) and its variants: modified, Hessian, LTSA, acyclic",
    "LaplacianEigenmaps": "Laplacian eigenmaps, also called spectral embedding",
    "DiffusionMaps": "Diffusion maps",
    "MVU": "Maximum variance unfolding (MVU), also called semidefinite embedding",
    "MEU": "Maximum entropy unfolding (MEU)",
    "Drill": "DRILL, a sparse Gaussian Markov random field over the points with a learned graph",
    "PPCA": "Probabilistic principal component analysis (PPCA), with missing values",
    "FactorAnalysis": "Factor analysis, with missing values",
    "PPCO": "Probabilistic principal coordinate analysis (PPCO)",
    "PKPCA": "Probabilistic kernel principal component analysis (PKPCA)",
    "GPLVM": "Gaussian process latent variable model (GP-LVM)",
    "ElasticEmbedding": "Elastic embedding",
    "SNE": "Stochastic neighbor embedding (SNE)",
    "SymmetricSNE": "Symmetric stochastic neighbor embedding, and UNI-SNE",
    "TSNE": "T-distributed stochastic neighbor embedding (t-SNE)",
    "UMAP": "Uniform manifold approximation and projection (UMAP)",
    "Sammon": "Sammon mapping",
    "MDS": "Multidimensional scaling by stress majorization (SMACOF), metric or nonmetric",
}

# What a class is for, in the words of the sections "See Also".
_FOR = {
    "PCA": "A linear embedding by the directions of largest variance.",
    "ClassicalMDS": "A linear embedding of distances.",
    "KernelPCA": "PCA in the feature space of a kernel.",
    "Isomap": "A manifold by its shortest paths.",
    "LocallyLinearEmbedding": "A manifold by local linear fits.",
    "LaplacianEigenmaps": "The smoothest functions on the neighborhood graph.",
    "DiffusionMaps": "The distances of a random walk.",
    "MVU": "A manifold with exact distances between neighbors.",
    "MEU": "A maximum entropy model of the distances between neighbors.",
    "Drill": "A model that learns the neighborhood graph.",
    "PPCA": "PCA as a model with noise, for missing values.",
    "FactorAnalysis": "A linear model with a noise variance per feature, for missing values.",
    "PPCO": "Classical scaling as a model with noise.",
    "PKPCA": "Kernel PCA as a model with noise.",
    "GPLVM": "A nonlinear latent variable model.",
    "ElasticEmbedding": "Attraction of neighbors and repulsion of all points.",
    "SNE": "Stochastic neighbor embedding.",
    "SymmetricSNE": "SNE with one distribution over all pairs.",
    "TSNE": "A picture of groups and neighborhoods.",
    "UMAP": "A picture of groups and neighborhoods of many points.",
    "Sammon": "An embedding of distances with more weight on short ones.",
    "MDS": "An embedding of distances by least squares.",
}
_RELATED = {
    "PCA": ("PPCA", "FactorAnalysis", "KernelPCA"),
    "ClassicalMDS": ("MDS", "PPCO", "Isomap"),
    "KernelPCA": ("PCA", "PKPCA"),
    "Isomap": ("LocallyLinearEmbedding", "MVU", "ClassicalMDS"),
    "LocallyLinearEmbedding": ("Isomap", "LaplacianEigenmaps"),
    "LaplacianEigenmaps": ("DiffusionMaps", "UMAP", "LocallyLinearEmbedding"),
    "DiffusionMaps": ("LaplacianEigenmaps", "Isomap"),
    "MVU": ("Isomap", "MEU"),
    "MEU": ("MVU", "Drill", "LaplacianEigenmaps"),
    "Drill": ("MEU", "LaplacianEigenmaps"),
    "PPCA": ("FactorAnalysis", "PCA", "GPLVM"),
    "FactorAnalysis": ("PPCA", "PCA"),
    "PPCO": ("ClassicalMDS", "PKPCA"),
    "PKPCA": ("KernelPCA", "PPCO"),
    "GPLVM": ("PPCA", "PCA"),
    "ElasticEmbedding": ("SymmetricSNE", "LaplacianEigenmaps"),
    "SNE": ("SymmetricSNE", "TSNE"),
    "SymmetricSNE": ("TSNE", "SNE"),
    "TSNE": ("UMAP", "SymmetricSNE"),
    "UMAP": ("TSNE", "LaplacianEigenmaps"),
    "Sammon": ("MDS", "ClassicalMDS"),
    "MDS": ("ClassicalMDS", "Sammon"),
}
SEE_ALSO = {name: [f"{other} : {_FOR[other]}" for other in others] for name, others in _RELATED.items()}

EXAMPLES = {
    "PCA": """
Two axes have nearly all variance of the four measurements of iris flowers:

>>> from eigenfold import PCA, datasets
>>> pca = PCA(n_components=2).fit(datasets.load("iris").data)
>>> pca.explained_variance_ratio_.round(2).tolist()
[0.92, 0.05]
""",
    "ClassicalMDS": """
The distances between the corners of a rectangle give the rectangle:

>>> import numpy as np
>>> from eigenfold import ClassicalMDS
>>> distances = np.array([[0, 4, 5, 3], [4, 0, 3, 5], [5, 3, 0, 4], [3, 5, 4, 0]])
>>> Y = ClassicalMDS(n_components=2, metric="precomputed").fit_transform(distances)
>>> abs(Y).round(3).tolist()
[[2.0, 1.5], [2.0, 1.5], [2.0, 1.5], [2.0, 1.5]]
""",
    "KernelPCA": """
A Gaussian kernel separates two rings, which no linear coordinate does:

>>> import numpy as np
>>> from eigenfold import KernelPCA
>>> angles = np.linspace(0, 2 * np.pi, 50, endpoint=False)
>>> ring = np.column_stack([np.cos(angles), np.sin(angles)])
>>> X = np.vstack([3 * ring, 0.5 * ring])
>>> Y = KernelPCA(n_components=2, kernel="rbf", gamma=0.5).fit_transform(X)
>>> bool(Y[:50, 0].min() > 0 > Y[50:, 0].max())
True
""",
    "Isomap": """
A Swiss roll is unrolled to its true coordinates, up to a rotation and a shift:

>>> from eigenfold import Isomap, datasets, quality
>>> roll = datasets.make("swiss-roll", n=800)
>>> isomap = Isomap(n_neighbors=8).fit(roll.data)
>>> quality(roll.data, isomap.embedding_, truth=roll.truth)["disparity"] < 0.01
True
>>> isomap.transform(roll.data[:3] + 0.01).shape
(3, 2)
""",
    "LocallyLinearEmbedding": """
Local tangent space alignment finds the position along an S-curve:

>>> import numpy as np
>>> from eigenfold import LocallyLinearEmbedding, datasets
>>> curve = datasets.make("s-curve", n=300)
>>> Y = LocallyLinearEmbedding(n_neighbors=12, method="ltsa").fit_transform(curve.data)
>>> bool(abs(np.corrcoef(Y[:, 0], curve.target)[0, 1]) > 0.999)
True
""",
    "LaplacianEigenmaps": """
Points along a ring in space get the coordinates of a circle:

>>> import numpy as np
>>> from eigenfold import LaplacianEigenmaps, datasets
>>> Y = LaplacianEigenmaps(n_neighbors=8).fit_transform(datasets.make("ring", n=300).data)
>>> radii = np.hypot(Y[:, 0], Y[:, 1])
>>> bool(radii.std() / radii.mean() < 0.1)
True
""",
    "DiffusionMaps": """
The first coordinate orders the points of a spiral by their position along it:

>>> import numpy as np
>>> from eigenfold import DiffusionMaps, datasets
>>> spiral = datasets.make("spiral", n=300)
>>> Y = DiffusionMaps(n_components=1, n_neighbors=8).fit_transform(spiral.data)
>>> ranks = Y[:, 0].argsort().argsort()
>>> bool(abs(np.corrcoef(ranks, spiral.target)[0, 1]) > 0.99)
True
""",
    "MVU": """
The certificate bounds how much more variance any embedding with these distances between neighbors can have:

>>> from eigenfold import MVU, datasets
>>> mvu = MVU(n_neighbors=6).fit(datasets.make("s-curve", n=100).data)
>>> mvu.certificate_["confirmed"], mvu.duality_gap_ < 0.001
(True, True)
""",
    "MEU": """
The fitted model is a Gaussian over the points with a sparse precision matrix:

>>> from eigenfold import MEU, datasets
>>> meu = MEU(n_neighbors=8).fit(datasets.make("s-curve", n=100).data)
>>> meu.precision_.shape, meu.edges_.shape
((100, 100), (472, 2))
""",
    "Drill": """
The penalty removes candidate edges from the graph:

>>> from eigenfold import Drill, datasets
>>> drill = Drill(penalty=0.1).fit(datasets.make("s-curve", n=100).data)
>>> figures = dict(drill.report_["figures"])
>>> figures["active_edges"] < figures["edges"]
True
""",
    "PPCA": """
Missing cells are integrated out, and a row with more of them has a larger posterior standard deviation:

>>> import numpy as np
>>> from eigenfold import PPCA, datasets
>>> X = datasets.load("iris").data.copy()
>>> X[::7, 2] = np.nan
>>> ppca = PPCA(n_components=2, missing="model").fit(X)
>>> Y, std = ppca.transform([[5.1, 3.5, 1.4, 0.2], [5.1, 3.5, np.nan, np.nan]], return_std=True)
>>> bool((std[1] > std[0]).all())
True
""",
    "FactorAnalysis": """
Every feature has its own noise variance:

>>> import numpy as np
>>> from eigenfold import FactorAnalysis
>>> rng = np.random.default_rng(0)
>>> noise = np.array([0.1, 0.1, 0.1, 2.0])
>>> X = rng.normal(size=(500, 1)) @ np.ones((1, 4)) + noise * rng.normal(size=(500, 4))
>>> fa = FactorAnalysis(n_components=1).fit(X)
>>> int(fa.noise_variance_.argmax())
3
""",
    "PPCO": """
Principal coordinates of a matrix of distances D, given as the kernel matrix -H D² H / 2, with an estimate of the noise:

>>> import numpy as np
>>> from eigenfold import PPCO, datasets
>>> X = datasets.load("iris").data[::3]
>>> squared = ((X[:, None] - X) ** 2).sum(axis=2)
>>> H = np.eye(50) - 1 / 50
>>> ppco = PPCO(n_components=2, kernel="precomputed").fit(-H @ squared @ H / 2)
>>> print(f"{dict(ppco.report_['figures'])['noise']:.3f}")
0.092
""",
    "PKPCA": """
The embedding of kernel PCA as a model with noise:

>>> from eigenfold import PKPCA, datasets
>>> pkpca = PKPCA(n_components=2, kernel="rbf", gamma=0.25).fit(datasets.load("iris").data)
>>> print(f"{dict(pkpca.report_['figures'])['noise']:.4f}")
0.0011
""",
    "GPLVM": """
Every point of the embedding has a distribution of data rows:

>>> from eigenfold import GPLVM, datasets
>>> gplvm = GPLVM(n_components=2).fit(datasets.load("iris").data[::3])
>>> rows, std = gplvm.inverse_transform([[0.0, 0.0]], return_std=True)
>>> rows.shape, std.shape
((1, 4), (1, 4))
""",
    "ElasticEmbedding": """
Five clusters in ten dimensions, with as many neighbors as connect them:

>>> from eigenfold import ElasticEmbedding, datasets, quality
>>> blobs = datasets.make("blobs", n=100)
>>> Y = ElasticEmbedding(n_neighbors=25).fit_transform(blobs.data)
>>> quality(blobs.data, Y, blobs.target)["knn_accuracy"]
1.0
""",
    "SNE": """
The perplexity is the effective number of neighbors:

>>> from eigenfold import SNE, datasets
>>> sne = SNE(perplexity=10).fit(datasets.load("iris").data)
>>> sne.embedding_.shape, sne.kl_divergence_ > 0
((150, 2), True)
""",
    "SymmetricSNE": """
UNI-SNE mixes the affinities of the embedding with a uniform distribution:

>>> from eigenfold import SymmetricSNE, datasets
>>> uni_sne = SymmetricSNE(perplexity=30, uniform=0.1).fit(datasets.load("iris").data)
>>> print(f"{uni_sne.kl_divergence_:.2f}")
0.29
""",
    "TSNE": """
Handwritten digits of one kind are neighbors:

>>> from eigenfold import TSNE, datasets, quality
>>> X, y, *_ = datasets.load("digits")
>>> tsne = TSNE(perplexity=30).fit(X[:500])
>>> quality(X[:500], tsne.embedding_, y[:500])["knn_accuracy"] > 0.9
True
>>> tsne.transform(X[500:510]).shape
(10, 2)
""",
    "UMAP": """
Texts as word counts are compared by the cosine distance, which ignores the length of a text:

>>> import numpy as np
>>> from eigenfold import UMAP
>>> rng = np.random.default_rng(0)
>>> words = rng.dirichlet(np.full(50, 0.3), size=3)  # the words of three topics
>>> topics = rng.dirichlet(np.full(3, 0.3), size=200)  # the topics of 200 texts
>>> counts = rng.poisson(rng.integers(50, 500, size=(200, 1)) * topics @ words)
>>> umap = UMAP(n_neighbors=15, metric="cosine").fit(counts)
>>> umap.embedding_.shape
(200, 2)
""",
    "Sammon": """
Sammon's stress of a sphere in the plane:

>>> from eigenfold import Sammon, datasets
>>> sammon = Sammon(n_components=2).fit(datasets.make("sphere", n=100).data)
>>> print(f"{sammon.stress_:.3f}")
0.052
""",
    "MDS": """
Nonmetric scaling uses the order of the dissimilarities alone; their cube has the same order:

>>> import numpy as np
>>> from eigenfold import MDS, datasets
>>> X = datasets.load("iris").data[::5]
>>> distances = np.linalg.norm(X[:, None] - X, axis=2)
>>> mds = MDS(metric="precomputed", metric_mds=False).fit(distances**3)
>>> print(f"{mds.normalized_stress_:.3f}")
0.012
""",
}
