"""The formulas of problems, evaluated at their solutions: P = L = D, and every condition holds."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from support.latex.evaluation import HYPER, RANGES, D, K, N, all_hold, define
from support.latex.formula_cases import DATA, DATA_IDS, EXACT, LOSSES, MODELS, PENALTIES, WEIGHTS, X
from support.latex.reader import Reader
from support.latex.rows import rows_of, rows_of_text

from convexml import (
    LearningProblem,
    LinearProgram,
    MultiTaskLasso,
)

NAMES = {"C": "C", "lams": r"\lambda"}
"""How hyperparameters are written that are no entries of HYPER."""


TOLD = r"l\(|\\Omega|P\(|w = W|t = "
"""What is defined below the formulas for the reader of the page alone."""


def solved(problem: Any) -> tuple[dict[str, Any], float]:
    """The values of all names in the formulas of a problem, at its solution, and P*."""
    solution = problem.solve(tol=1e-9)
    assert solution.status == "optimal"
    parts, hyper = problem.objective_parts, dict(problem._hyper)
    w, b, u = problem.coordinates(solution.primal), solution.primal["b"], solution.dual["u"]
    several = isinstance(problem, MultiTaskLasso)
    if several:
        parts, w = problem.targets, np.ravel(solution.primal["w"])
        z = problem._samples.X @ solution.primal["w"] + b
    else:
        z = parts.predict(w, b if np.ndim(b) else float(b))
    names = HYPER | {
        "X": problem._samples.X,
        "x": problem._samples.X,
        "w": w,
        "b": b,
        "z": z,
        "u": u,
        "y": problem._samples.y,
    }
    names |= {"W": w.reshape(parts.w_shape), "Z": z, "U": u, "s": problem._samples.weights}
    names |= {symbol: np.array(hyper[key]) for key, symbol in NAMES.items() if key in hyper}
    if hasattr(problem, "kernel"):
        names |= {"K": problem.kernel_parts.matrix.dense, "q": solution.primal["q"]}
    slacks = {} if several else parts.loss.slacks(parts.y, z)
    names |= {r"\xi": slacks.get("xi"), r"\xi^*": slacks.get("xi_star")}
    names |= {"r^+": slacks.get("r_plus"), "r^-": slacks.get("r_minus")}
    constraint = not several and parts.loss.is_indicator
    names["c"] = np.ones(len(problem._samples.y)) if constraint else parts.c
    for name, value in solution.dual.items():
        names["\\" + name.replace("_star", "^*")] = value
    return names, solution.objective


def check_at_the_solution(problem: Any, names: dict[str, Any], value: float) -> None:
    """Primal, Lagrangian and dual are P* there, and every constraint and condition holds."""
    ranges = RANGES | {"j": range(N if "K" in names else D)}
    rows, tol = rows_of(problem), 1e-4 * (1.0 + abs(value))
    primal, _, given = rows["primal"][0].partition(r"\quad\text{s.t.}\quad")
    dual, _, limits = rows["dual"][0].partition(r"\quad\text{s.t.}\quad")
    define(limits, names)
    objectives = {
        "primal": re.sub(r"\\min_\{[^}]*\}", "", primal),
        "Lagrangian": rows["Lagrangian"][0],
        "dual": re.sub(r"\\max_\{[^}]*\}", "", dual),
    }
    for label, text in objectives.items():
        assert Reader(text, names, ranges).value() == pytest.approx(value, abs=tol), label
    assert all_hold(given, names, tol, ranges)
    assert all_hold(limits, names, tol, ranges)
    for row in rows["KKT"]:
        if r"\partial" not in row:
            assert all_hold(row.replace(r"\quad", r"\ "), names, tol, ranges), row
    for row in rows.get("where", []):
        told = [
            each for each in row.split(r",\ ") if not re.match(r"l\(|\\Omega|P\(|w = W|t = ", each)
        ]
        assert all_hold(r",\ ".join(told), names, tol, ranges), row


def each_model() -> list[Any]:
    """Each model on two of the data, with and without an intercept; the others are slow."""
    return [
        pytest.param(
            name,
            *data,
            id=f"{name}-{label}",
            marks=() if k in ((0, 3), (1, 2))[number % 2] else pytest.mark.slow,
        )
        for number, name in enumerate(MODELS)
        for k, (data, label) in enumerate(zip(DATA, DATA_IDS, strict=True))
    ]


@pytest.mark.parametrize(("name", "intercept", "s"), each_model())
def test_models_at_their_solution(name: str, intercept: bool, s: Any) -> None:
    problem = MODELS[name](fit_intercept=intercept, sample_weight=s)
    check_at_the_solution(problem, *solved(problem))


PAIRS = [
    ("absolute", "l2 weights"),
    ("squared", "box"),
    ("squared", "box above"),
    ("huber", "l1_ball"),
    ("hinge", "l2_ball"),
    ("epsilon_insensitive", "l2"),
    ("exponential", "box"),
    ("hard_margin", "l1 weights"),
    ("interpolation", "l1"),
    ("pinball", "group_l2 weights"),
    ("poisson", "l2 of strength 0"),
    ("softmax", "elastic_net"),
    ("squared_hinge", "elastic_net of l1 only"),
    ("squared_epsilon_insensitive", "nonnegative"),
]


@pytest.mark.parametrize("scale", ["mean", "sum", 2.5])
@pytest.mark.parametrize("s", [None, WEIGHTS], ids=["", "weights"])
@pytest.mark.parametrize(("loss", "penalty"), PAIRS)
def test_pairs_at_their_solution(loss: str, penalty: str, s: Any, scale: str | float) -> None:
    part, y = LOSSES[loss]
    classes, y = K if loss == "softmax" else 1, EXACT if loss == "interpolation" else y
    term = PENALTIES[penalty](D * classes)
    problem = LearningProblem(X, y, part, term, sample_weight=s, loss_scale=scale)
    names, value = solved(problem)
    labels = {
        "margin": r"\alpha",
        "slack": r"\beta",
        "slack_star": r"\beta^*",
        **({"above": r"\alpha", "below": r"\alpha^*"} if loss == "epsilon_insensitive" else {}),
        "interpolation": r"\nu",
        "nonnegative": r"\mu",
        "ball": r"\lambda" if penalty == "l1_ball" else r"\mu",
    }
    multipliers = problem.posed_values(np.ravel(names["w"]), names["b"], names["u"])[1]
    names |= {labels[label]: v for label, v in multipliers.items() if label in labels}
    for end, letter, sign in (("lower", "lo", "-"), ("upper", "hi", "+")):
        side = np.broadcast_to(getattr(term, letter, np.inf), D)
        full = np.zeros(D)
        full[np.isfinite(side)] = multipliers.get(f"box_{end}", 0.0)
        names |= {"\\" + letter: side, rf"\lambda^{sign}": full}
    names |= {"C": 2.5, r"\omega": getattr(term, "weights", None)}
    check_at_the_solution(problem, names, value)


@pytest.mark.parametrize("bounds", [(0, 5), (None, 4), (-1, None), (None, None)])
@pytest.mark.parametrize("equalities", [True, False])
def test_linear_programs_at_their_solution(equalities: bool, bounds: Any) -> None:
    """Names of several letters are given one letter first."""
    A, c = np.array([[1.0, 1.0, 2.0], [-1.0, 0.0, -1.0], [0.0, -1.0, 1.0]]), np.array([1.0, 2, 2])
    E, f = (np.array([[1.0, -1.0, 0.5]]), np.array([0.5])) if equalities else (None, None)
    side = np.array([6.0, 1.0, 2.0])
    if bounds == (None, None):
        c = -A.T @ np.array([0.5, 2.0, 3.0])  # bounded: c + A'lambda = 0 for a lambda >= 0
    problem = LinearProgram(c, A, side, E, f, bounds)
    solution = problem.solve(tol=1e-9)
    assert solution.status == "optimal"
    letters = {
        "A_{ub}": "A",
        "b_{ub}": "r",
        "A_{eq}": "E",
        "b_{eq}": "f",
        r"\lambda_{ub}": r"\alpha",
        r"\lambda_{\text{lower}}": r"\beta",
        r"\lambda_{\text{upper}}": r"\gamma",
        r"\text{lower}": "l",
        r"\text{upper}": "u",
    }
    text = problem.latex()
    for name, letter in letters.items():
        text = text.replace(name, letter)
    used = {r"\beta": bounds[0] is not None, r"\gamma": bounds[1] is not None, "E": equalities}
    for name, there in used.items():
        assert (name in text) == there
    dual = solution.dual
    names = {
        "A": A,
        "r": side,
        "E": E,
        "f": f,
        "c": c,
        "x": solution.primal["x"],
        r"\nu": dual["nu"],
    }
    names |= {"l": np.full(3, bounds[0], dtype=float), "u": np.full(3, bounds[1], dtype=float)}
    names |= {r"\alpha": dual["lambda_ub"], "y": c}
    names |= {r"\beta": dual["lambda_lower"], r"\gamma": dual["lambda_upper"]}
    rows = rows_of_text(text)
    for label, start in (("primal", r"\min_x"), ("Lagrangian", ""), ("dual", "")):
        text = re.sub(r"\\max_\{[^}]*\}", "", rows[label][0].removeprefix(start))
        value, _, given = text.partition(r"\quad\text{s.t.}\quad")
        found = Reader(value, names, {}).value()
        assert found == pytest.approx(solution.objective, abs=1e-6), label
        assert all_hold(given, names, 1e-6, {})
    for row in rows["KKT"]:
        assert all_hold(row, names, 1e-6, {}), row
