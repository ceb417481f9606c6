"""A kernel machine over its plane: the regions, the margin, and the samples that hold them.

    minimise over f, b   (1/2)‖f‖² + C Σ (1 - y_i (f(x_i) + b))₊,   f = Σ_i α_i y_i k(x_i, ·)

with k(x, x') = exp(-‖x - x'‖²/2σ²). No line separates two moons, and the linear kernel errs; a
small σ fits every sample, and nearly all of them are support vectors. Samples with α = 0 could be
taken away, and f would stay as it is. libsvm has the same least values.

Run `python examples/svm_and_duality/kernel_plane.py plane.png` for the picture, of σ = 0.5.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import make_moons
from sklearn.svm import SVC

import convexml as cml

C = 1.0
SIGMAS = (0.05, 0.5, 5.0)


def value_of(machine: SVC, K: np.ndarray) -> float:
    """The dual value Σ α - ½ (αy)' K (αy) of a machine of libsvm."""
    signed = np.zeros(len(K))
    signed[machine.support_] = machine.dual_coef_[0]
    return float(np.abs(signed).sum() - 0.5 * signed @ K @ signed)


def main(picture: str | None = None) -> tuple[list[float], list[float]]:
    X, y = make_moons(150, noise=0.2, random_state=0)
    kernels = {"linear": cml.kernels.Linear()}
    kernels |= {f"σ = {sigma:g}": cml.kernels.Gaussian(sigma) for sigma in SIGMAS}
    solutions, expected = {}, []
    print(f"{'kernel':>9}{'value':>10}{'gap':>9}{'support':>9}{'errors':>8}")
    for name, kernel in kernels.items():
        solution = solutions[name] = cml.KernelSVM(X, y, C, kernel).solve(tol=1e-9)
        wrong = np.count_nonzero(solution.predict(X) != y)
        row = f"{name:>9}{solution.objective:>10.4f}{solution.relative_gap:>9.0e}"
        print(f"{row}{len(solution.support):>9}{wrong:>8}")
        squares = ((X[:, None] - X) ** 2).sum(axis=2)
        K = X @ X.T if name == "linear" else np.exp(-squares / (2.0 * kernel.sigma**2))
        expected.append(value_of(SVC(C=C, kernel="precomputed", tol=1e-9).fit(K, y), K))
    if picture is not None:
        solutions["σ = 0.5"].plot(picture)
        print(f"wrote {picture}")
    return [each.objective for each in solutions.values()], expected


if __name__ == "__main__":
    main(*sys.argv[1:])
