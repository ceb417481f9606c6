"""The comparison as its users see it: records with views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..comparison import Results, run
from ..comparison.entries import entries
from ..files import writable
from ..progress import Wish
from .courses import Convergence, races
from .page import render_html
from .terminal import columns_shown, notebook_table, plain_table


@dataclass(frozen=True)
class Comparison(Results):
    """Every run of a comparison, claimed and verified side by side.

    Attributes
    ----------
    records : tuple of Outcome
        Grouped by problem, then tolerance, then solver.
    environment : dict
        Machine, versions, date, tolerances, time limit, repeats and seed.
    interrupted : bool
        Whether Ctrl-C ended the comparison; the records are those finished before.
    problems : tuple of Card
        What every problem is: sizes, formulas, the text of its file.
    convergence : tuple of Convergence
        Where it was asked for: the courses on each problem that two hand-written solvers take.
    """

    convergence: tuple[Convergence, ...] = ()

    def document(self, points: bool = False) -> dict[str, Any]:
        courses = [each.document() for each in self.convergence]
        return super().document(points) | ({"convergence": courses} if courses else {})

    def table(self) -> str:
        """The comparison as plain text, with every column: problem x solver."""
        return plain_table(self)

    def to_html(self, path: str | Path) -> None:
        """Write one page: offline, readable without scripts, with its JSON inside."""
        writable(path, "to_html").write_text(render_html(self, self.convergence), encoding="utf-8")

    def __repr__(self) -> str:
        return plain_table(self, columns_shown())

    def _repr_html_(self) -> str:
        return notebook_table(self)


def compare(
    problems: Any,
    solvers: str | Sequence[str] | None = None,
    *,
    tols: float | Sequence[float] = (1e-6,),
    max_seconds: float | None = 10,
    repeats: int = 1,
    progress: Wish = None,
    seed: int = 0,
    convergence: bool = False,
    jobs: int = 1,
) -> Comparison:
    """Solve problems with solvers, and certify every answer from the raw data.

    The answers are not polished, so that each solver's own accuracy is shown. A solver that is not
    installed, crashes or gives up is a row that says so.

    Parameters
    ----------
    problems : posed problem, cvxpy.Problem, path, or a sequence of these
        Problem files, and folders of problem files, are loaded.
    solvers : str or sequence of str, optional
        None: every registered solver that takes the problem. A named one ("auto" too) always
        has its row, which says why where it cannot run.
    tols : float or sequence of float
        Relative gaps to ask for.
    max_seconds : float or None
        Time limit of one run, of solving: posing for CVXPY and compiling loops are not in it.
    repeats : int
        Runs of each combination; the median time is kept.
    progress : bool, callable or None
        None or True: a line on standard error, where that is a terminal, after a second; False:
        never. A function is called with a ``Progress``.
    seed : int
        Passed to every solver.
    convergence : bool
        Also follow the solvers from their start to a relative gap of 1e-8, on each problem that
        at least two hand-written ones take: the page has a picture then.
    jobs : int
        Processes that share the problems, each with its share of the cores; with 1 all is done in
        this one. A script that asks for more needs ``if __name__ == "__main__":``, and runs beside
        one another take a little longer. A solver that kills its process is a row, too.

    Returns
    -------
    Comparison
        One row each, failures included; after Ctrl-C, the rows finished so far.

    Raises
    ------
    InputError
        For tolerances, repeats, jobs or a time limit that make no sense, and for what is no
        problem.
    UnknownSolverError
        If no solver has that name; the nearest name is offered.
    ProblemFileError, DataError
        For a file that cannot be posed. All of these before anything is solved.
    """
    found: Any = entries(problems) if convergence else problems
    results = run(
        found,
        solvers,
        tols=tols,
        max_seconds=max_seconds,
        repeats=repeats,
        progress=progress,
        seed=seed,
        jobs=jobs,
    )
    courses: tuple[Convergence, ...] = ()
    interrupted = results.interrupted
    if convergence and not interrupted:
        solved = {record.problem for record in results if record.status == "optimal"}
        runners = [entry for entry in found if entry.name in solved]
        courses = races(runners, solvers, max_seconds=max_seconds, progress=progress, seed=seed)
        interrupted = any(each.interrupted for each in courses)
    return Comparison(results.records, results.environment, interrupted, results.problems, courses)
