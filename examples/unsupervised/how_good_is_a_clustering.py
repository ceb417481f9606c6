"""How far can a clustering be from the best? A relaxation answers where no search can.

    k-means      minimise over clusters   Σ_i ‖x_i - center of its cluster‖²
    relaxation   minimise over Z          ½⟨D, Z⟩   s.t.  Z1 = 1,  tr Z = k,  Z ≥ 0,  Z ⪰ 0

with D_ij = ‖x_i - x_j‖². A clustering is a Z, with 1/size where two samples share a cluster; so the
relaxation is never above the best of them (Peng and Wei 2007), and any multipliers bound it from
below. Lloyd's algorithm from several starts ends at several answers; the bound says how much could
at most be gained by going on. Where the clusters are apart nothing is left: the best is certified.

Run `python examples/unsupervised/how_good_is_a_clustering.py clusters.png` for the picture.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs

import convexml as cml

SEEDS = range(6)


def cost(X: np.ndarray, labels: np.ndarray) -> float:
    """Σ ‖x_i - center‖², from the definition."""
    groups = [X[labels == j] for j in np.unique(labels)]
    return float(sum(((group - group.mean(axis=0)) ** 2).sum() for group in groups))


def draw(path: str, costs: dict[str, list[float]], bounds: dict[str, float]) -> None:
    """What the runs cost, over the bound that none can be below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.2), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(costs)), costs, strict=True):
        axes.plot(sorted(costs[name]), "o", label="runs of Lloyd's algorithm")
        axes.axhline(bounds[name], color="0.3", label="no clustering is below")
        axes.set_ylim(0.0)
        axes.set_title(name)
        axes.set_xticks([])
    axes.legend(loc="center left", bbox_to_anchor=(0.0, 0.35))
    figure.savefig(path, dpi=150)


def main(picture: str | None = None) -> tuple[list, list]:
    data = {
        "iris": (load_iris().data[::3], 3),
        "blobs": (make_blobs(60, centers=4, cluster_std=0.4, random_state=3)[0], 4),
    }
    costs, bounds, computed, expected = {}, {}, [], []
    for name, (X, k) in data.items():
        problem = cml.KMeansBound(X, k)
        runs = [KMeans(k, init="random", n_init=1, random_state=s).fit(X) for s in SEEDS]
        judged = [problem.judge(run.labels_) for run in runs]
        costs[name], bounds[name] = [each.cost for each in judged], judged[0].bound
        print(f"{name}: no clustering into {k} costs less than {judged[0].bound:.4f}")
        for each in sorted({round(each.cost, 4) for each in judged}):
            print(f"  a run that ends at {each:>9.4f} is within {1 - bounds[name] / each:.1%}")
        best = min(runs, key=lambda run: run.inertia_)
        print(f"  the best of them: {cml.certify(best, X).verdict}\n")
        computed += [np.array(costs[name]), bool(bounds[name] <= min(costs[name]))]
        expected += [np.array([cost(X, run.labels_) for run in runs]), True]
    computed.append(str(cml.certify(best, X).verdict))
    if picture is not None:
        draw(picture, costs, bounds)
        print(f"wrote {picture}")
    return computed, [*expected, "certified"]


if __name__ == "__main__":
    main(*sys.argv[1:])
