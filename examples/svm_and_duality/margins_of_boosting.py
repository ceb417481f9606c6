"""Two ways to add up decision stumps, and the margins that they leave.

1. AdaBoost takes the best stump on reweighted samples, round after round: coordinate descent on
   mean e^{-y z}. Here the stumps separate the classes, so that the infimum is 0 and is not
   attained: the gap is all of P, and the separating sum is the proof.
2. LPBoost maximises the margin ρ that all samples but a share ν keep: a linear program over all
   stumps. Its dual is the hardest distribution over the samples, on which the best stump is worst.
3. AdaBoost's least margin, divided by the sum of its weights, is below the largest one. SciPy's
   linear program, written out here, has the same value as LPBoost.

Run `python examples/svm_and_duality/margins_of_boosting.py margins.png` for the picture.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.optimize import linprog
from sklearn.datasets import load_iris

import convexml as cml

NU = 0.15
ROUNDS = (10, 100, 1000)


def hardest(A: np.ndarray, cap: float) -> float:
    """Least γ with A'd ≤ γ for some distribution d of entries up to ``cap``."""
    n, m = A.shape
    rows, total = np.column_stack([A.T, -np.ones(m)]), np.append(np.ones(n), 0.0)[None]
    bounds = [(0.0, cap)] * n + [(None, None)]
    return float(linprog(np.append(np.zeros(n), 1.0), rows, np.zeros(m), total, [1.0], bounds).fun)


def draw(path: str, margins: dict[str, np.ndarray]) -> None:
    """The share of the samples with at most each margin."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    for label, values in margins.items():
        share = np.arange(1, len(values) + 1) / len(values)
        axes.step(np.sort(values), share, where="post", label=label)
    axes.axvline(0.0, color="0.8", linewidth=0.8, zorder=0)
    axes.set_xlabel("margin y (Hw) / Σ w")
    axes.set_ylabel("share of the samples")
    axes.legend()
    figure.savefig(path, dpi=150)


def main(picture: str | None = None) -> tuple[list[float], list[float]]:
    X, y = (part[50:] for part in load_iris(return_X_y=True))
    H, names = cml.stumps(X)
    signs = np.where(y == 2, 1.0, -1.0)
    margins: dict[str, np.ndarray] = {}
    print(f"{len(names)} stumps, {len(y)} samples\n")
    print(f"{'rounds':>6} {'P':>10} {'gap':>10} {'least margin':>13}  unattained")
    for rounds in ROUNDS:
        problem = cml.AdaBoost(X, y, rounds)
        solution = problem.solve()
        w, proof = solution.primal["w"], problem.find_evidence()
        margins[f"AdaBoost, {rounds} rounds"] = found = problem.margins(w) / w.sum()
        told = "not shown" if proof is None else str(proof.verdict)
        row = f"{rounds:>6} {solution.objective:>10.2e} {solution.gap:>10.2e}"
        print(f"{row} {found.min():>13.5f}  {told}")

    computed, expected = [], []
    print(f"\n{'nu':>6} {'objective':>10} {'gap':>8} {'rho':>8} {'samples with d > 0':>19}")
    for nu in (1e-3, NU):
        soft = cml.LPBoost(H, y, nu)
        solution = soft.solve(tol=1e-9)
        row = f"{nu:>6} {solution.objective:>10.5f} {solution.gap:>8.0e}"
        print(f"{row} {float(solution.primal['rho']):>8.5f} {len(solution.support):>19}")
        margins[f"LPBoost, ν = {nu:g}"] = soft.margins(solution.primal["w"])
        computed.append(solution.objective)
        expected.append(-hardest(signs[:, None] * H, 1.0 / (nu * len(y))))
    used = np.flatnonzero(solution.primal["w"])
    print(f"\nits {len(used)} stumps: " + ", ".join(names[j] for j in used[:6]) + ", ...")
    if picture is not None:
        draw(picture, margins)
        print(f"wrote {picture}")
    return computed, expected


if __name__ == "__main__":
    main(*sys.argv[1:])
