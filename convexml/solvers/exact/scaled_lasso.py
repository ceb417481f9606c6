"""The scaled lasso: the strength of a lasso follows the size of its own residuals."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...numerics import Array
from ...objective.residuals.samples import RegressionSamples
from ...objective.residuals.support_line import support_lines

ROUNDS = 100
"""Lassos at most: an alternation that takes more is left to others."""
LEAST = 1e-14
"""Sizes of this share of the first are those of an exact fit; changes of this share are none."""


Fit = Callable[[float], tuple[Array, float, Array] | None]
"""(w, b, u) of the lasso of strength lam sigma, as a function of sigma."""


def scaled_lasso(
    samples: RegressionSamples, lam: float, fit: Fit
) -> Iterator[tuple[Array, float, list[Array]]]:
    """Yield (w, b) and some u of the square-root lasso: the exact ones of a support where met.

    ``fit(sigma)`` minimises the lasso of strength lam sigma. The size rho of its residuals rises
    with sigma and rho / sigma falls, so that rho = sigma, where the square-root lasso is solved, is
    crossed once. On a support rho^2 is affine in sigma^2: its root is the next sigma (Newton's
    method), or, where that leaves the bracket, rho itself, as Sun and Zhang (2012,
    https://doi.org/10.1093/biomet/ass043) alternate.
    """
    low, high, sigma = 0.0, samples.spread, samples.spread
    for _ in range(ROUNDS):
        found = fit(sigma)
        if found is None:
            return
        w, b, u = found
        lines = [(line, line.root) for line in support_lines(samples, w, lam)]
        slopes = [u / sigma, *(line.dual(tau) for line, tau in lines)]
        met = next((line.point(tau) for line, tau in lines if line.keeps_signs(tau)), (w, b))
        yield *met, slopes
        root = lines[0][1] if lines else None
        rho = samples.size((samples.y - b) - samples.design.matvec(w))
        low, high = (max(low, sigma), high) if rho >= sigma else (low, min(high, sigma))
        following = root if root is not None and low < root < high else rho
        if abs(following - sigma) <= LEAST * sigma or following <= LEAST * samples.spread:
            return
        sigma = following
