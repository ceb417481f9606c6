"""The base of the models whose point is no (w, b): a few arrays by name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from ...certificates import Certificate
from ...deadline import limited
from ...errors import InputError, nearest
from ...numerics import Array
from ...validation import finite_array, positive_number
from ..base import Problem
from ..checkpoint import without_checkpoint
from ..portfolio import Limits
from ..solution import Solution
from .running import judge_stored, solve_arrays

Arrays = dict[str, Array]
Shapes = Mapping[str, tuple[int, ...]]


class ArrayProblem(Problem):
    """A convex problem in named arrays, with a certificate of its own.

    A model says the names and shapes of its arrays, its two objectives and how a point is judged;
    it poses itself with CVXPY like all others. From these come ``solve``, ``certify``,
    ``objective``, paths, JSON and tables. ``docs/extending.md`` has an example.
    """

    why: ClassVar[str] = "it is written for this model"
    """Why "auto" takes the first of them."""
    _hyper: dict[str, Any]
    _promise: float = 0.0
    """The relative gap that a method expects of its last step: not judged where it is too large."""

    # -- what a model says of itself -------------------------------------------------------------

    @abstractmethod
    def shapes(self) -> tuple[Shapes, Shapes]:
        """The shapes of the arrays of a point, and of a dual point, by name."""

    @abstractmethod
    def _value(self, point: Arrays) -> float:
        """P at a point; inf where it is infeasible."""

    @abstractmethod
    def _dual_value(self, dual: Arrays) -> float:
        """D at a dual point; -inf where it is infeasible."""

    @abstractmethod
    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        """Judge a point as it is, with the dual arrays that are passed; construct the others.

        Its ``dual`` holds the dual point by name. Only where it is to ``search`` does it look for a
        better point or dual point, which may take as long as solving.
        """

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        """(point, dual point) of one of ``methods``, step by step, the start first."""
        raise NotImplementedError

    def _absence(self, tol: float) -> Certificate | None:
        """Evidence that there is no optimal point, where the data show it."""
        return None

    @property
    def _asks(self) -> bool:
        """Whether "auto" asks the reference solvers where ``methods`` fall short."""
        return True

    def _complete(self, point: Arrays) -> Arrays:
        """A point with the arrays that were not passed, where they follow from the others."""
        return point

    def _check(self, **hyper: Any) -> dict[str, Any]:
        """The hyperparameters, validated."""
        return hyper

    def _read_point(self) -> dict[str, Any]:
        """The arrays of a point that a reference solver left in ``variables``."""
        there = self.variables
        return {name: there[name].value for name in self.shapes()[0] if name in there}

    def _read_duals(self) -> Arrays:
        """The dual arrays that a reference solver left in ``constraints``, as far as it did."""
        return {}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        """The values of ``variables``, and the dual values of ``constraints``, by name."""
        return point, {}

    # -- solved and judged: any arrays, whoever computed them -------------------------------------

    @limited
    def solve(
        self,
        solver: str = "auto",
        *,
        tol: float = 1e-6,
        max_seconds: float | None = None,
        max_iter: int | None = None,
        **options: Any,
    ) -> Solution:
        """Solve and certify; fills the values of ``primal``.

        Parameters
        ----------
        solver : str
            "auto" (the first of ``methods``, then the reference solvers until a claim is verified,
            where they suit), or the name of a solver.
        tol : float
            Relative, for the certificate.
        max_seconds, max_iter : number, optional
            Limits.
        **options
            ``progress``, and a reference solver's own options; ``seed``, ``w0`` and ``polish`` have
            no effect here.

        Returns
        -------
        Solution
            "optimal" only where the certificate holds.
        """
        without = ("seed", "w0", "polish")
        options = {key: value for key, value in options.items() if key not in without}
        options = without_checkpoint(f"{self.name}.solve", options)
        limits = Limits.read(tol, max_seconds, max_iter)
        self._last = solve_arrays(self, solver, limits, options)
        if self._statement is not None:
            self._fill()
        return self._last

    def certify(self, *point: Any, tol: float = 1e-6, **arrays: Any) -> Certificate:
        """Judge a point as it is; what is missing of its dual point is constructed.

        Parameters
        ----------
        *point : array
            The array of the point, where it has only one.
        tol : float
            For the relative gap and the feasibilities, relative to their rows.
        **arrays
            The arrays of ``Solution.primal``, and any of ``Solution.dual``, by name.

        Returns
        -------
        Certificate
            Claim "optimal".
        """
        tol = positive_number(tol, f"{self.name}.certify", "tol")
        primal, dual = self._read("certify", point, arrays)
        return self._judge(primal, dual, tol, search=True)

    def objective(self, *point: Any, **arrays: Any) -> float:
        """P at the arrays of a point, as ``certify`` takes them; inf where it is infeasible."""
        return self._value(self._read("objective", point, arrays, duals=False)[0])

    def dual_objective(self, *dual: Any, **arrays: Any) -> float:
        """D at the arrays of a dual point, by name or a single one; -inf where it is infeasible."""
        shapes = self.shapes()[1]
        return self._dual_value(self._arrays("dual_objective", dual, arrays, shapes, tuple(shapes)))

    def _read(
        self, method: str, given: tuple[Any, ...], arrays: dict[str, Any], duals: bool = True
    ) -> tuple[Arrays, Arrays]:
        """The point, complete, and the dual arrays among what was passed."""
        ours, theirs = self.shapes()
        first = {name: value for name, value in arrays.items() if not (duals and name in theirs)}
        point = self._complete(self._arrays(method, given, first, ours))
        lacking = [name for name in ours if name not in point]
        if lacking:
            raise InputError(
                f"{self.name}.{method}: {lacking[0]!r} is missing; pass the arrays "
                f"{', '.join(ours)} by name, as Solution.primal holds them."
            )
        rest = {name: value for name, value in arrays.items() if name not in first}
        return point, self._arrays(method, (), rest, theirs)

    def _arrays(
        self,
        method: str,
        given: tuple[Any, ...],
        arrays: Mapping[str, Any],
        shapes: Shapes,
        needed: tuple[str, ...] = (),
    ) -> Arrays:
        """Finite arrays of the right shapes, by name."""
        owner, names = f"{self.name}.{method}", list(shapes)
        if len(given) > 1 or (given and isinstance(given[0], Mapping)):
            raise InputError(
                f"{owner}: takes its arrays by name: {', '.join(names)}; with a dict "
                f"{method}(**solution.primal)."
            )
        found = dict(zip(names, given, strict=False)) | dict(arrays)
        if given and names[0] in arrays:
            raise InputError(f"{owner}: {names[0]!r} is passed twice.")
        for name in found:
            if name not in shapes:
                known = f"{nearest(name, names)} Arrays: {', '.join(names)}."
                raise InputError(f"{owner}: there is no array {name!r}.{known}")
        for name in needed:
            if name not in found:
                raise InputError(f"{owner}: {name!r} is missing; pass {', '.join(needed)}.")
        read = {name: finite_array(value, owner, name) for name, value in found.items()}
        for name, value in read.items():
            if value.size == 0 and 0 in shapes[name]:
                read[name] = value = value.reshape(shapes[name])  # a list says no more of it
            if value.shape != tuple(shapes[name]):
                raise InputError(
                    f"{owner}: {name} must have shape {tuple(shapes[name])}, got {value.shape}."
                )
        return read

    # -- stored, posed with CVXPY ----------------------------------------------------------------

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The problem as plain lists, for JSON; ``from_dict`` poses it again."""

    def recertify(self, primal: Arrays, dual: Arrays, document: dict[str, Any]) -> Solution:
        """Judge a stored point anew; its status follows from the new certificate."""
        if primal:
            primal, dual = self._read("from_json", (), primal | dual)
        return judge_stored(self, primal, dual, document)

    def _set_hyperparameter(self, name: str, value: Any) -> None:
        self._hyper, self._last = self._check(**(self._hyper | {name: value})), None
        for statement in (self._statement, self._dual_statement):
            if statement is not None and name in statement.parameters:
                statement.parameters[name].value = self._hyper[name]

    def _fill(self) -> None:
        if self._last is None or not self._last.primal:
            return
        values, duals = self._posed_values(dict(self._last.primal), dict(self._last.dual))
        for name, value in values.items():
            self.statement.variables[name].value = np.array(value)
        for label, value in duals.items():
            self.statement.constraints[label].save_dual_value(np.array(value))
