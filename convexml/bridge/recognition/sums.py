"""Sums of losses and penalties over CVXPY's variables: solved as they stand, certified by terms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ...certificates import Certificate
from ...certificates.affine import AffineMap, AffineSum
from ...certificates.sums import certify_sum
from ...formulas import CalledTerm, ConvexSum
from ...modelling import cp
from ...numerics import Array
from ...penalties import Nonnegative
from ...problem.terms import Multiple, Summand, WeightedLoss
from ..layout import dense
from ..point import Posed
from .affine import Walker
from .maps import Declined

EXAMINED = 4_000_000
"""Entries up to which columns are asked for exact dependences."""


@dataclass(frozen=True)
class SplitSum:
    """A sum as its terms say it, and where a solver's answer to it is.

    Attributes
    ----------
    problem : cvxpy.Problem
        In which each term has a vector of its own.
    parts : list of Summand
    variables : list of cvxpy.Variable
        Whose entries are x.
    links : dict of str to cvxpy.Constraint
        What the vectors equal, by the names of their multipliers.
    constant : float
    """

    problem: Any
    parts: list[Summand]
    variables: list[Any]
    links: dict[str, Any]
    constant: float

    def certify(self, posed: Posed, tol: float) -> Certificate | None:
        """The certificate of the values that stand; None where a solver left no multipliers."""
        dual = {name: -_entries(link.dual_value) for name, link in self.links.items()}
        x = np.concatenate([_entries(variable.value) for variable in self.variables])
        if not all(np.all(np.isfinite(each)) for each in (x, *dual.values())):
            return None
        used = [p.columns for v in self.variables for p in posed.parts if p.variable is v]
        units = replace(posed.units, columns=posed.units.columns[np.concatenate(used)])
        found = certify_sum(AffineSum(self.parts, units), x, dual, tol, passed=False)
        return found.but(
            primal_objective=found.primal_objective + self.constant,
            dual_objective=found.dual_objective + self.constant,
            proved_gap=np.inf,
            unproved="numbers were rounded when the problem was read",
        )

    def value(self) -> float:
        """P at the values that stand; a rounded one hides what predictions cancel."""
        x = np.concatenate([_entries(variable.value) for variable in self.variables])
        return self.constant + sum(p.function.value(p.map.forward(x)[0]) for p in self.parts)


def _entries(value: Any) -> Array:
    """The entries as a vector; nan where there is none."""
    return np.array([np.nan]) if value is None else np.ravel(dense(value), order="F")


def split_sum(whole: ConvexSum) -> SplitSum | None:
    """The terms of a sum; None where they are not all losses, penalties and constants."""
    total, links = whole.split()
    numbers = [(float(getattr(own, "value", own)), part) for own, part in whole.parts]
    called = [(factor, part) for factor, part in numbers if isinstance(part, CalledTerm)]
    others = [(factor, part) for factor, part in numbers if not isinstance(part, CalledTerm)]
    variables = {v.id: v for _, part in called for v in part.z.variables()}
    is_plain = all(part.is_constant() for _, part in others)
    if not is_plain or any(any(v.attributes.values()) for v in variables.values()):
        return None
    try:
        read = Walker().affine(cp.hstack([part.z for _, part in called]))
    except (Declined, ValueError):  # also where there are none
        return None
    variables = {key: variables[key] for key in read.maps}
    if not variables:
        return None
    A = sparse.hstack([sparse.csr_array(each.full()) for each in read.maps.values()], format="csr")
    A = A.toarray() if A.shape[0] * A.shape[1] <= EXAMINED else A
    parts, used, start = [], {}, 0
    for k, ((factor, part), link) in enumerate(zip(called, links, strict=True), 1):
        rows = slice(start, start := start + part.z.size)
        restricts = part.function.is_indicator if part.is_loss else part.function.restricts
        if factor == 0.0 and not restricts:
            continue
        name = f"term {k}, {part.function.name}"
        parts.append(
            Summand(
                _function(part, factor),
                AffineMap(A[rows], read.offset[rows]),
                dual=f"u_{k}",
                feasible=(f"{name}: violation", 1.0) if restricts else None,
                slack=f"{name}: f(z) + f*(u) = z'u",
            )
        )
        used[f"u_{k}"] = link
    constant = sum(factor * float(part.value) for factor, part in others)
    problem = total.problem(links)
    return SplitSum(problem, parts, list(variables.values()), used, constant) if parts else None


def _function(part: CalledTerm, factor: float) -> WeightedLoss | Multiple:
    """A factor times a loss or a penalty; a constraint counts whatever its factor is."""
    own = part.function
    if part.is_loss:
        weights = np.ones(part.targets.size) if part.weights is None else part.weights
        return WeightedLoss(own, part.targets, weights if own.is_indicator else factor * weights)
    if own.is_constraint or factor == 0.0:
        return Multiple(own if own.is_constraint else Nonnegative(), 1.0)
    return Multiple(own, factor)
