"""Who can solve what: solvers declare their needs, one checker explains a mismatch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import getattr_static
from typing import Any

from .. import theory
from ..data import rows_in_blocks
from ..errors import InputError, UnknownSolverError, instead, nearest
from ..theory import Theorem
from . import exact, orthogonal
from .coordinate import dual_coordinate_descent, working_set
from .driver import Iterate
from .dual import proximal_point, smo
from .first_order import admm, gradient
from .needs import (
    BOUNDED,
    BROUGHT,
    GENERAL,
    NEEDS,
    SCALAR,
    SMOOTH,
    SPLIT,
    Algorithm,
    by_name,
    meets,
)
from .printed import PREFIX, PRINTED
from .reference import REFERENCE, installed, suits
from .second_order import (
    augmented_lagrangian,
    interior_point,
    irls,
    newton,
    normal_equations,
    quadratic,
)
from .stochastic import saga, sgd

# The table of the hand-written solvers: name, algorithm, needs, limit, theorem.


TABLE = (
    by_name(newton.newton, (*GENERAL, "smooth loss", "smooth penalty"), 100, theory.NewtonRate()),
    by_name(
        newton.newton_cg,
        (*GENERAL, "smooth loss", "smooth penalty"),
        200,
        theory.InexactNewtonRate(),
    ),
    by_name(gradient.gradient_descent, (*GENERAL, *SMOOTH), 10_000, theory.SearchedDescent()),
    by_name(
        gradient.accelerated_gradient,
        (*GENERAL, *SMOOTH, *BOUNDED),
        10_000,
        theory.AcceleratedRate(composite=False),
    ),
    by_name(gradient.proximal_gradient, (*GENERAL, *SPLIT), 10_000, theory.ProximalGradientRate()),
    by_name(gradient.fista, (*GENERAL, *SPLIT), 10_000, theory.AcceleratedRate(composite=True)),
    by_name(
        gradient.subgradient,
        (*GENERAL, "finite loss", "Lipschitz loss", "subgradient of the penalty"),
        10_000,
        theory.SubgradientRate(),
    ),
    by_name(
        interior_point.interior_point,
        (*SCALAR, "box dual", "quadratic penalty, l1 or elastic net"),
        100,
        theory.InteriorPointRate(),
    ),
    by_name(
        augmented_lagrangian.augmented_lagrangian,
        (*SCALAR, "bounded box dual", "strongly convex quadratic penalty"),
        200,
        theory.AugmentedLagrangianRate(),
    ),
    by_name(sgd.sgd, (*SCALAR, *SMOOTH, *BOUNDED), 500, theory.SgdRate()),
    by_name(
        sgd.pegasos,
        (
            *SCALAR,
            "finite loss",
            "Lipschitz loss",
            "uniform l2 penalty",
            "model without an intercept",
        ),
        500,
        theory.PegasosRate(),
    ),
    by_name(
        sgd.stochastic_subgradient,
        (*SCALAR, "finite loss", "penalty without constraints", "bounded slope of every sample"),
        500,
        theory.StochasticSubgradientRate(),
    ),
    by_name(saga.saga, (*SCALAR, *SPLIT), 10_000, theory.SagaRate()),
    by_name(sgd.perceptron, (*SCALAR, "separation problem"), 200_000, theory.PerceptronBound()),
    by_name(
        dual_coordinate_descent.dual_coordinate_descent,
        (*SCALAR, "finite loss", "box dual", "strongly convex quadratic penalty"),
        1000,
        theory.DualAscent(),
    ),
    by_name(
        smo.smo,
        (*SCALAR, "finite loss", "box dual", "strongly convex quadratic penalty", "kernel"),
        1000,
        theory.DualAscent(),
    ),
    by_name(
        working_set.coordinate_descent,
        (*SCALAR, "finite loss", "smooth loss", "norm of blocks as its penalty"),
        100,
        theory.Descent(),
    ),
    by_name(
        normal_equations.normal_equations,
        (*SCALAR, "squared loss", "strongly convex quadratic penalty"),
        100,
        theory.ConjugateGradientsRate(),
    ),
    by_name(orthogonal.qr, (*SCALAR, "squared loss", "quadratic penalty"), 10),
    by_name(
        proximal_point.proximal_point,
        (*SCALAR, "squared loss", "sorted l1 norm as its penalty"),
        200,
        theory.Descent(),
    ),
    by_name(irls.irls, (*SCALAR, "smooth loss", "quadratic penalty"), 100, theory.NewtonRate()),
    by_name(
        admm.admm, (*SCALAR, "loss without equality constraints"), 20_000, theory.AdmmResiduals()
    ),
    by_name(
        quadratic.proximal_newton, (*GENERAL, "finite loss", "smooth loss"), 200, theory.Descent()
    ),
    by_name(quadratic.method_of_multipliers, (*SCALAR, "finite loss", "bounded box dual"), 200),
    by_name(exact.kruskal, BROUGHT, 1),
    by_name(exact.boosting, BROUGHT, 1),
    by_name(exact.pool_adjacent_violators, BROUGHT, 1),
    by_name(exact.sorting, BROUGHT, 1),
)


ALGORITHMS = {algorithm.name: algorithm for algorithm in (*TABLE, *PRINTED)}
"""Those of the table and of the page, and what ``register`` adds."""
ELSEWHERE: dict[str, str] = {
    **dict.fromkeys(("lbfgs", "l-bfgs-b", "bfgs", "newton-cg"), " Take 'newton_cg' or 'newton'."),
    **dict.fromkeys(("cholesky", "lsqr", "sparse_cg"), " Take 'normal_equations'."),
    "svd": " Take 'qr'.",
    **dict.fromkeys(("celer", "skglm"), " Take 'coordinate_descent'."),
    **dict.fromkeys(("simplex", "highs-ds", "highs-ipm"), " Take 'highs'."),
    **dict.fromkeys(("gurobi", "mosek", "cplex", "scipy", "none"), " Take 'auto'."),
    "sag": " Take 'saga'.",
    "liblinear": " Take 'coordinate_descent' or 'dual_coordinate_descent'.",
    "working_set": " Take 'coordinate_descent'.",
    "libsvm": " Take 'smo'.",
    "online_gradient_descent": " Take 'textbook.online_gradient_descent'.",
    "follow_the_regularized_leader": " Take 'textbook.follow_the_regularized_leader'.",
    "exponentiated_gradient": " Take 'textbook.exponentiated_gradient'.",
}
"""Solvers of other libraries, or as they were called before, and which of ours is nearest."""


def register(
    name: str,
    iterate: Callable[..., Iterator[Iterate]],
    needs: tuple[str, ...] = (),
    max_iter: int = 1000,
    theorem: Theorem | None = None,
    multiclass: bool = False,
) -> None:
    """Make a solver of your own available by name.

    Parameters
    ----------
    name : str
        What ``solve(name)`` will ask for.
    iterate : callable
        ``iterate(objective, w, b, **options)`` yields ``Iterate``s, the start first. If it has a
        parameter ``seed``, all its randomness comes from it. An array that was yielded is not
        written to again.
    needs : tuple of str
        Keys of ``NEEDS``.
    max_iter : int
        Default limit on the iterations.
    theorem : Theorem, optional
        What ``Solution.rate_audit`` holds the iterates to.
    multiclass : bool
        Whether it also takes b of shape (K,) and predictions of shape (n, K), for K classes.

    Raises
    ------
    InputError
        If the name is taken or a need is unknown.
    """
    if name in ALGORITHMS or name in REFERENCE:
        raise InputError(f"register: the solver name {name!r} is taken.")
    for need in needs:
        if need not in NEEDS:
            raise InputError(f"register: unknown need {need!r}.{instead(need, NEEDS)}")
    general = GENERAL if multiclass else SCALAR
    ALGORITHMS[name] = Algorithm(name, iterate, (*general, *needs), max_iter, theorem)


def unregister(name: str) -> None:
    """Remove a registered solver.

    Parameters
    ----------
    name : str
        As it was registered; unknown names are ignored.
    """
    ALGORITHMS.pop(name, None)


def names() -> list[str]:
    """All registered solvers, hand-written first, installed or not; those of the page left out.

    Returns
    -------
    list of str
    """
    return [*_own(), *REFERENCE]


def printed() -> list[str]:
    """The algorithms of the page, "textbook.newton" ...: they run where they are asked for.

    Returns
    -------
    list of str
    """
    return [algorithm.name for algorithm in PRINTED]


def _own() -> list[str]:
    return [name for name in ALGORITHMS if not name.startswith(PREFIX)]


def available() -> list[str]:
    """The registered solvers that can run here: hand-written, and installed reference ones.

    Returns
    -------
    list of str
    """
    return [*_own(), *(name for name in REFERENCE if installed(name))]


OVER_BLOCKS = (
    "normal_equations",
    "newton",
    "newton_cg",
    "coordinate_descent",
    "interior_point",
    "proximal_newton",
    "method_of_multipliers",
    "fista",
    "gradient_descent",
    "admm",
    "saga",
)
"""Solvers that ask of samples only what blocks of them answer: elementwise functions and sums."""


def takes_rows(name: str, objective: Any) -> bool:
    """Whether a solver takes the rows of a problem where they lie: in memory, or in blocks."""
    return name in OVER_BLOCKS or not rows_in_blocks(objective)


def supports(name: str, problem: Any) -> tuple[bool, str]:
    """Whether a solver takes a problem, and if not, why.

    Parameters
    ----------
    name : str
        A solver's name.
    problem : posed problem
        Anything with ``.primal``, and ``.objective_parts`` (an Objective) or ``.methods``, the
        hand-written solvers that it brings for itself.

    Returns
    -------
    tuple of (bool, str)
        The reason is empty where the answer is True.

    Raises
    ------
    UnknownSolverError
        If no solver has that name; the nearest name is offered.
    InputError
        For what is no posed problem.
    """
    name = check_name(name)
    objective: Any = getattr(problem, "objective_parts", None)
    if not takes_rows(name, objective):
        return False, f"{name} needs the samples in memory; those of {problem.name} lie in blocks."
    # Looking is not posing: ``primal`` is a property that poses.
    if not hasattr(type(problem), "primal") and getattr_static(problem, "primal", None) is None:
        raise InputError(f"supports: expected a posed problem, got {type(problem).__name__}.")
    if name in REFERENCE:
        return suits(name, problem.primal)
    if name in getattr(problem, "methods", ()):
        return True, ""
    needs = ALGORITHMS[name].needs
    if "kernel" in needs:
        objective = getattr(problem, "kernel_parts", objective)
    for need in needs:
        if not meets(objective, need):
            words, one = NEEDS[need][1], "" if need.startswith(("no ", "equal ")) else "a "
            return (
                False,
                f"{name} needs {one}{need}; {problem.name} cannot be solved by it: {words}.",
            )
    return True, ""


def suitable_instead(problem: Any) -> str:
    """Advice for who asked a problem of an unsuitable solver: the hand-written ones that fit."""
    fits = [name for name in _own() if supports(name, problem)[0]]
    listed = f", or one of {', '.join(fits)}" if fits else ""
    return f" Take 'auto'{listed}."


def check_name(name: str) -> str:
    """Return the name as it is registered, "CLARABEL" as "clarabel"; else UnknownSolverError."""
    for known in (name, str(name).lower()):
        if known in ALGORITHMS or known in REFERENCE:
            return known
    others = printed() if str(name).startswith(PREFIX) else names()
    advice = ELSEWHERE.get(str(name).lower(), "") or nearest(name, others)
    raise UnknownSolverError(
        f"Unknown solver {name!r}.{advice} Known: {', '.join(others)}; 'auto' chooses."
    )
