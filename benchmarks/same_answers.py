"""The same answers before and after a change that must not alter any: written down, and compared.

python benchmarks/same_answers.py write FILE [--seed 0] [--runs] [--only WORD]
python benchmarks/same_answers.py compare FILE FILE

``write`` poses the problems of ``drawn_problems.py`` and writes what is said of each as JSON,
floats bit for bit: every model solved, and judged at three points near and far; CVXPY problems
certified as CLARABEL left them, and solved; fitted estimators. ``--runs`` writes the problem
library with every solver in place of these. ``compare`` prints each number or word that differs.

One BLAS thread is asked for, since sums in threads round otherwise. What a clock decides is left
out by two rules. Numbers of seconds are never written. What has a limit of time, and took more than
``SHARE`` of it or ended at it, is written as "clock", and is compared with nothing: a run of the
library, and ``cml.solve``, which leaves an engine after ``PATIENCE`` seconds. Nothing else has one.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"  # before NumPy is loaded

import numpy as np
from drawn_problems import MODELS, fitted, models, statements
from scipy import sparse

import convexml as cml

SHARE = 0.5
"""Of the time limit: no run that took less was cut off, or hurried."""
PATIENCE = 10.0
LONGEST = 30
"""Entries of an array that are written out; a longer one is its shape and a digest of its bits."""
CLOCK = "clock"
MOVES = {"near": (1e-9, False), "off": (1e-3, True), "far": (0.5, True)}
"""How far a point is moved, relative to its size, and whether its dual point is passed."""
SAID = (
    "claim", "verdict", "tol", "primal_objective", "dual_objective", "gap", "relative_gap",
    "proved_gap", "unproved", "scale", "rounding", "repaired", "within", "dual_source", "dual",
    "multipliers", "kkt", "reason", "witness", "evidence",
)  # fmt: skip
"""Attributes of a certificate."""
OF_A_ROW = ("kind", "residual", "scale", "relative", "rounding", "among", "largest", "index")
OF_A_SOLUTION = (
    "status", "solver", "claimed_status", "polished", "choice", "iterations", "passes", "primal",
    "dual", "support", "shadow_prices", "evidence", "message", "bound",
)  # fmt: skip
OF_A_RECORD = ("iteration", "passes", "objective", "dual_objective", "gap", "relative_gap")
Record = Mapping[str, Any]


def exact(value: Any) -> Any:
    """The value in JSON's terms, and no bit of a float lost: "0x1.8p+1", "nan", "-inf"."""
    if isinstance(value, bool | np.bool_) or value is None:
        return value if value is None else bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value).hex()
    if isinstance(value, Mapping):
        return {str(name): exact(each) for name, each in value.items()}
    if sparse.issparse(value):
        value = value.toarray()
    if isinstance(value, np.ndarray) and value.size > LONGEST and value.dtype != object:
        bits = np.ascontiguousarray(value).tobytes()
        return f"{value.dtype} {value.shape} {hashlib.sha1(bits).hexdigest()}"
    if isinstance(value, np.ndarray):
        return exact(value.tolist())
    if isinstance(value, list | tuple):
        return [exact(each) for each in value]
    return str(value)


def certificate_of(found: Any) -> Record:
    """What a certificate says, with its conditions by name."""
    said = {name: getattr(found, name) for name in SAID}
    rows = {
        row.name: {name: getattr(row, name) for name in OF_A_ROW} | {"where": row.where()}
        for row in found.conditions
    }
    return said | {"conditions": rows, "holds": found.holds(), "text": str(found)}


def solution_of(found: Any) -> Record:
    """What a solution says, with its certificate and its trace."""
    said = {name: getattr(found, name) for name in OF_A_SOLUTION}
    said["trace"] = [[getattr(row, name) for name in OF_A_RECORD] for row in found.evaluated]
    return said | {"certificate": certificate_of(found.certificate)}


def moved(value: Any, by: float, rng: np.random.Generator) -> Any:
    """A point near another one: each number moved by about ``by`` times the largest."""
    old = np.asarray(value, dtype=float)
    size = float(np.max(np.abs(old), initial=0.0))  # an intercept that is 0 stays so
    return old + by * size * rng.normal(size=old.shape)


def judged(problem: Any, solution: Any, by: float, passed: bool, seed: list[int]) -> Record:
    """The certificate of the solution's point, moved; with its multipliers if ``passed``."""
    if not solution.primal:
        return {"point": None}
    rng = np.random.default_rng(seed)
    point = {name: moved(value, by, rng) for name, value in solution.primal.items()}
    dual = {name: moved(value, by, rng) for name, value in solution.dual.items() if passed}
    known = inspect.signature(problem.certify).parameters
    if "multipliers" in known:
        return certificate_of(problem.certify(point["x"], dual or None))
    given = point | dual
    if not any(each.kind is each.VAR_KEYWORD for each in known.values()):
        given = {name: value for name, value in given.items() if name in known}
    return certificate_of(problem.certify(**given))


def tried(task: Callable[[], Any]) -> Any:
    """What a task finds; an error is an answer too."""
    try:
        return task()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def of_models(seed: int) -> Iterator[tuple[str, Callable[[], Record]]]:
    """Every model solved, then judged at moved points."""
    for name, pose in models(seed):
        held: dict[str, Any] = {}
        key = [seed, *name.encode()]

        def solve(pose: Any = pose, held: dict[str, Any] = held) -> Record:
            held["problem"] = pose()
            held["solution"] = held["problem"].solve()
            return solution_of(held["solution"]) | {"latex": held["problem"].latex()}

        yield f"{name}: solved", solve
        for place, (by, passed) in MOVES.items():
            yield (
                f"{name}: judged {place}",
                lambda held=held, by=by, passed=passed, key=key: judged(
                    held["problem"], held["solution"], by, passed, key
                ),
            )


def state_of(problem: Any) -> Record:
    """What a CVXPY problem holds: its status, value, variables and multipliers in order."""
    return {
        "status": problem.status,
        "value": problem.value,
        "variables": [each.value for each in problem.variables()],
        "multipliers": [each.dual_value for each in problem.constraints],
    }


def of_statements(seed: int) -> Iterator[tuple[str, Callable[[], Record]]]:
    """Every CVXPY problem after CLARABEL, and by ``cml.solve``; and what is recognised in it."""

    def certify(build: Callable[[], Any]) -> Record:
        problem = build()
        problem.solve(solver="CLARABEL")
        return certificate_of(cml.certify(problem)) | {"state": state_of(problem)}

    def solve(build: Callable[[], Any]) -> Any:
        problem, began = build(), time.perf_counter()
        certificate = certificate_of(cml.solve(problem))
        if time.perf_counter() - began > SHARE * PATIENCE:
            return CLOCK
        found = str(cml.recognize(build(), explain=True))
        return certificate | {"state": state_of(problem), "recognised": found}

    for name, build in statements(seed):
        yield f"{name}: certified", lambda build=build: certify(build)
        yield f"{name}: solved by cml", lambda build=build: solve(build)


def of_estimators(seed: int) -> Iterator[tuple[str, Callable[[], Record]]]:
    """Certificates of fitted estimators; and the attributes of our own."""

    def fit(estimator: Any, X: Any, y: Any, ours: bool) -> Record:
        fitted_one = estimator.fit(X, y)
        found = dict(certificate_of(cml.certify(fitted_one, X, y)))
        numbers = (int, float, str, np.ndarray)
        if ours:
            for name, value in sorted(vars(fitted_one).items()):
                known = name.endswith("_") and not name.startswith("_") and "time" not in name
                if known and isinstance(value, numbers) and "seconds" not in name:
                    found[name] = value
        return found

    for name, estimator, X, y in fitted(seed):
        ours = name.startswith("ours")
        yield name, lambda e=estimator, X=X, y=y, ours=ours: fit(e, X, y, ours)


def of_runs(folder: Path, limit: float) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The problem library with every solver, one problem file after another."""
    for path in sorted(folder.glob("*.toml")):
        found = cml.compare(path, max_seconds=limit, progress=False)
        for row in found.records:
            yield f"{row.problem}, {row.solver}", lambda row=row: run_of(row, limit)


def run_of(row: Any, limit: float) -> Any:
    """A run of the library without its times; ``CLOCK`` where the limit is near."""
    if row.seconds > SHARE * limit or "time" in (row.claimed or "") or row.claimed == "max_seconds":
        return CLOCK
    timed = ("seconds", "compile_seconds", "max_seconds", "course")
    kept = {name: row[name] for name in row.keys() if name not in timed}
    return kept | {"course": [(passes, gap) for passes, _, gap in row.course], "kind": row.kind}


def write(path: Path, seed: int, runs: bool, only: str, limit: float) -> int:
    """Write the answers; 1 where a model of the package is in no table."""
    posed = {name.split()[0] for name in MODELS} | {"LearningProblem"}
    named = {name: getattr(cml, name) for name in dir(cml) if name[0].isupper()}
    missed = {n for n, made in named.items() if hasattr(made, "certify") and hasattr(made, "solve")}
    if missed - posed:
        print(f"not in drawn_problems.MODELS: {', '.join(sorted(missed - posed))}")
        return 1
    began, answers = time.perf_counter(), {}
    library = Path(__file__).resolve().parents[1] / "problems"
    parts = (of_models(seed), of_statements(seed), of_estimators(seed))
    for part in (of_runs(library, limit),) if runs else parts:
        for name, task in part:
            if only in name:
                while name in answers:
                    name += "'"
                answers[name] = exact(tried(task))
    path.write_text(json.dumps({"seed": seed, "answers": answers}, indent=0, sort_keys=True))
    errors = sum("error" in each for each in answers.values() if isinstance(each, dict))
    clock = sum(each == CLOCK for each in answers.values())
    print(f"{len(answers)} answers, {errors} of them errors, {clock} that a clock may decide, "
          f"{time.perf_counter() - began:.0f} s")  # fmt: skip
    return 0


def differences(one: Any, other: Any, way: str = "") -> Iterator[str]:
    """Where two answers differ, by the way to it."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted({*one, *other}):
            yield from differences(
                one.get(name, "nothing"), other.get(name, "nothing"), f"{way}.{name}".lstrip(".")
            )
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for k, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(*pair, f"{way}[{k}]")
    elif one != other or type(one) is not type(other):
        yield f"{way}: {one!s:.160} | {other!s:.160}"


def compare(one: Path, other: Path, most: int) -> int:
    """Print what differs; 1 where something does."""
    first, second = (json.loads(path.read_text()) for path in (one, other))
    a, b = first["answers"], second["answers"]
    count = clock = 0
    for name in sorted({*a, *b}):
        if CLOCK in (a.get(name), b.get(name)):
            clock += 1
            continue
        found = list(differences(a.get(name, "nothing"), b.get(name, "nothing")))
        count += bool(found)
        for line in found[:most]:
            print(f"{name}: {line}")
        if len(found) > most:
            print(f"{name}: and {len(found) - most} more")
    print(f"{len({*a, *b})} answers, {count} of them differ, {clock} not compared: a clock decides")
    return int(count > 0 or first["seed"] != second["seed"])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    writes = commands.add_parser("write", help="solve and certify, and write what is said")
    writes.add_argument("file", type=Path)
    writes.add_argument("--seed", type=int, default=0)
    writes.add_argument("--runs", action="store_true", help="the problem library instead")
    writes.add_argument("--only", default="", help="answers with this word in their name")
    writes.add_argument("--max-seconds", type=float, default=20.0, help="of a run of the library")
    compares = commands.add_parser("compare", help="print what differs; exits with 1")
    compares.add_argument("files", type=Path, nargs=2)
    compares.add_argument("--most", type=int, default=5, help="lines for each answer")
    given = parser.parse_args(arguments)
    if given.command == "compare":
        return compare(*given.files, given.most)
    warnings.simplefilter("ignore")
    return write(given.file, given.seed, given.runs, given.only, given.max_seconds)


if __name__ == "__main__":
    raise SystemExit(main())
