"""More degrees, less error on the samples; and more, from some degree on, everywhere else.

    minimise over w, b   (1/2n) Σ (y_i - w·φ_k(x_i) - b)²,   φ_k(x) = (P_1(x), ..., P_k(x))

with Legendre's polynomials and y = f(x) + noise of variance σ². Here f is known, so that the true
risk is, too: the mean of (f̂ - f)² over all x, plus σ². Over new noise at the same x the expected
training error and risk are exact, with b(k) what no polynomial of degree k can reach of f:

    E training = b(k) + σ² - σ² (k + 1)/n,      E risk = b(k) + σ² + σ² (k + 1)/n

The gap between them grows by 2σ²/n a degree, whatever f is.

Run `python examples/linear_models/overfitting_by_degree.py degrees.png` for the picture.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.polynomial import legendre

import convexml as cml

N, SIGMA, DEGREES = 20, 0.3, (1, 2, 3, 4, 5, 7, 9, 11, 13, 15)


def truth(x: np.ndarray) -> np.ndarray:
    return np.sin(np.pi * x)


def draw(path: str, curves: dict[str, list[float]]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    for (label, values), style in zip(curves.items(), ("o-", "s-", "--", ":"), strict=True):
        axes.plot(DEGREES, values, style, label=label)
    axes.set_yscale("log")
    axes.set_xlabel("degree")
    axes.set_ylabel("mean squared error")
    axes.legend()
    figure.savefig(path, dpi=150)


def main(picture: str | None = None) -> tuple[list[float], list[float]]:
    x, everywhere = np.linspace(-1.0, 1.0, N), np.linspace(-1.0, 1.0, 1001)
    y = truth(x) + SIGMA * np.random.default_rng(1).normal(size=N)
    curves: dict[str, list[float]] = {
        name: [] for name in ("training error", "true risk", "E training", "E risk at the samples")
    }
    computed, expected = [], []
    print(f"{'degree':>6}{'training':>10}{'true risk':>11}{'E training':>12}{'E risk':>9}")
    for degree in DEGREES:
        features, all_x = (legendre.legvander(each, degree)[:, 1:] for each in (x, everywhere))
        solution = cml.LeastSquares(features, y).solve(tol=1e-12)
        training = 2.0 * solution.objective
        risk = np.mean((solution.predict(all_x) - truth(everywhere)) ** 2) + SIGMA**2
        basis = np.linalg.qr(legendre.legvander(x, degree))[0]
        bias = np.mean((truth(x) - basis @ (basis.T @ truth(x))) ** 2)
        spread = SIGMA**2 * (degree + 1) / N
        row = (training, risk, bias + SIGMA**2 - spread, bias + SIGMA**2 + spread)
        for values, value in zip(curves.values(), row, strict=True):
            values.append(float(value))
        print(f"{degree:>6}{row[0]:>10.4f}{row[1]:>11.4f}{row[2]:>12.4f}{row[3]:>9.4f}")
        theirs = legendre.Legendre.fit(x, y, degree)
        computed += [training, risk]
        expected += [
            np.mean((theirs(x) - y) ** 2),
            np.mean((theirs(everywhere) - truth(everywhere)) ** 2) + SIGMA**2,
        ]
    best = DEGREES[int(np.argmin(curves["true risk"]))]
    print(f"\nthe least training error is at degree {DEGREES[-1]}, the least risk at {best}")
    if picture is not None:
        draw(picture, curves)
        print(f"wrote {picture}")
    return computed, expected


if __name__ == "__main__":
    main(*sys.argv[1:])
