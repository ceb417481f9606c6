"""What a solve returns: the point, its duals, and the certificate that judges them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..certificates import Certificate
from ..certificates.support.labels import CertifiedSupport
from ..errors import InputError
from ..files import read_text, writable
from ..numerics import Array
from ..solvers.driver import Record
from .explaining import ExplainedSolution
from .formats.stored_solution import read, write
from .iterates import Iterates, iterates
from .pictures.picture import Pictured
from .predicting import Predictions
from .rates.audit import Recorded, audit
from .rates.program import RecordedProgram
from .rates.result import RateAudit


@dataclass(repr=False)
class Solution(ExplainedSolution, Pictured, Predictions):
    """A solution and everything that is known of its quality.

    Attributes
    ----------
    status : str
        "optimal" (the certificate holds at tol), "inaccurate" (a point and an honest gap),
        "infeasible", "unbounded", "unattained" or "failed".
    problem : posed problem
        What was solved, with the hyperparameters of that moment.
    primal, dual : dict of arrays
        By the textbook's names; see the model.
    certificate : Certificate
        Recomputed from the raw data.
    solver, claimed_status : str
        Who solved, and what it said of itself.
    polished : str
        By what the solver's point was moved afterwards; "" where it is the solver's own.
    choice : str
        What "auto" chose and why.
    iterations : int
        The algorithm's own steps.
    passes : float
        Passes over X.
    seconds, compile_seconds : float
        Solving; and posing for CVXPY, or compiling loops where numba did.
    evaluated : list of Record
        The iterates that were evaluated on the way.
    evidence : dict of arrays
        Verified evidence of infeasibility, unboundedness or a missing minimiser.
    support : array or None
        Sorted indices of the support vectors; None where rows lie in blocks.
    shadow_prices : dict of arrays
        Linear programs: dp*/d(right-hand side), by constraint, as SciPy's marginals.
    message : str
        What the solver or we have to add.
    posed : pair of dicts, or None
        The same values and multipliers by variable and constraint of ``problem.primal``.
    recorded : Recorded, RecordedProgram or None
        How a hand-written solver was run, so that ``rate_audit`` can repeat it.
    """

    status: str
    problem: Any
    primal: dict[str, Array]
    dual: dict[str, Array]
    certificate: Certificate
    solver: str
    claimed_status: str = ""
    polished: str = ""
    choice: str = ""
    iterations: int = 0
    passes: float = 0.0
    seconds: float = 0.0
    compile_seconds: float = 0.0
    evaluated: list[Record] = field(default_factory=list)
    evidence: dict[str, Any] = field(default_factory=dict)
    support: Array | None = None
    shadow_prices: dict[str, Array] = field(default_factory=dict)
    message: str = ""
    posed: tuple[dict[str, Any], dict[str, Any]] | None = field(
        default=None, repr=False, compare=False
    )
    recorded: Recorded | RecordedProgram | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._freeze()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._freeze()  # a copy of an array may be written to

    def _freeze(self) -> None:
        """The certificate speaks of these numbers: they are not to change under it."""
        for table in (self.primal, self.dual, self.evidence, self.shadow_prices):
            table.update({name: _frozen(value) for name, value in table.items()})

    @cached_property
    def trace(self) -> list[Record]:
        """Verified values along the run; the start is evaluated now if it was not on the way."""
        late = bool(self.evaluated) and self.evaluated[0].iteration > 0
        start = [self.recorded.start()] if late and isinstance(self.recorded, Recorded) else []
        return start + self.evaluated

    @cached_property
    def iterates(self) -> Iterates:
        """The points of the run, repeated bit for bit and thinned, with P, gap and step."""
        return iterates(self)

    @property
    def objective(self) -> float:
        """P, recomputed by us."""
        return self.certificate.primal_objective

    @property
    def dual_objective(self) -> float:
        """D, recomputed by us."""
        return self.certificate.dual_objective

    @property
    def gap(self) -> float:
        """P - D."""
        return self.certificate.gap

    @property
    def bound(self) -> float:
        """A number that no feasible point is below: P - ``proved_gap``; -inf if none is known."""
        certificate = self.certificate
        if not np.isfinite(certificate.proved_gap):
            return -np.inf
        return float(np.nextafter(self.objective - certificate.proved_gap, -np.inf))

    @property
    def relative_gap(self) -> float:
        """The gap relative to max(|P|, |D|, 1e-6 P_0)."""
        return self.certificate.relative_gap

    @property
    def kkt(self) -> dict[str, float]:
        """The four kinds of KKT residuals, max abs."""
        return self.certificate.kkt

    def certified_support(self) -> CertifiedSupport:
        """What the gap proves of every solution: support vectors, zeros, intercepts, uniqueness.

        Returns
        -------
        CertifiedSupport

        Raises
        ------
        InputError
            If there is no point, or the problem is no learning problem with one output.
        """
        judge = getattr(self.problem, "certified_support", None)
        if judge is None or "u" not in self.dual or np.ndim(self.primal["b"]):
            raise InputError(
                f"certified_support: {self.problem.name} ({self.status}) has no point with "
                "samples and coefficients to label; it needs a solved learning problem with one "
                "output."
            )
        point = self.primal["q"] if "q" in self.primal else self.primal["w"]
        return judge(point, float(self.primal["b"]), self.dual["u"])

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the problem and the point as JSON; claims are not stored, but re-verified.

        Samples in row blocks stay there, and so do vectors of n numbers: w, b and the settings are
        stored, and ``from_json`` judges them on the blocks that are passed as its ``problem``.

        Parameters
        ----------
        path : str or Path, optional
            A file to write it to as well.

        Returns
        -------
        str
        """
        text = write(self)
        if path is not None:
            writable(path, "to_json").write_text(text + "\n", encoding="utf-8")
        return text

    @classmethod
    def from_json(cls, text: str | Path, problem: Any = None) -> Solution:
        """Read a solution back and certify it again.

        Parameters
        ----------
        text : str or Path
            What ``to_json`` returned; a ``Path`` is the file that it wrote.
        problem : posed problem, optional
            Judge against this problem rather than the one stored in the text. Required where
            its samples lie in row blocks, which are not stored.

        Returns
        -------
        Solution
            Its status follows from the new certificate, whatever the text claims.

        Raises
        ------
        InputError
            If the text is no such document.
        """
        if isinstance(text, Path):
            text = read_text(text, "Solution.from_json")
        solution: Solution = read(text, problem)
        return solution

    def rate_audit(self, *, iterations: int | None = None, seeds: int | None = None) -> RateAudit:
        """Compare every iterate with the bound of the solver's theorem.

        The run is repeated, bit for bit, and measured against x* and a certified lower bound of
        P*, which another solver provides.

        Parameters
        ----------
        iterations : int, optional
            How many iterations to look at; as many as the run took by default.
        seeds : int, optional
            For a theorem about an expectation: the number of runs behind the mean.

        Returns
        -------
        RateAudit
            With ``.holds``, ``.first_violation`` and ``.slack``.

        Raises
        ------
        InputError
            If the solver has no theorem, or the solution was read from a file.
        """
        steps = self.iterations if iterations is None else iterations
        return audit(self.solver, self.recorded, steps, self.problem, seeds)


def _frozen(value: Any) -> Any:
    """A view that cannot be written to, for arrays; anything else as it is."""
    if not isinstance(value, np.ndarray):
        return value
    view = value.view()
    view.flags.writeable = False
    return view
