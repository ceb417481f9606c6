"""A ball around the coefficients, or a price on them: the same lasso.

    constrained   minimise over w, b   (1/2n) ‖y - Xw - b·1‖²   s.t. ‖w‖₁ ≤ radius
    penalised     minimise over w, b   (1/2n) ‖y - Xw - b·1‖² + λ ‖w‖₁

The multiplier of the ball is λ, and the norm of the penalised solution is the radius: what the
loss gains from a little more radius is what the penalty asks for it. So one path of solutions has
two scales, and `cml.equivalent` goes from one to the other.

Run `python examples/linear_models/constrained_is_penalised.py path.png` for the picture.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import load_diabetes

import convexml as cml

SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)


def draw(path: str, norms: np.ndarray, penalised: np.ndarray, constrained: list) -> None:
    """Coefficients over the radius: lines from penalised problems, dots from constrained ones."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    axes.plot(norms, penalised, linewidth=1.2)
    axes.set_prop_cycle(None)
    for solution in constrained:
        axes.plot(solution.problem.radius, solution.primal["w"][None], "o", markersize=4)
        axes.axvline(solution.problem.radius, color="0.85", linewidth=0.8, zorder=0)
    axes.set_xlabel("radius, or ‖w‖₁ of the penalised solution")
    axes.set_ylabel("coefficients")
    axes.set_title("lines: penalised; dots: constrained")
    figure.savefig(path, dpi=150)


def main(picture: str | None = None) -> tuple[list[np.ndarray], list[np.ndarray]]:
    X, y = load_diabetes(return_X_y=True)
    X = X / X.std(axis=0)
    penalised = cml.Lasso(X, y, lam=1.0)
    path = penalised.path(np.geomspace(0.999, 1e-3, 40) * penalised.lam_max, tol=1e-9)
    norms = np.array([np.abs(solution.primal["w"]).sum() for solution in path])

    computed, expected, constrained = [], [], []
    print(f"{'radius':>8}{'multiplier':>12}{'slope of P*':>13}{'certified in the other form':>29}")
    for share in SHARES:
        ball = cml.ConstrainedLasso(X, y, radius=share * norms[-1])
        solution = ball.solve(tol=1e-12)
        other = cml.equivalent(solution)
        twin = other.certify(solution.primal["w"], solution.primal["b"])
        step = 1e-4 * ball.radius
        ends = [cml.ConstrainedLasso(X, y, ball.radius + s).solve(tol=1e-12) for s in (-step, step)]
        slope = (ends[0].objective - ends[1].objective) / (2.0 * step)
        row = f"{ball.radius:>8.2f}{other.lam:>12.6f}{slope:>13.6f}"
        print(f"{row}{twin.verdict!s:>20} {twin.relative_gap:.0e}")
        constrained.append(solution)
        computed += [solution.primal["w"], np.array(cml.equivalent(other.solve(tol=1e-12)).radius)]
        expected += [other.solve(tol=1e-12).primal["w"], np.array(ball.radius)]
    if picture is not None:
        draw(picture, norms, np.array([solution.primal["w"] for solution in path]), constrained)
        print(f"wrote {picture}")
    return computed, expected


if __name__ == "__main__":
    main(*sys.argv[1:])
