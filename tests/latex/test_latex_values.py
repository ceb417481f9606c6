"""The printed formulas, evaluated: values, conjugates with their domains, optimality conditions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from support.tex_reader import Reader, statements
from test_latex import (
    DATA,
    DATA_IDS,
    EXACT,
    LOSSES,
    MODELS,
    PENALTIES,
    WEIGHTS,
    X,
    rows_of,
    rows_of_text,
)

from convexml import LearningProblem, LinearProgram, kernels
from convexml.tex import Symbol

N, D, K = 12, 4, 3
RNG = np.random.default_rng(3)
GROUPS = [np.flatnonzero(np.arange(D) % 2 == g) for g in range(2)]
RANGES = {"i": range(N), "l": range(N), "j": range(D), "k": range(K), "g": range(2)}


def define(text: str, names: dict[str, Any]) -> None:
    """Give v, p and m the value that a statement such as v_i = n u_i says."""
    for statement in statements(text):
        sides = re.split(r"(\\le(?!ft)|\\ge|=)", statement)
        for k, side in enumerate(sides):
            letter = re.fullmatch(r"[\\\s]*([vpm])_i\s*", side)
            if letter and letter[1] not in names:
                at = sides.index("=") + (1 if sides.index("=") > k else -1)
                read = Reader(sides[at], names, RANGES)
                names[letter[1]] = np.array([read.value(i=i) for i in range(N)])


def all_hold(text: str, names: dict[str, Any], tol: float, ranges: dict[str, Any] = RANGES) -> bool:
    """Whether all statements hold that are not definitions for the reader of the page."""
    skipped = re.compile(r"\s*\\?\s*(\(i : |K_\{ij\} =|0 \\cdot \\infty)")
    found = [s for s in statements(text) if s.strip("\\ ") and not skipped.match(s)]
    return all(Reader(s, names, ranges).holds(tol) for s in found)


HYPER: dict[str, Any] = {
    r"\lambda": 0.1,
    r"\rho": 0.5,
    r"\tau": 0.3,
    r"\delta": 1.0,
    r"\varepsilon": 0.1,
    "t": 1.0,
    "n": float(N),
    "groups": GROUPS,
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_losses(name: str, seed: int) -> None:
    loss, y = LOSSES[name]
    y, rng = np.asarray(y, dtype=float), np.random.default_rng(seed)
    shape = (N, K) if loss.labels == "classes" else (N,)
    tex = loss.tex()
    z = (
        rng.normal(size=shape)
        if seed % 2
        else y.reshape(-1, *[1] * (len(shape) - 1)) * np.ones(shape)
    )
    names = HYPER | {"y": y, "z": z}
    fits = loss.violation(y, z) == 0.0
    for i in range(N):
        rows = [Reader(str(row), names, RANGES | {"i": [i]}).holds(0.0) for row in tex.rows]
        assert all(rows) == (fits[i] if rows else True)
        if tex.value:
            printed = Reader(tex.value, names, RANGES).value(i=i)
            assert printed == pytest.approx(loss.value(y, z)[i], rel=1e-10, abs=1e-12)
    if tex.slope and not tex.rows:
        read = Reader(tex.slope, names, RANGES)
        slopes = np.array([read.value(i=i) for i in range(N)])
        np.testing.assert_allclose(slopes, loss.derivative(y, z), atol=1e-12)
    # In the domain a slope of the loss, a little shrunk; then what is beyond it.
    inside = 0.9 * loss.derivative(y, rng.normal(size=shape))
    for v in (inside, inside - 1.0, inside + 1.0, -3.0 * inside, 3.0 * inside + 1e-3):
        names = HYPER | {"y": y, "v": v}
        define(tex.domain, names)
        with np.errstate(invalid="ignore", divide="ignore"):
            value = loss.conjugate(y, v)
        for i in range(N):
            held = [
                Reader(s, names, RANGES | {"i": [i]}).holds(1e-9)
                for s in statements(tex.domain)
                if s
            ]
            assert all(held) == np.isfinite(value[i]), (v[i], tex.domain)
            if np.isfinite(value[i]):
                printed = Reader(tex.conjugate, names, RANGES).value(i=i)
                assert printed == pytest.approx(value[i], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", PENALTIES)
def test_penalties(name: str) -> None:
    penalty = PENALTIES[name](D)
    w, v = Symbol("w", "w_j", "w_g"), Symbol("v", "v_j", "v_g")
    tex = penalty.tex(w, v)
    bounds = {
        key: np.broadcast_to(getattr(penalty, at, 0.0), D) for key, at in (("l", "lo"), ("h", "hi"))
    }
    weights = getattr(penalty, "weights", None)
    names = HYPER | bounds | {r"\omega": weights, "y": np.zeros(N)}
    free = penalty.free(D)
    seen = set()
    for size in (0.0, 0.03, 0.3, 3.0):
        for sign in (None, 1.0, -1.0):
            x = RNG.normal(size=D) * size
            x = x if sign is None else sign * np.abs(x)
            here = names | {"w": x}
            if tex.value:
                assert Reader(tex.value, here, RANGES).value() == pytest.approx(penalty.value(x))
            else:
                assert penalty.value(x) == 0.0
            fits = all(Reader(str(row), here, RANGES).holds(1e-12) for row in tex.rows)
            assert fits == (penalty.violation(x) <= 1e-12)
            for point in (x, np.where(free, 0.0, x)):
                here = names | {"v": point}
                value = penalty.conjugate(point, 1e-12)
                finite = all_hold(tex.domain, here, 1e-12)
                assert finite == np.isfinite(value), point
                seen.add(finite)
                if finite:
                    printed = Reader(tex.conjugate or "0", here, RANGES).value()
                    assert printed == pytest.approx(value, abs=1e-12)
    assert True in seen


def test_block_reader_sees_groups() -> None:
    """The groups of the reader are those of the penalties of the table."""
    assert [list(g) for g in GROUPS] == [[0, 2], [1, 3]]


KERNELS = {
    "gaussian": kernels.Gaussian(0.5),
    "laplacian": kernels.Laplacian(1.0 / 3.0),
    "tiny": kernels.Laplacian(1e-7) + kernels.Gaussian(1e22),
    "linear": kernels.Linear(),
    "polynomial": kernels.Polynomial(3, 0.5, 2.0),
    "plain polynomial": kernels.Polynomial(2),
    "mixed": 2.5 * (kernels.Linear() + kernels.Gaussian(2.0)) * kernels.Polynomial(2, 1.0),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(name: str) -> None:
    kernel, x, z = KERNELS[name], RNG.normal(size=3), RNG.normal(size=3)
    text = kernel.tex("x", "z").replace(r"\langle x, z \rangle", r"(x^\top z)")
    printed = Reader(text, {"x": x, "z": z, "y": x}, {}).value()
    assert printed == pytest.approx(float(kernel(x[None], z[None])[0, 0]), rel=1e-12)


def solved(problem: Any) -> tuple[dict[str, Any], float]:
    """The values of all names in the formulas of a problem, at its solution, and P*."""
    solution = problem.solve(tol=1e-9)
    assert solution.status == "optimal"
    parts, hyper = problem.objective_parts, dict(problem._hyper)
    w, b, u = problem.coordinates(solution.primal), solution.primal["b"], solution.dual["u"]
    z = parts.predict(w, b if np.ndim(b) else float(b))
    names = HYPER | {
        "X": problem._samples.X,
        "x": problem._samples.X,
        "w": w,
        "b": b,
        "z": z,
        "u": u,
        "y": parts.y,
    }
    names |= {"W": w.reshape(parts.w_shape), "Z": z, "U": u, "s": problem._samples.weights}
    if "C" in hyper:
        names["C"] = hyper["C"]
    if hasattr(problem, "_K"):
        names |= {"K": problem._K, "q": solution.primal["q"]}
    slacks = parts.loss.slacks(parts.y, z)
    names |= {r"\xi": slacks.get("xi"), r"\xi^*": slacks.get("xi_star")}
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


@pytest.mark.parametrize(("intercept", "s"), DATA, ids=DATA_IDS)
@pytest.mark.parametrize("name", MODELS)
def test_models_at_their_solution(name: str, intercept: bool, s: Any) -> None:
    problem = MODELS[name](fit_intercept=intercept, sample_weight=s)
    check_at_the_solution(problem, *solved(problem))


PAIRS = [
    ("absolute", "l2 weights"),
    ("squared", "box"),
    ("squared", "box above"),
    ("huber", "l1_ball"),
    ("hinge", "l2_ball"),
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
        "interpolation": r"\nu",
        "nonnegative": r"\mu",
        "ball": r"\lambda" if penalty == "l1_ball" else r"\mu",
    }
    multipliers = problem.posed_values(np.ravel(names["w"]), names["b"], names["u"])[1]
    names |= {labels[label]: v for label, v in multipliers.items() if label in labels}
    for end, letter, sign in (("lower", "l", "-"), ("upper", "h", "+")):
        side = np.broadcast_to(getattr(term, "lo" if letter == "l" else "hi", np.inf), D)
        full = np.zeros(D)
        full[np.isfinite(side)] = multipliers.get(f"box_{end}", 0.0)
        names |= {letter: side, rf"\lambda^{sign}": full}
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
        r"\lambda_l": r"\beta",
        r"\lambda_u": r"\gamma",
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
    for label, start in (("primal", r"\min_x"), ("Lagrangian", ""), ("dual", r"\max")):
        value, _, given = rows[label][0].removeprefix(start).partition(r"\quad\text{s.t.}\quad")
        found = Reader(value, names, {}).value()
        assert found == pytest.approx(solution.objective, abs=1e-6), label
        assert all_hold(given, names, 1e-6, {})
    for row in rows["KKT"]:
        assert all_hold(row, names, 1e-6, {}), row
