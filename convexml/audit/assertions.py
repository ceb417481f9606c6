"""An assertion for people's own test suites: what I hold is optimal, and verified to be."""

from __future__ import annotations

from typing import Any

from ..certificates import Certificate
from ..errors import InputError, nearest
from ..models.base import Problem
from ..naming import solve_argument
from ..validation import positive_number
from .certifying import certify


def assert_optimal(subject: Any, *data: Any, gap: float = 1e-8, **options: Any) -> Certificate:
    """Raise AssertionError unless the solution that ``subject`` holds is CERTIFIED at ``gap``.

    Parameters
    ----------
    subject : cvxpy.Problem, scikit-learn estimator, or posed convexml problem
        What ``convexml.certify`` takes; or a posed problem, whose own ``certify`` is then asked.
    *data : arrays
        X and y for an estimator; w and, if wanted, b and u for a posed learning problem; nothing
        for a ``cvxpy.Problem``.
    gap : float
        The largest relative duality gap, and the largest feasibility violation relative to its
        row, that pass.
    **options
        As in ``certify``: ``sample_weight`` for an estimator, ``b`` and ``u`` for a posed problem.

    Returns
    -------
    Certificate
        The certificate that holds.

    Raises
    ------
    AssertionError
        With the verdict, the reason and every condition, where the certificate does not hold.
    InputError
        For what cannot be certified at all.

    Examples
    --------
    >>> import convexml as cml
    >>> from sklearn.linear_model import Ridge
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]
    >>> cml.assert_optimal(Ridge().fit(X, y), X, y).verdict.value
    'certified'
    """
    for name in options:
        misspelt = name not in ("sample_weight", "b", "u") and nearest(name, ("gap",))
        if misspelt or "'tol'" in solve_argument(name):
            raise InputError(f"assert_optimal: there is no argument {name!r}. Did you mean 'gap'?")
    tol = positive_number(gap, "assert_optimal", "gap")
    try:
        certificate = _certify(subject, data, tol, options)
    except InputError as error:
        words = str(error).removeprefix("certify: ").removeprefix("assert_optimal: ")
        raise InputError(f"assert_optimal: {words}") from None
    if not (certificate.claim == "optimal" and certificate.holds(tol)):
        raise AssertionError(
            f"{type(subject).__name__} is not certified optimal at gap {tol:g}.\n{certificate}"
        )
    return certificate


def _certify(subject: Any, data: tuple[Any, ...], tol: float, options: dict[str, Any]) -> Any:
    if isinstance(subject, Problem):
        if not data:
            raise InputError(
                f"assert_optimal: a posed {subject.name} holds no point; pass one, as "
                "assert_optimal(problem, w, b)."
            )
        return subject.certify(*data, tol=tol, **options)
    return certify(subject, *data, tol=tol, **options)
