"""A solution as JSON, and back: what is read is certified again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InputError
from ...validation import positive_number
from ..reading.layout import RowValues

BLOCKS = "blocks"
"""In place of the samples, where these lie in row blocks: the rows of each."""
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
