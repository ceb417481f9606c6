"""Certify what somebody holds: a CVXPY problem, or a fitted scikit-learn estimator."""

from __future__ import annotations

from typing import Any

from ..certificates import Certificate
from ..errors import InputError, nearest
from ..modelling import cp
from ..numerics import without_warnings
from ..progress import Wish, judged, operation
from ..validation import positive_number, refuse_unknown, solve_argument
from .certificate import certify_problem

EFFORTS = ("normal", "full")
HOW = "as problem.certify(solution.primal['w'], solution.primal['b'])"


@without_warnings
def certify(
    subject: Any,
    *data: Any,
    tol: float = 1e-6,
    effort: str = "normal",
    progress: Wish = False,
    **options: Any,
) -> Certificate:
    """Judge the solution that stands in a CVXPY problem or in a fitted scikit-learn estimator.

    Parameters
    ----------
    subject : cvxpy.Problem or scikit-learn estimator
        A DCP problem whose variables have values, whoever put them there; dual values that are
        present are judged as they are, missing ones are recovered. Or a fitted estimator.
    *data : arrays
        X and y, for an estimator (X alone where it was fitted without y); nothing for a problem.
    tol : float
        For the relative gap and the feasibilities, relative to their rows.
    effort : str
        "normal" has a budget of work on finding a bound for a large problem: how many dual points
        are priced, never a time. ``reason`` names what was not tried. "full" has none.
    progress : bool or callable
        True: a line on standard error, where that is a terminal, after a second. A function is
        called with a ``Progress``.
    **options
        ``sample_weight`` of an estimator.

    Returns
    -------
    Certificate
        For a problem: the gap is P - D under Minimize and D - P under Maximize, its relative
        size is against max(|P|, |D|, 1e-3 of a size that the data alone determine), constants of
        the objective left out; rows by constraint (label, else ``constraints[i]``) and by
        variable attribute. Where the multipliers leave a residual r on variables without bounds,
        the gap is ``inf``; what counts is then the gap over abs(x_j - xhat_j) <= R,
        R = max(1, abs(xhat)_inf): ``evidence["localized_gap"]``, and ``reason`` says so.
        A problem with the status infeasible or unbounded gets a certificate of that claim.

    Raises
    ------
    InputError
        For what is neither, for problems that are not DCP or not continuous, where values are
        missing, and for another effort.

    Notes
    -----
    The certificate is of CVXPY's conic form of the problem; the objective and the feasibility are
    evaluated in NumPy from the problem itself, and a difference counts into the gap.
    """
    tol = positive_number(tol, "certify", "tol")
    if effort not in EFFORTS:
        raise InputError(f"certify: effort must be one of {', '.join(EFFORTS)}, got {effort!r}.")
    with operation("certify", progress):
        certificate = _judge(subject, data, tol, effort, options)
        judged(certificate)
    return certificate


def _judge(
    subject: Any, data: tuple[Any, ...], tol: float, effort: str, options: dict[str, Any]
) -> Certificate:
    """The certificate of what can be certified; what cannot is refused."""
    kind = type(subject).__name__
    if isinstance(subject, type):
        raise InputError(
            f"certify: {subject.__name__} is a class; pass a fitted instance, such as "
            f"{subject.__name__}(...).fit(X, y)."
        )
    if isinstance(subject, cp.Problem):
        if data or options:
            words = "".join(solve_argument(name, ("tol", "effort")) for name in options)
            raise InputError(
                f"certify: a cvxpy.Problem takes no other argument than tol and effort.{words}"
            )
        return certify_problem(subject, tol=tol, effort=effort)
    if hasattr(subject, "get_params"):
        from ..sklearn.estimators import certify_estimator

        if len(data) not in (1, 2):
            raise InputError(
                f"certify: a fitted {kind} is judged on its training data; call "
                f"certify(estimator, X, y), got {len(data)} arrays."
            )
        refuse_unknown(certify_estimator, options, "certify")
        return certify_estimator(subject, *data, tol=tol, **options)
    raise InputError(
        f"certify: expected a cvxpy.Problem or a fitted scikit-learn estimator, got "
        f"{_shown(subject)}. {_instead(subject, data)}"
    )


def _shown(subject: Any) -> str:
    """A value that can be told in a word, else its type."""
    brief = subject is None or isinstance(subject, bool | int | float | str)
    return repr(subject)[:60] if brief else type(subject).__name__


def _instead(subject: Any, data: tuple[Any, ...]) -> str:
    """How what is neither is judged."""
    from ..models.base import Problem
    from ..models.solution import Solution

    if any(hasattr(each, "get_params") for each in data):
        return "The estimator comes first: certify(estimator, X, y)."
    if isinstance(subject, cp.Expression):
        return "Make a problem of it: cp.Problem(cp.Minimize(...))."
    if isinstance(subject, str):
        return "Load a problem file by cml.load(path), a model by joblib or pickle."
    if isinstance(subject, Solution):
        return "It is certified already: solution.certificate."
    if isinstance(subject, Problem):
        return f"A posed {subject.name} has its own .certify: it takes the point, {HOW}."
    if isinstance(subject, dict):
        return f"A point is judged by its problem: {HOW}."
    return f"A posed convexml problem has its own .certify: {HOW}."


# An assertion for people's own test suites: what I hold is optimal, and verified to be.


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
    from ..models.base import Problem

    if isinstance(subject, Problem):
        if not data:
            raise InputError(
                f"assert_optimal: a posed {subject.name} holds no point; pass one, as "
                "assert_optimal(problem, w, b)."
            )
        return subject.certify(*data, tol=tol, **options)
    return certify(subject, *data, tol=tol, **options)
