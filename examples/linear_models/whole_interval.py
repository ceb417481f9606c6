"""A lasso solved for every λ of an interval, not only on a grid.

    P*(λ) = min over w, b of   (1/2n) ‖y - Xw - b·1‖² + λ‖w‖₁

1. For fixed (w, b) the objective is a line in λ, so that P* is a minimum of lines: it is concave.
2. A dual point at λ bounds P*(λ) from below. Between two grid points P* therefore lies above the
   chord of their bounds, and below the lines of their solutions.
3. Where these two lines cross, the gap of the better solution is largest. The next grid point is as
   far away as keeps it within 1e-3 of the objective.
4. LARS follows the corners of the path exactly, and agrees at every λ that is tried.

Run `python examples/linear_models/whole_interval.py gaps.png` for the picture.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import lars_path

import convexml as cml

TOL, BETWEEN = 1e-3, 2000


def exact_optima(X: np.ndarray, y: np.ndarray, lams: np.ndarray) -> np.ndarray:
    """P*(λ) from the corners of the LARS path: w is linear in λ between them."""
    X, y = X - X.mean(axis=0), y - y.mean()
    corners, _, W = lars_path(X, y, method="lasso")
    weights = np.array([np.interp(lams, corners[::-1], w[::-1]) for w in W])
    losses = 0.5 * np.mean((y[:, None] - X @ weights) ** 2, axis=0)
    found: np.ndarray = losses + lams * np.abs(weights).sum(axis=0)
    return found


def draw(path: str, lams: np.ndarray, true: np.ndarray, proved: list[float]) -> None:
    """What is proved at every λ, over what is true."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.loglog(lams, proved, label="proved")
    axes.loglog(lams, np.maximum(true, 1e-9), label="true")
    axes.set_xlabel("λ")
    axes.set_ylabel("relative gap")
    axes.legend()
    figure.savefig(path, dpi=150)


def main(picture: str | None = None) -> tuple[list[float], list[float]]:
    X, y = load_diabetes(return_X_y=True)
    problem = cml.Lasso(X, y, lam=1.0)
    high, low = problem.lam_max, 0.01 * problem.lam_max
    path = problem.path((high, low), everywhere=TOL, tol=1e-9)
    print(f"{len(path)} solutions cover lam = {high:.4g} ... {low:.4g}")
    print(f"the relative gap is proved to be at most {path.worst_gap:.3g} everywhere between\n")

    lams = np.geomspace(high, low, BETWEEN)[1:-1]
    optima, kept = exact_optima(X, y, lams), 0
    true = np.empty(len(lams))
    for k, lam in enumerate(lams):
        point = path.at(lam).primal
        problem.lam = lam
        value = problem.objective(point["w"], point["b"])
        true[k] = (value - optima[k]) / value
        kept += bool(-1e-12 <= true[k] <= path.gap_at(lam))
    print(f"{'lam':>10} {'solution at':>12} {'true gap':>10} {'proved gap':>11}")
    for k in range(0, len(lams), len(lams) // 8):
        at = path.at(lams[k]).problem.lam
        print(f"{lams[k]:10.4f} {at:12.4f} {true[k]:10.2e} {path.gap_at(lams[k]):11.2e}")
    print(f"\nlargest true gap at {len(lams)} lams: {true.max():.3g}")

    if picture is not None:
        draw(picture, lams, true, [path.gap_at(lam) for lam in lams])
        print(f"wrote {picture}")
    grid = np.array(path.lams)
    ours = [solution.objective for solution in path]
    return [float(kept), *ours], [float(len(lams)), *exact_optima(X, y, grid)]


if __name__ == "__main__":
    main(*sys.argv[1:])
