"""Principal components as a semidefinite program, and what its multipliers tell.

    primal   minimise over P           -⟨S, P⟩     s.t.  0 ⪯ P ⪯ I,  tr P = k
    dual     maximise over ν, Z₁, Z₂   -kν - tr Z₁  s.t.  Z₁ - Z₂ = S - νI,  Z₁, Z₂ ⪰ 0

The projections on k dimensions are the corners of the set of P, so that a linear objective is least
at one of them: at the k directions of the largest variance. The multipliers hold the rest of the
spectrum: λ_k - λ_{k+1}, the eigengap, says whether the plane is the only one. An eigenvalue routine
agrees, scikit-learn's PCA is certified, and a plane that is turned a little is refuted.

Run `python examples/unsupervised/principal_components.py plane.png` for the picture.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA

import convexml as cml

K = 2


def draw(path: str, X: np.ndarray, components: np.ndarray, kinds: np.ndarray) -> None:
    """The samples in the plane, by kind of wine, which PCA has not seen."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.0, 4.0), layout="constrained")
    axes = figure.subplots()
    for kind in np.unique(kinds):
        axes.plot(*(X[kinds == kind] @ components.T).T, "o", markersize=3, label=f"wine {kind}")
    axes.set_xlabel("first component")
    axes.set_ylabel("second component")
    axes.legend()
    figure.savefig(path, dpi=150)


def main(picture: str | None = None) -> tuple[tuple, tuple]:
    X, kinds = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    problem = cml.PrincipalComponents(X, K)
    solution = problem.solve(tol=1e-9)
    values, vectors = np.linalg.eigh(X.T @ X / len(X))
    plane = vectors[:, -K:] @ vectors[:, -K:].T

    print(f"{solution.status}: P* = {solution.objective:.9f}, gap {solution.gap:.1e}")
    print(f"minus the {K} largest eigenvalues: {-values[-K:].sum():.9f}")
    print(f"eigengap from the multipliers: {solution.eigengap:.6f}: the plane is the only one")

    fitted = PCA(K).fit(X)
    print(f"\nscikit-learn's PCA: {cml.certify(fitted, X).verdict}")
    print(f"{'turned by':>10}{'verdict':>12}{'gap':>12}{'worse by':>12}")
    gaps, worse = [], []
    third = vectors[:, -K - 1]
    for angle in (1e-4, 1e-2, 1.0):
        turned = fitted.components_.copy()
        turned[1] = np.cos(angle) * turned[1] + np.sin(angle) * third
        found = problem.certify(turned.T @ turned)
        gaps.append(found.gap)
        worse.append(np.sin(angle) ** 2 * (values[-K] - values[-K - 1]))
        print(f"{angle:>10g}{found.verdict!s:>12}{gaps[-1]:>12.3e}{worse[-1]:>12.3e}")
    if picture is not None:
        draw(picture, X, solution.components, kinds)
        print(f"wrote {picture}")
    computed = (solution.objective, solution.primal["P"], solution.eigengap, np.array(gaps))
    return computed, (-values[-K:].sum(), plane, values[-K] - values[-K - 1], np.array(worse))


if __name__ == "__main__":
    main(*sys.argv[1:])
