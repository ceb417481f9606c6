"""How many products of the features? A validation set chooses, and says how sure it is.

    for degree k = 1 ... 6   minimise over w, b   (1/n) Σ log(1 + exp(-y_i z_i)) + (λ/2)‖w‖²

with z = w·φ_k(x) + b, φ_k(x) all products of at most k of two features. The least value falls
with k, the share of errors need not. The validation error is measured on samples that no fit has
seen: with probability 1 - δ over them, all K candidates have a risk within

    √(log(2K/δ) / (2m))

of it, m the number of validation samples (Shalev-Shwartz and Ben-David, theorem 11.2). So the risk
of the chosen degree is at most its validation error plus that, and a third set agrees.

Run `python examples/linear_models/degree_by_validation.py degrees.png` for the picture.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import PolynomialFeatures

import convexml as cml

DEGREES, LAM, DELTA = range(1, 7), 1e-3, 0.05
TRAIN, VALIDATION = 150, 250


def errors(solution: cml.Solution, X: np.ndarray, y: np.ndarray) -> float:
    """The share of samples that is predicted wrong."""
    return 1.0 - solution.score(X, y)


def draw(path: str, training: list[float], validation: list[float], bound: float) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    axes.plot(DEGREES, training, "o-", label="training error")
    axes.errorbar(DEGREES, validation, yerr=bound, fmt="s-", capsize=3, label="validation error")
    axes.set_xlabel("degree")
    axes.set_ylabel(f"errors; bars hold all risks with probability {1.0 - DELTA:g}")
    axes.legend()
    figure.savefig(path, dpi=150)


def main(picture: str | None = None) -> tuple[list[float], list[float]]:
    X, y = load_breast_cancer(return_X_y=True)
    X = (X[:, :2] - X[:, :2].mean(axis=0)) / X[:, :2].std(axis=0)
    order = np.random.default_rng(0).permutation(len(y))
    parts = np.split(order, [TRAIN, TRAIN + VALIDATION])

    table, theirs, gaps = [], [], []
    for degree in DEGREES:
        Z = PolynomialFeatures(degree, include_bias=False).fit_transform(X)
        solution = cml.LogisticRegression(Z[parts[0]], y[parts[0]], lam=LAM).solve(tol=1e-9)
        table.append([errors(solution, Z[part], y[part]) for part in parts])
        gaps.append(solution.relative_gap)
        peer = LogisticRegression(C=1.0 / (LAM * TRAIN), tol=1e-10, max_iter=100_000)
        peer.fit(Z[parts[0]], y[parts[0]])
        theirs.append([1.0 - peer.score(Z[part], y[part]) for part in parts])
    training, validation, test = (list(column) for column in zip(*table, strict=True))
    bound = cml.theory.validation_error(len(DEGREES), m=VALIDATION, delta=DELTA)

    print(f"{'degree':>6}{'training':>10}{'validation':>12}{'certified gap':>15}")
    for degree, a, b, gap in zip(DEGREES, training, validation, gaps, strict=True):
        print(f"{degree:>6}{a:>10.3f}{b:>12.3f}{gap:>15.0e}")
    best = int(np.argmin(validation))
    print(f"\nchosen: degree {DEGREES[best]}, risk at most {validation[best]:.3f} + {bound:.3f}")
    print(f"on the {len(parts[2])} samples that were left: {test[best]:.3f}")
    if picture is not None:
        draw(picture, training, validation, bound)
        print(f"wrote {picture}")
    within = float(test[best] <= validation[best] + bound)
    return [*training, *validation, within], [*(t[0] for t in theirs), *(t[1] for t in theirs), 1.0]


if __name__ == "__main__":
    main(*sys.argv[1:])
