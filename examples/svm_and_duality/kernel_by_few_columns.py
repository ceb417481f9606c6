"""A kernel machine on a few columns of its matrix, and how far it is from the exact one.

    exact    minimise over f, b   ½‖f‖² + C Σ (1 - y_i (f(x_i) + b))₊,   f = Σ_j q_j k(x_j, ·)
    dual     maximise over u      -F*(u) - ½ uᵀKu,   one u_i a sample, K the matrix of the kernel

With K ≈ LLᵀ, a few columns of pivoted Cholesky, the machine is a linear one on the rows of L. Its
dual point u has the same losses, so it is one of the exact problem, too; its f uses only the chosen
samples, and is a function of the kernel. So P(f) - D(u), both evaluated with the exact K, bounds
how far f is from an optimum that nobody has computed:

    P(f) - P*  ≤  gap  =  (gap of the small problem) + ½ uᵀ(K - LLᵀ)u.

More columns, less gap; the remainder tr(K - LLᵀ), proved with its rounding, tells when to stop.

Run `python examples/svm_and_duality/kernel_by_few_columns.py gap.png` for the picture.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import make_moons
from sklearn.svm import SVC

import convexml as cml

C, SIGMA, RANKS = 1.0, 0.5, (5, 10, 20, 40, 80, 160)


def draw(path: str, gaps: list[float], truth: list[float]) -> None:
    """The proved distance and the true one, over the number of columns."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.6, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.loglog(RANKS, gaps, "o-", label="proved: the gap")
    axes.loglog(RANKS, truth, "s--", label="true: by libsvm")
    axes.set_xlabel("columns of the kernel matrix")
    axes.set_ylabel("distance from the exact optimum")
    axes.legend()
    figure.savefig(path, dpi=150)


def main(picture: str | None = None) -> tuple[list, list]:
    X, labels = make_moons(400, noise=0.25, random_state=0)
    kernel = cml.kernels.Gaussian(SIGMA)
    machine = cml.KernelSVM(X, labels, C, kernel)
    libsvm = SVC(C=C, gamma=0.5 / SIGMA**2, tol=1e-10).fit(X, labels)
    q = np.zeros(len(X))
    q[libsvm.support_] = libsvm.dual_coef_[0]
    best = machine.objective(q, libsvm.intercept_[0])

    print(f"exact, by libsvm: P* = {best:.8f}, with {np.count_nonzero(q)} columns")
    print(f"{'columns':>8}{'remainder':>12}{'proved gap':>13}{'true gap':>12}{'accuracy':>10}")
    gaps, truth = [], []
    for rank in RANKS:
        found = machine.approximate("nystrom", rank)
        left = cml.kernels.pivoted_cholesky(kernel, X, rank).remainder
        gaps.append(found.gap)
        truth.append(max(found.objective - best, 1e-12))
        row = f"{rank:>8}{left:>12.2e}{gaps[-1]:>13.2e}{truth[-1]:>12.2e}"
        print(f"{row}{found.score(X, labels):>10.1%}")
    print(f"certified for the exact kernel at 1e-6: {found.status}")
    if picture is not None:
        draw(picture, gaps, truth)
        print(f"wrote {picture}")
    holds = [bool(gap >= true - 1e-9) for gap, true in zip(gaps, truth, strict=True)]
    return [found.objective, found.status, *holds], [best, "optimal", *[True] * len(RANKS)]


if __name__ == "__main__":
    main(*sys.argv[1:])
