"""Linear programs, as ``scipy.optimize.linprog`` reads them."""

from __future__ import annotations

from typing import Any

from ...numerics import Array
from ...objective.linear.data import linear_to_dict, read_linear_data
from ..solution import Solution
from .judged import JudgedProgram
from .solve import judge_stored, solve_linear
from .statement import fill_linear, linear_latex


class LinearProgram(JudgedProgram):
    """Minimise c'x subject to A_ub x <= b_ub, A_eq x = b_eq and lower <= x <= upper.

    Parameters
    ----------
    c : array, shape (n,)
        Cost.
    A_ub, b_ub : array or sparse array, shapes (m, n) and (m,), optional
        Inequalities.
    A_eq, b_eq : array or sparse array, shapes (p, n) and (p,), optional
        Equalities.
    bounds : pair, or sequence of n pairs (min, max)
        ``None`` or an infinity where there is no bound; by default x >= 0, as SciPy.

    Raises
    ------
    InputError
        Where shapes do not agree, an entry is not finite or a bound is empty.

    Notes
    -----
    L = c'x + lambda_ub'(A_ub x - b_ub) + nu'(A_eq x - b_eq) - lambda_lower'(x - lower)
    + lambda_upper'(x - upper), all multipliers but nu >= 0. The dual maximises
    -b_ub'lambda_ub - b_eq'nu + lower'lambda_lower - upper'lambda_upper subject to
    c + A_ub'lambda_ub + A_eq'nu - lambda_lower + lambda_upper = 0.

    References
    ----------
    Boyd and Vandenberghe, *Convex Optimization*, section 5.2.1.
    """

    _last: Solution | None = None

    def __init__(
        self,
        c: Any,
        A_ub: Any = None,
        b_ub: Any = None,
        A_eq: Any = None,
        b_eq: Any = None,
        bounds: Any = (0, None),
    ) -> None:
        self.data = read_linear_data(c, A_ub, b_ub, A_eq, b_eq, bounds, self.name)

    def _fill(self) -> None:
        if self._last is not None and self._last.primal:
            fill_linear(self.data, self.statement, self._last.primal["x"], self._last.dual)

    def solve(
        self,
        solver: str = "auto",
        *,
        tol: float = 1e-6,
        max_seconds: float | None = None,
        max_iter: int | None = None,
        polish: bool = True,
        **options: Any,
    ) -> Solution:
        """Solve by a reference solver and certify; fills the values of ``primal``.

        Parameters
        ----------
        solver : str
            "auto" (HiGHS, Clarabel, HiGHS in equilibrated units, then the others, until a claim
            is verified) or the name of a solver.
        tol : float
            Relative, for the certificate.
        max_seconds, max_iter : number, optional
            Limits, passed on to the solver.
        polish : bool
            Solve the active constraints exactly afterwards, where that improves the certificate.
        **options
            The solver's own options; ``seed``, ``w0`` and ``progress`` have no effect here.

        Returns
        -------
        Solution
            "optimal" only where the certificate holds, "infeasible" and "unbounded" only with
            verified evidence.
        """
        options = {k: v for k, v in options.items() if k not in ("seed", "w0", "progress")}
        limits: dict[str, Any] = {"tol": tol, "max_seconds": max_seconds, "max_iter": max_iter}
        self._last = solve_linear(self, solver, polish=polish, **limits, **options)
        self._fill()
        return self._last

    def latex(self) -> str:
        """Primal, Lagrangian, dual and KKT conditions in LaTeX."""
        return str(linear_latex(self.data))

    def to_dict(self) -> dict[str, Any]:
        """The program as plain lists, for JSON."""
        return {"kind": self.name, **linear_to_dict(self.data)}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> LinearProgram:
        """Pose the program again that ``to_dict`` described."""
        return cls(**{key: value for key, value in stored.items() if key != "kind"})

    def recertify(
        self, primal: dict[str, Array], dual: dict[str, Array], document: dict[str, Any]
    ) -> Solution:
        """Judge a stored point anew; its status follows from the new certificate."""
        return judge_stored(self, primal, dual, document)

    def __repr__(self) -> str:
        sizes = f"{self.data.n} variables, {self.data.b_ub.size} inequalities"
        return f"{self.name}({sizes}, {self.data.b_eq.size} equalities)"
