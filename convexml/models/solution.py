"""What a solve returns: the point, its duals, and the certificate that judges them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..certificates import Certificate
from ..certificates.support import CertifiedSupport
from ..errors import ConvexmlError, InputError, NoSuchNameError
from ..numerics import Array, without_warnings
from ..solvers.driver import Record, evaluate
from ..system import read_text, writable
from ..validation import PublicNames, positive_number
from .explanation import ExplainedSolution
from .inputs import BLOCKS, RowValues
from .pictures.path import PicturedPath
from .pictures.solution import Pictured
from .rate_audit import RateAudit, Recorded, RecordedProgram, audit

# The iterates of a run, thinned: w, b, P, the verified gap, and the step that led there.


EACH = 200
"""Every iterate up to this one is kept."""
APART = 1.02
"""Beyond, the number of the next is at least so many times that of the last; and the end is."""


@dataclass(frozen=True)
class Iterates:
    """Points of a run in the problem's own units, k of them.

    All are kept up to iteration 200; beyond, each number is at least 1.02 times the one before; the
    last one is always there.

    Attributes
    ----------
    iterations : array of int, shape (k,)
        Their numbers; 0 is the start.
    w : array, shape (k, d) or (k, d, K)
        Coefficients; of a kernel model those of the samples, (k, n).
    b : array, shape (k,) or (k, K)
        Intercepts.
    objective, gap : array, shape (k,)
        P, and P - D with the dual point that the algorithm has, or the one made of (w, b).
    step : array, shape (k,)
        The length of the step that led there, nan where the algorithm tells none.
    """

    iterations: Array
    w: Array
    b: Array
    objective: Array
    gap: Array
    step: Array

    def __len__(self) -> int:
        return len(self.iterations)


def kept(last: int) -> Iterator[int]:
    """The numbers of the iterates that are kept of 0 ... ``last``."""
    k = 0
    while k < last:
        yield k
        k = k + 1 if k < EACH else max(k + 1, int(APART * k))
    yield last


@without_warnings
def iterates(solution: Any) -> Iterates:
    """Repeat a run, bit for bit, and keep its iterates.

    Raises
    ------
    InputError
        Where no hand-written solver left a run.
    """
    recorded = solution.recorded
    if not isinstance(recorded, Recorded):
        raise InputError(
            f"Solution.iterates: {solution.solver} left no iterates. Solve by a hand-written "
            "solver: convexml.solvers.printed() and convexml.solvers.available() name them."
        )
    objective, frame, rows = recorded.objective, recorded.frame, []
    factor = 1.0 if frame is None else frame.factor
    numbers = list(kept(solution.iterations))
    wanted = set(numbers)
    for k, point in enumerate(recorded.first(solution.iterations + 1)):
        if k in wanted:
            told, _ = evaluate(objective, point, k)
            own = (point.w, point.b) if frame is None else frame.outside(point.w.copy(), point.b)
            step = float(point.facts.get("step", np.nan))
            rows.append((*own, factor * told.objective, factor * told.gap, step))
    w, b, P, gap, steps = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    shape = getattr(solution.problem.objective_parts, "w_shape", w.shape[1:])
    return Iterates(np.array(numbers[: len(w)]), w.reshape(len(w), *shape), b, P, gap, steps)


# What ``path`` returns: the solutions for some values of a hyperparameter.


class SolutionPath(PicturedPath, list[Any]):
    """Solutions in the order of ``lams``: a list, with a picture.

    Parameters
    ----------
    name : str
        The hyperparameter: "lam", "C", "radius" or "nu".
    lams : sequence of float, shape (m,)
        Its values.
    solutions : sequence of Solution
        One for each value.
    """

    def __init__(self, name: str, lams: Any, solutions: Sequence[Any]) -> None:
        list.__init__(self, solutions)
        self.name, self.lams = name, np.asarray(lams, dtype=float)


# A solution as a data frame: coefficients by the names of their columns.


def frame_of_point(problem: Any, status: str, primal: Mapping[str, Array]) -> Any:
    """The first of "w", "q", "x" that there is, else the first array, as a pandas.DataFrame."""
    try:
        import pandas as pd
    except ImportError:
        raise ConvexmlError("Solution.to_frame needs pandas: pip install pandas.") from None
    name = next((key for key in (*"wqx", *primal) if key in primal), None)
    if name is None:
        raise InputError(f"to_frame: {problem.name} is {status}; there is no point.")
    values, features = np.atleast_1d(np.array(primal[name])), problem.features
    named = features is not None and len(features) == len(values)
    rows = pd.Index(features if named else range(len(values)))
    if values.ndim == 1:
        return pd.DataFrame({name: values}, index=rows)
    classes = getattr(problem, "classes", None)
    if values.ndim == 3:  # a square matrix for each class
        columns = [*range(values.shape[2])] if features is None else list(features)
        index = pd.MultiIndex.from_product(
            [range(len(values)) if classes is None else classes, columns]
        )
        return pd.DataFrame(values.reshape(-1, values.shape[2]), index=index, columns=columns)
    if classes is not None and len(classes) == values.shape[1]:
        columns = list(classes)
    elif named and values.shape[0] == values.shape[1]:
        columns = list(features)
    else:
        columns = [*range(values.shape[1])]
    return pd.DataFrame(values, index=rows, columns=columns)


# What a solution predicts, and its coefficients as scikit-learn's estimators hold them.


WITH_MARGIN = ("hinge", "squared_hinge", "hard_margin")
"""Losses that ask for y_i z_i >= 1, so that 1 / |w| is a distance."""


class Predictions(PublicNames):
    """The part of a ``Solution`` that is asked about samples."""

    elsewhere: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("value", "fun", "optval", "cost"), "Its value is solution.objective"),
        **dict.fromkeys(("success", "converged"), 'Ask solution.status == "optimal"'),
        **dict.fromkeys(("n_iter_", "nit", "niter"), "It is solution.iterations"),
        **dict.fromkeys(("coef", "coefs", "coefficients", "weights"), "It is solution.coef_"),
        **dict.fromkeys(("bias", "intercept"), "It is solution.intercept_"),
        "certificate_": "It is solution.certificate",
        "classes_": "It is solution.problem.classes",
        "feature_names_in_": "It is solution.problem.features",
        "fit": "It is solved; solution.problem.solve(...) solves again",
        "certify": "It is certified: solution.certificate. Another point is judged by "
        "solution.problem.certify(w, b)",
    }
    status: str
    certificate: Any
    problem: Any
    primal: dict[str, Array]
    dual: dict[str, Array]

    @property
    def margin(self) -> float:
        """1 / |w|, of the support vector machines and other problems with a margin."""
        loss = getattr(getattr(self.problem, "sample_parts", None), "loss", None)
        if getattr(loss, "name", "") not in WITH_MARGIN:
            raise NoSuchNameError(f"{self.problem.name} has no margin; support vector machines do.")
        point = self._point("margin")
        norm = self.problem.norm(point) if "q" in point else float(np.linalg.norm(point["w"]))
        return 1.0 / norm if norm > 0.0 else np.inf

    def _point(self, asked: str, method: str = "decision_function") -> dict[str, Array]:
        """``primal``, refused where there is none or the problem has no such method."""
        if not hasattr(self.problem, method):
            what = "no samples to predict"
            if hasattr(self.problem, "predict"):
                what = "none; it has predict"
            if hasattr(self.problem, "decision_function"):
                what = "none; it has decision_function and predict"
            raise InputError(f"{asked}: {self.problem.name} has {what}. See .primal.")
        if not {"b", "rho", "Theta", "theta", "p", "w"} & self.primal.keys():
            raise InputError(
                f"{asked}: {self.problem.name} is {self.status}; there is no point. See .evidence "
                "and .certificate.reason."
            )
        return self.primal

    def decision_function(self, X: Any) -> Array:
        """X w + b, shape (n,); (n, K) for K classes or targets.

        Parameters
        ----------
        X : array, sparse matrix or data frame, shape (n, d)
            New samples; the columns of a data frame are matched by name.

        Returns
        -------
        array
        """
        point = self._point("decision_function")
        return self.problem.decision_function(X, point)

    def predict(self, X: Any) -> Array:
        """Predictions: numbers for regression, the caller's labels for classification.

        Parameters
        ----------
        X : array, sparse matrix or data frame, shape (n, d)
            Of nearest neighbours, whose queries are posed, y (n,) of the samples: labels, or
            floating-point numbers.

        Returns
        -------
        array
        """
        point = self._point("predict", "predict")
        return self.problem.predict(X, point)

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, of the models that have a likelihood of labels.

        Parameters
        ----------
        X : array, sparse matrix or data frame, shape (n, d)

        Returns
        -------
        array, shape (n, K)
            A column for each of ``problem.classes``, in their order: two for two classes.

        Raises
        ------
        InputError
            For models that predict no probabilities.
        """
        point = self._point("predict_proba", "predict_proba")
        return self.problem.predict_proba(X, point)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """How good the predictions are, as ``score`` of scikit-learn has it; higher is better.

        Parameters
        ----------
        X : array, sparse matrix or data frame, shape (n, d)
        y : array, shape (n,) or (n, K)
            The true targets, or labels.
        sample_weight : array, shape (n,), optional
            Weights >= 0.

        Returns
        -------
        float
            For labels the share that is predicted right (accuracy); for real targets R^2, the mean
            of it over several; for counts D^2, the share of the deviance that is explained.
        """
        point = self._point("score", "score")
        return self.problem.score(X, y, point, sample_weight)

    @property
    def coef_(self) -> Array:
        """w as scikit-learn holds it: (d,) for one target, (1, d) for two classes, else (K, d)."""
        w = self._linear("coef_")["w"]
        return w.T if w.ndim == 2 else w[None] if self._of_classes else w

    @property
    def intercept_(self) -> Any:
        """b as scikit-learn holds it: a float for one target, (1,) for two classes, else (K,)."""
        found = self._linear("intercept_")
        b = found["b"] if "b" in found else -found["rho"]
        return np.atleast_1d(b) if self._of_classes or np.ndim(b) else float(b)

    @property
    def components(self) -> Array:
        """The leading directions of P in rows, (k, d), of principal components."""
        return self._of_matrix("components", self.primal)

    @property
    def eigengap(self) -> float:
        """lambda_k - lambda_(k+1) by the multipliers, of principal components."""
        return self._of_matrix("eigengap", self.dual)

    def _of_matrix(self, asked: str, arrays: dict[str, Array]) -> Any:
        ask = getattr(self.problem, f"{asked}_of", None)
        if ask is None:
            raise NoSuchNameError(
                f"{self.problem.name} has no {asked}; PrincipalComponents has them."
            )
        if not arrays:
            raise InputError(f"{asked}: {self.problem.name} is {self.status}; there is no point.")
        return ask(arrays)

    @property
    def _of_classes(self) -> bool:
        """Whether two classes are told apart, or one class from the rest."""
        return getattr(self.problem, "classes", None) is not None or "rho" in self.primal

    def _linear(self, asked: str) -> dict[str, Array]:
        if "w" in self.primal and ("b" in self.primal or "rho" in self.primal):
            return self.primal
        if not self.primal:
            raise NoSuchNameError(
                f"{asked}: {self.problem.name} is {self.status}; there is no point."
            )
        raise NoSuchNameError(
            f"{asked}: {self.problem.name} has no coefficient for each feature; what it has is in "
            f".primal: {', '.join(map(repr, self.primal))}."
        )

    def to_frame(self) -> Any:
        """The coefficients as a pandas.DataFrame, a row for each column of X, by its name.

        Returns
        -------
        pandas.DataFrame
            The column "w", or one for each class. Kernel models have a row for each sample ("q"),
            linear programs one for each variable ("x"). The intercept is ``intercept_``.

        Raises
        ------
        ConvexmlError
            If pandas is not installed.
        InputError
            If there is no point.
        """
        return frame_of_point(self.problem, self.status, self.primal)

    def _advice(self, name: str) -> str:
        for kind in ("primal", "dual"):
            if name in getattr(self, kind):
                return f" It is solution.{kind}[{name!r}]."
        if name in dir(self.certificate):
            return f" Its certificate has it: solution.certificate.{name}."
        return super()._advice(name)


# A solution as JSON, and back: what is read is certified again.


REBUILD: dict[str, Callable[[dict[str, Any]], Any]] = {}
"""How to pose a problem again from its JSON form, by kind; the models register themselves."""


def write(solution: Any) -> str:
    """Return the problem and the point as JSON."""
    document = {
        "schema": 1,
        "problem": solution.problem.to_dict(),
        "solver": solution.solver,
        "polished": solution.polished,
        "claimed_status": solution.claimed_status,
        "choice": solution.choice,
        "status": solution.status,
        "tol": solution.certificate.tol,
        "iterations": solution.iterations,
        "passes": solution.passes,
        "seconds": solution.seconds,
        "compile_seconds": solution.compile_seconds,
        "primal": _listed(solution.primal),
        "dual": _listed(solution.dual),
        "message": solution.message,
    }
    return json.dumps(document)


def read(text: str, problem: Any = None) -> Any:
    """Certify the point that ``write`` stored, for its own problem or the one passed."""
    try:
        document = json.loads(text)
        stored = document["problem"]
        if document["schema"] != 1:
            raise ValueError(f"schema {document['schema']!r} is not 1")
        lies_elsewhere = problem is None and BLOCKS in stored
        if problem is None and not lies_elsewhere:
            problem = REBUILD[stored["kind"]](stored)
        primal = {name: np.array(value) for name, value in document["primal"].items()}
        dual = {name: np.array(value) for name, value in document["dual"].items()}
        document["tol"] = positive_number(document["tol"], "Solution.from_json", "tol")
    except (ValueError, KeyError, TypeError) as error:
        what = repr(text) if len(str(text)) < 60 else f"a text of {len(text)} characters"
        raise InputError(
            f"Solution.from_json: {what} is not a stored solution ({error!r}). Pass what to_json "
            "returned, or the pathlib.Path of the file that it wrote."
        ) from None
    if lies_elsewhere:
        raise InputError(
            f"Solution.from_json: the samples of this {stored['kind']} lie in row blocks and are "
            "not stored. Pass problem=, posed on the same blocks."
        )
    solution = problem.recertify(primal, dual, document)
    solution.polished = str(document.get("polished", "")) if solution.primal else ""
    return solution


def _listed(values: dict[str, Any]) -> dict[str, Any]:
    """Arrays as lists; those that lie in row blocks stay there."""
    return {k: np.asarray(v).tolist() for k, v in values.items() if not isinstance(v, RowValues)}


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
        return read(text, problem)

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
