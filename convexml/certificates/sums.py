"""The certificate of a sum of terms: its gap is the sum of what Fenchel and Young leave."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..formulas import Condition, products, worst
from ..numerics import ROUNDING, Array, lengths
from ..problem.terms import SumOfTerms
from .certificate import Certificate
from .judge import bounded, judge
from .scale import learning_scale


def certify_sum(
    problem: SumOfTerms, x: Array, dual: Mapping[str, Array], tol: float, *, passed: bool
) -> Certificate:
    """Judge x by multipliers, moved into their domains where they are outside.

    Parameters
    ----------
    problem : SumOfTerms
    x : array
    dual : mapping of str to array
        By the names of the terms.
    tol : float
    passed : bool
        Whether somebody brought them; else they were constructed.
    """
    given = [dual[term.dual] for term in problem.terms]
    own = problem.clipped(given)
    images, before = problem.images(x), problem.eliminated(given)
    repaired = max(_most(u - v) for u, v in zip(given, own, strict=True))
    after = before if repaired == 0.0 else problem.eliminated(own)
    primal, gap = problem.cost_of(x, images), problem.excess(x, images, own, after)
    held = np.all(problem.weights) or np.isfinite(gap)
    name = problem.terms[0].dual
    return judge(
        bounded(
            primal,
            primal - gap,
            _rows(problem, x, images, given, own, before[0]),
            tol,
            scale=learning_scale(primal, primal - gap, problem.null),
            gap=gap,
            dual={term.dual: u for term, u in zip(problem.terms, own, strict=True)},
            dual_source="passed" if passed else "constructed",
            repaired=repaired,
            reason="" if held else f"{name} pulls at a sample of weight 0.",
            is_proved=True,
        )
    )


def _most(values: Array) -> float:
    return float(np.max(np.abs(values), initial=0.0))


def _rows(
    problem: SumOfTerms,
    x: Array,
    images: list[tuple[Array, Array]],
    given: list[Array],
    own: list[Array],
    eliminated: Array,
) -> list[Condition]:
    """The conditions at what was passed."""
    name, size = problem.stationarity
    residual = problem.weights * (x - problem.targets) - eliminated
    rows = [worst(name, "stationarity", residual, size)]
    for term, (z, e), u, inside in zip(problem.terms, images, given, own, strict=True):
        if term.feasible:
            away = z - term.function.project(z)
            rows.append(worst(term.feasible, "primal_feasibility", away, term.room, e))
        out = lengths(u - inside, 1) if u.ndim > 1 else u - inside  # a row is one multiplier
        rows += [
            worst(term.domain, "dual_feasibility", out, term.size, ROUNDING * term.size),
            products(term.slack, term.function.terms(z, (term.sign * u).ravel())),
        ]
    return rows
