"""Convex clustering: every sample has a center of its own, and a price makes them one.

    minimise over U   ½ Σ ‖x_i - u_i‖² + λ Σ_{i<j} ‖u_i - u_j‖

At λ = 0 each sample is its own cluster; as λ grows centers meet, and meet for good (Hocking et al.
2011): one path, no starts to choose, and every point on it certified. The multipliers V_ij are
forces of at most λ between two centers: those of one cluster are held together by forces below λ.
The last merger has a closed form for two clusters that are far apart: the centers, as two balls of
n₁ and n₂ samples, move towards each other at the speed of the other's size, and meet at

    λ = ‖mean₁ - mean₂‖ / n.

Run `python examples/unsupervised/clusters_that_merge.py paths.png` for the picture.
"""

from __future__ import annotations

import sys

import numpy as np

import convexml as cml

SIZES = (9, 6)


def samples() -> np.ndarray:
    """Two groups, far apart."""
    rng = np.random.default_rng(0)
    centers = ([0.0, 0.0], [6.0, 2.0])
    groups = zip(centers, SIZES, strict=True)
    return np.vstack([rng.normal(size=(n, 2)) * 0.4 + center for center, n in groups])


def draw(path: str, X: np.ndarray, solutions: list) -> None:
    """The way of each center."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    ways = np.array([solution.primal["U"] for solution in solutions])
    axes.plot(ways[:, :, 0], ways[:, :, 1], color="0.6", linewidth=1.0)
    axes.plot(*X.T, "o", markersize=4)
    axes.plot(*X.mean(axis=0), "k*", markersize=9)
    axes.set_title("samples, the ways of their centers, and where they all meet")
    figure.savefig(path, dpi=150)


def main(picture: str | None = None) -> tuple[tuple, tuple]:
    X = samples()
    n, first = len(X), SIZES[0]
    means = X[:first].mean(axis=0), X[first:].mean(axis=0)
    last = np.linalg.norm(means[0] - means[1]) / n
    lams = last * np.array([0.02, 0.1, 0.2, 0.4, 0.6, 0.8, 0.999, 1.001])
    path = cml.ConvexClustering(X, lams[0]).path(lams, tol=1e-9)

    print(f"{'lam':>8}{'clusters':>10}{'certified gap':>16}")
    for lam, count, solution in zip(lams, path.counts, path, strict=True):
        print(f"{lam:>8.4f}{count:>10}{solution.relative_gap:>16.1e}")
    print(f"\nclusters only merge as lam grows: {path.is_tree}")
    print(f"the last two meet at |mean_1 - mean_2| / n = {last:.6f}")

    # Between, the two centers are the means, moved by lam times the size of the other group.
    lam, U = lams[5], path[5].primal["U"]
    way = (means[1] - means[0]) / np.linalg.norm(means[1] - means[0])
    moved = means[0] + lam * SIZES[1] * way, means[1] - lam * SIZES[0] * way
    expected = np.repeat(moved, SIZES, axis=0)
    print(f"at lam = {lam:.4f} the centers are where they should be: {np.allclose(U, expected)}")
    if picture is not None:
        draw(picture, X, list(path))
        print(f"wrote {picture}")
    ends = (int(path.counts[5]), int(path.counts[6]), int(path.counts[7]), path.is_tree)
    return (U, *ends), (expected, 2, 2, 1, True)


if __name__ == "__main__":
    main(*sys.argv[1:])
