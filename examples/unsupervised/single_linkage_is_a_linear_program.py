"""Single linkage as a linear program: the tree, and the partitions that prove it the least.

    primal   minimise over x   Σ_e d_e x_e     s.t.  x ≥ 0,  x(E) = n - 1,
                                                     x(π) ≥ |π| - 1 for every partition π
    dual     maximise over y   Σ_π y_π (|π| - 1)  s.t.  Σ_{π parts e} y_π ≤ d_e

x(π) counts the edges between blocks of π. The least spanning tree is the optimum (Edmonds 1971),
and the partitions that single linkage goes through are its proof: y is the difference of one merge
height and the next. Cutting the tree's longest edges gives the clusters. SciPy's linkage has the
same heights; a tree with one edge exchanged is refuted, by just what it is longer.

Run `python examples/unsupervised/single_linkage_is_a_linear_program.py tree.png` for the picture.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import make_moons

import convexml as cml

CLUSTERS = 2


def draw(path: str, X: np.ndarray, tree: np.ndarray, labels: np.ndarray) -> None:
    """The tree; its longest edge, dashed, is between the clusters."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 3.6), layout="constrained")
    axes = figure.subplots()
    for i, j in np.argwhere(tree > 0.5):
        style = "-" if labels[i] == labels[j] else "--"
        axes.plot(*X[[i, j]].T, style, color="0.6", linewidth=1.0)
    for label in np.unique(labels):
        axes.plot(*X[labels == label].T, "o", markersize=4)
    axes.set_title("the least spanning tree, without its longest edge: single linkage")
    figure.savefig(path, dpi=150)


def main(picture: str | None = None) -> tuple[tuple, tuple]:
    X, _ = make_moons(60, noise=0.05, random_state=0)
    lengths = pdist(X)
    problem = cml.SpanningTree(squareform(lengths))
    solution = problem.solve()
    y, partitions = solution.dual["y"], solution.dual["partitions"]
    merged = linkage(lengths, "single")
    labels = problem.clusters(CLUSTERS)

    blocks = np.array([len(np.unique(blocks)) for blocks in partitions])
    print(f"{solution.status}: length {solution.objective:.9f}, gap {solution.gap:.1e}")
    print(f"the partitions pay {y @ (blocks - 1):.9f}, SciPy's heights add up to "
          f"{merged[:, 2].sum():.9f}")  # fmt: skip
    print(f"the last merger waits longest: y = {y[-1]:.4f}, of heights up to {merged[-1, 2]:.4f}")

    tree = solution.primal["x"].copy()
    i, j = np.argwhere(tree > 0.5)[0]
    for a, b in np.argwhere(np.triu(tree < 0.5, 1)):  # until the exchange leaves a tree
        moved = tree.copy()
        moved[i, j], moved[a, b] = 0.0, 1.0
        if np.isfinite(problem.objective(moved)):
            break
    longer = problem.distances[a, b] - problem.distances[i, j]
    judged = problem.certify(moved)
    print(f"with another edge: {judged.verdict}, gap {judged.gap:.6f}, longer by {longer:.6f}")
    same = fcluster(merged, CLUSTERS, "maxclust")
    agree = all(len(np.unique(same[labels == label])) == 1 for label in range(CLUSTERS))
    print(f"cut into {CLUSTERS}: clusters of {np.bincount(labels)}, as SciPy's: {agree}")
    if picture is not None:
        draw(picture, X, tree, labels)
        print(f"wrote {picture}")
    heights = np.sort(problem.distances[tree > 0.5])
    return (heights, y @ (blocks - 1), judged.gap, agree), (
        merged[:, 2], merged[:, 2].sum(), longer, True
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
