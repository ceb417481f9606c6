"""Least squares by normal equations, QR and singular values, on data that tell them apart.

    minimise over w   ‖y - Aw‖²,   A = [1, X]: Longley's employment data, 16 years, 6 columns

1. Normal equations: AᵀA w = Aᵀy. The condition number of AᵀA is the square of that of A.
2. QR: A = QR, Rw = Qᵀy. The squares are never formed.
3. Singular values: A = UΣVᵀ, w = VΣ⁻¹Uᵀy. As accurate, dearer, and tells the rank.

Each is done on the raw columns and on centred ones of unit length, from which b follows. NIST has
the coefficients to 15 digits: Statistical Reference Datasets, Longley,
https://www.itl.nist.gov/div898/strd/lls/data/Longley.shtml, from J. W. Longley (1967),
https://doi.org/10.1080/01621459.1967.10500896.

Run `python examples/linear_models/least_squares_three_ways.py digits.png` for the picture.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import convexml as cml

LONGLEY = Path(__file__).parents[2] / "problems" / "longley.csv"
CERTIFIED = np.array(
    "-3482258.63459582 15.0618722713733 -0.0358191792925910 -2.02022980381683 "
    "-1.03322686717359 -0.0511041056535807 1829.15146461355".split(),
    dtype=float,
)
"""b and w, by NIST."""


def normal_equations(A: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.linalg.solve(A.T @ A, A.T @ y)


def by_qr(A: np.ndarray, y: np.ndarray) -> np.ndarray:
    Q, R = np.linalg.qr(A)
    return np.linalg.solve(R, Q.T @ y)


def by_singular_values(A: np.ndarray, y: np.ndarray) -> np.ndarray:
    U, sizes, Vt = np.linalg.svd(A, full_matrices=False)
    return Vt.T @ ((U.T @ y) / sizes)


def in_units(route: Callable, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The route on centred columns of unit length: w in the old units, and b."""
    centred = X - X.mean(axis=0)
    units = np.linalg.norm(centred, axis=0)
    w = route(centred / units, y - y.mean()) / units
    return np.append(y.mean() - X.mean(axis=0) @ w, w)


def draw(path: str, digits: dict[str, float]) -> None:
    """The digits that each route gets right."""
    from matplotlib.figure import Figure

    axes = (figure := Figure(layout="constrained")).subplots(subplot_kw={"xlabel": "right digits"})
    axes.barh(*zip(*digits.items(), strict=True))
    figure.savefig(path, dpi=150)


def main(picture: str | None = None) -> tuple[list[np.ndarray], list[np.ndarray]]:
    table = np.loadtxt(LONGLEY, delimiter=",", skiprows=1)
    X, y, A = table[:, :-1], table[:, -1], np.insert(table[:, :-1], 0, 1.0, axis=1)
    problem = cml.LeastSquares(X, y)
    ways = (normal_equations, by_qr, by_singular_values)
    routes = dict(zip(("normal equations", "QR", "singular values"), ways, strict=True))
    found = {name: route(A, y) for name, route in routes.items()}
    found |= {f"{name}, in units": in_units(route, X, y) for name, route in routes.items()}
    print(f"condition numbers: A {np.linalg.cond(A):.1e}, AᵀA its square")
    print(f"{'route':<28}{'digits of the coefficients':>28}{'certified gap':>16}")
    digits = {k: -np.log10(np.max(np.abs(w / CERTIFIED - 1.0))) for k, w in found.items()}
    for name, w in found.items():
        gap = problem.certify(w[1:], w[0]).relative_gap
        print(f"{name:<28}{digits[name]:>28.1f}{gap:>16.1e}")
    if picture is not None:
        draw(picture, digits)
        print(f"wrote {picture}")
    accurate = [w for name, w in found.items() if name != "normal equations"]
    return accurate, [CERTIFIED] * len(accurate)


if __name__ == "__main__":
    main(*sys.argv[1:])
