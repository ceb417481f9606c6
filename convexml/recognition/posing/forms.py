"""Forms a'Qa as squares |L'a|^2, Q = L L' to rounding, and what the rounding may cost."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from ...numerics import Array, gamma
from ..reading.declined import Declined, named
from ..reading.terms import Reading, Term

LARGEST = 3000
"""Rows of a matrix that is factored."""
LOOSEST = 1e-9


@dataclass(frozen=True)
class FactoredForm:
    """(1 - ``loose``) |L'a|^2 <= a'Qa <= (1 + ``loose``) |L'a|^2 for every a."""

    squares: Term
    loose: float

    def price(self, target: float, value: float) -> float:
        """What c |L'a|^2 may be off by where c a'Qa is as good, times ``loose``.

        With c |L'a - y|^2 + what is >= 0 worth ``value``, and sqrt(c) |y| = ``target``: nothing
        that is better has sqrt(c) |L'a| above the root t of (1 - loose) t^2 - 2 t target + target^2
        = value.
        """
        least = 1.0 - self.loose
        root = target**2 - least * (target**2 - value)
        reach = (target + float(np.sqrt(max(root, 0.0)))) / least
        return self.loose * reach**2


def factored(reading: Reading) -> FactoredForm | None:
    """Put the squares of a factor in the place of a form; None where there is none.

    Raises
    ------
    Declined
        If the matrix is not positive definite beyond rounding.
    """
    forms = [number for number, each in enumerate(reading.terms) if each.kind == "form"]
    if not forms:
        return None
    number, *more = forms
    term = reading.terms[number]
    if more:
        raise Declined(f"{named(term.said)} and another form have matrices that are not diagonal")
    L, loose = _factor(term)
    weight = np.full(L.shape[0], float(term.weight[0]))
    maps = {key: each.before(L.T) for key, each in term.affine.maps.items()}
    affine = replace(term.affine, maps=maps, offset=L.T @ term.affine.offset)
    squares = Term("square", weight, affine, None, term.said)
    reading.terms[number] = squares
    return FactoredForm(squares, loose)


def _factor(term: Term) -> tuple[Array, float]:
    """L, and a bound of |L^-1 (Q - L L') L^-T|: of the error in its own units."""
    Q = term.matrix.toarray() if sparse.issparse(term.matrix) else np.asarray(term.matrix)
    if Q.shape[0] > LARGEST or not np.isfinite(Q).all():
        raise Declined(f"{named(term.said)} has a matrix that is not diagonal, too large to factor")
    Q = 0.5 * (Q + Q.T)
    try:
        L = np.linalg.cholesky(Q)
    except np.linalg.LinAlgError:
        raise Declined(
            f"{named(term.said)} has a matrix that is not diagonal, nor positive definite"
        ) from None
    size = np.abs(L)
    error = np.abs(Q - L @ L.T) + 2.0 * gamma(Q.shape[0] + 4) * (size @ size.T)
    inverse = np.abs(solve_triangular(L, np.eye(Q.shape[0]), lower=True))
    loose = float(np.linalg.norm(inverse @ error @ inverse.T)) * (1.0 + 1e-6)
    if not loose <= LOOSEST:
        raise Declined(f"{named(term.said)} has a matrix that is singular to rounding")
    return L, loose
