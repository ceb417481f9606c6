"""What ``dualize(...).latex()`` prints, evaluated at numbers: a line that is false, or unreadable.

Every symbol has its value from the caller; a symbol without one cannot be read. Matrices count as
vectors, column by column, and so does what is semidefinite. The length of a vector of ones is that
for which its line can be read. In the cases below multipliers of constraints are CVXPY's, those of
arguments slopes by hand; nothing is the dual's.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.special import expit

from convexml.typesetting.documents import rows
from support.dualize_cases import solve
from support.latex.page import FAILURES
from support.latex.reader import Reader, statements

CONE = re.compile(r"(\\left\(.*\\right\)) \\in \\mathcal\{K\}_\{\\exp\}(\^\*)?")
SYMBOL = re.compile(r"\\symbol[A-Z]+")


class DualReader(Reader):
    """One statement, with lengths for its vectors of ones, in order."""

    def __init__(self, text: str, names: dict[str, Any], lengths: tuple[int, ...] = ()) -> None:
        super().__init__(text, names, {})
        at = [k for k, token in enumerate(self.tokens) if token == r"\one"]
        self.lengths = dict(zip(at, lengths, strict=False))

    def on_one(self) -> Any:
        return np.ones(self.lengths[self.k - 1])

    def all_hold(self, sides: list[Any], relations: list[str], tol: float) -> bool:
        if {*relations} & {r"\succeq", r"\preceq"}:
            size = round(np.sqrt(max(np.size(side) for side in sides)))
            sides = [side * np.ones(size**2) for side in sides]
            sides = [np.reshape(side, (size, size)) for side in sides]
            if not all(np.allclose(side, side.T) for side in sides):
                return False
        return super().all_hold(sides, relations, tol)


@dataclass
class DualPage:
    """The text of a dual, the values of its symbols and the optimal value."""

    text: str
    symbols: dict[str, Any]
    value: float
    tol: float = 1e-5

    def __post_init__(self) -> None:
        letters = itertools.product(ascii_uppercase, repeat=2)
        self.tokens = {name: rf"\symbol{''.join(next(letters))}" for name in self.symbols}
        self.names: dict[str, Any] = {
            self.tokens[name]: np.squeeze(each)[()] for name, each in self.symbols.items()
        }
        self.sizes = sorted({n for each in self.names.values() for n in np.shape(each)})
        self.lines: dict[str, list[str]] = {}
        self.readings: dict[str, list[tuple[int, ...]]] = {}
        label = ""
        for told, formula in rows(self.text):
            label = told if told not in ("", "s.t.") else label
            self.lines.setdefault(label, []).append(self._substituted(formula))
        assert [*self.lines] == ["primal", "Lagrangian", "dual"], [*self.lines]
        self.sense = -1.0 if self.lines["primal"][0].startswith(r"\max") else 1.0

    def _substituted(self, text: str) -> str:
        named = sorted(self.tokens, key=len, reverse=True)
        pattern = "|".join(rf"(?<![A-Za-z\\]){re.escape(n)}(?![A-Za-z_])" for n in named)
        return re.sub(pattern, lambda found: self.tokens[found[0]] + " ", text)

    # -- what is said ----------------------------------------------------------------------------

    def goal(self, label: str) -> str:
        """The function without "min", "max" and "L(...)"."""
        line = self.lines[label][0].replace(r"\text{ (of } -f \text{)}", "")
        return line.partition(") = " if label == "Lagrangian" else "\\ ")[2]

    def variables(self, label: str) -> list[str]:
        """What the line minimises or maximises over; of the Lagrangian the primal ones."""
        ends = ";" if label == "Lagrangian" else "\\ "
        return SYMBOL.findall(self.lines[label][0].partition(ends)[0])

    def told(self, label: str) -> Iterator[str]:
        """The constraints, one at a time."""
        for line in self.lines[label][1:]:
            yield from (each.removeprefix(r"\quad").strip() for each in statements(line))

    # -- what it is worth ------------------------------------------------------------------------

    def at(self, text: str, names: dict[str, Any], tol: float | None = None) -> Any:
        """The value of a formula, or whether a statement holds by ``tol``: in all readings."""
        found, failed = {}, ValueError(text)
        every = itertools.product(self.sizes, repeat=text.count(r"\mathbf{1}"))
        for lengths in self.readings.get(text, every):
            try:
                with np.errstate(all="ignore"):
                    found[lengths] = self._read(DualReader(text, names, lengths), text, tol)
            except ValueError as error:  # shapes
                failed = error
        if not found:
            raise failed
        self.readings[text] = [*found]
        value, *others = found.values()
        assert np.allclose(others, value, equal_nan=True), f"{text} has several values"
        return value

    @staticmethod
    def _read(reader: DualReader, text: str, tol: float | None) -> Any:
        if tol is None:
            value = reader.value()
            assert np.ndim(value) == 0, f"{text} is no number"
            return value
        cone = CONE.fullmatch(text)
        if not cone:
            return reader.holds(tol)
        reader.at, reader.k = {}, 0
        a, b, c = np.broadcast_arrays(*reader.bracketed())
        if cone[2]:  # -a exp(b/a) <= e c, a < 0
            return bool(np.all((a < 0.0) & (-a * np.exp(b / a - 1.0) <= c + tol)))
        return bool(np.all((b > 0.0) & (b * np.exp(a / b) <= c + tol)))

    # -- what is checked -------------------------------------------------------------------------

    def faults(self, beside: bool = True) -> list[str]:
        """Every line that is false at the numbers (or ``beside`` them), or that cannot be read."""
        found = []
        for label in self.lines:
            try:
                value = self.at(self.goal(label), self.names)
                wanted = self.value * (self.sense if label == "Lagrangian" else 1.0)
                if not abs(value - wanted) <= self.tol * (1.0 + abs(wanted)):
                    found.append(f"{label} is {value}, not {wanted}")
                found += [
                    f"{label}: {text} does not hold"
                    for text in self.told(label)
                    if not self.at(text, self.names, self.tol)
                ]
            except (*FAILURES, ValueError) as failed:
                found.append(f"{label}: {failed!r}")
        labels = self.lines if beside and not found else ()
        return found + [each for label in labels for each in self.passed(label)]

    def passed(self, label: str) -> list[str]:
        """Where the function is on the wrong side of the value, at a point that is allowed.

        The primal is nowhere below, the dual nowhere above; the Lagrangian is neither where only
        variables, or only multipliers with the signs that are printed, are others.
        """
        wanted = self.value * (self.sense if label == "Lagrangian" else 1.0)
        sense = 1.0 if label == "Lagrangian" else self.sense
        given, names = [*self.told(label)], self.variables(label)
        tries = [(sense if label != "dual" else -sense, names, given)]
        if label == "Lagrangian" and {*self.multipliers()} <= {*self.variables("dual")}:
            signs = [text for text in self.told("dual") if not text.endswith("= 0")]
            tries.append((-1.0, self.multipliers(), signs))
        for side, moving, limits in tries:
            for moved in self.moved(moving):
                if all(self.at(text, moved, 1e-9) for text in limits):
                    value = self.at(self.goal(label), moved)
                    if not side * (value - wanted) >= -self.tol * (1.0 + abs(wanted)):
                        return [f"{label} passes {wanted}: {value}"]
        return []

    def multipliers(self) -> list[str]:
        """What the Lagrangian has after its variables."""
        return SYMBOL.findall(self.lines["Lagrangian"][0].partition(";")[2].partition(") = ")[0])

    def moved(self, names: list[str]) -> Iterator[dict[str, Any]]:
        """The values with others: all by chance or in proportion, one entry, or two of one."""
        rng = np.random.default_rng(0)
        for size in (0.003, -0.003, 0.1, -0.1, 0.5):
            yield self.names | {name: (1.0 + size) * self.names[name] for name in names}
            for _ in range(3):
                draws = {name: rng.normal(size=np.shape(self.names[name])) for name in names}
                yield self.names | {name: self.names[name] + size * draws[name] for name in names}
            for name in names:
                own = self.names[name]
                units = np.reshape(np.eye(np.size(own)), (-1, *np.shape(own)))
                pairs = [one - other for one, other in itertools.combinations(units, 2)]
                for unit in (*units, *pairs):
                    yield self.names | {name: own + size * unit}


RNG = np.random.default_rng(3)
A, COST = RNG.uniform(0.5, 1.5, size=(2, 5)), RNG.uniform(1.0, 2.0, 5)
F, g, c = RNG.normal(size=(6, 3)), RNG.normal(size=6), RNG.normal(size=3)
Q = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 1.5]])
y = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
X = RNG.normal(size=(6, 3)) + np.outer(y, [0.3, 0.3, 0.0])
C = np.array([[1.0, 2.0, 0.5], [2.0, -1.0, 0.3], [0.5, 0.3, 2.0]])
Case = tuple[Any, Callable[[], dict[str, Any]]]


def linear() -> Case:
    x = cp.Variable(5, name="x")
    flow, sign = (A @ x == [2.0, 3.0]).set_label("flow"), x >= 0
    return cp.Problem(cp.Minimize(COST @ x), [flow, sign]), lambda: {
        **{"x": x.value, "c": COST, r"A_{\text{flow}}": A, r"b_{\text{flow}}": [2.0, 3.0]},
        **{r"\nu_{\text{flow}}": flow.dual_value, r"\lambda_{2}": sign.dual_value},
    }


def linear_maximum() -> Case:
    x = cp.Variable(3, name="x")
    B, room, gain = np.array([[-1.0, 1.0, 2.0], [0.5, 0.0, -3.0]]), [-0.5, 4.0], [1.0, -1.0, 0.5]
    limits = [B @ x <= room, x <= 0.7, x >= -0.4]
    return cp.Problem(cp.Maximize(np.array(gain) @ x), limits), lambda: {
        **{"x": x.value, "c": gain, "A_{1}": B, "b_{1}": room},
        **{rf"\lambda_{{{k}}}": each.dual_value for k, each in enumerate(limits, 1)},
    }


def quadratic() -> Case:
    x = cp.Variable(3, name="x")
    total, short, cost = cp.sum(x) == 1.0, x >= -0.1, np.array([1.0, -2.0, 2.0])
    objective = 0.5 * cp.quad_form(x, Q) + cost @ x
    return cp.Problem(cp.Minimize(objective), [total, short]), lambda: {
        **{"x": x.value, "P": Q, "P^{-1}": np.linalg.inv(Q), "c": cost},
        **{r"\nu_{1}": total.dual_value, r"\lambda_{2}": short.dual_value},
    }


def machine() -> Case:
    w, b, slack = (cp.Variable(n, name=name) for n, name in ((3, "w"), ((), "b"), (6, "xi")))
    margin, sign = cp.multiply(y, X @ w + b) >= 1.0 - slack, slack >= 0.0
    objective = 0.5 * cp.sum_squares(w) + 0.7 * cp.sum(slack)
    return cp.Problem(cp.Minimize(objective), [margin, sign]), lambda: {
        **{"w": w.value, "b": b.value, r"\xi": slack.value},
        **{"A_{1, w}": -y[:, None] * X, "A_{1, b}": -y},
        **{r"\lambda_{1}": margin.dual_value, r"\lambda_{2}": sign.dual_value},
    }


def quadratic_constraints() -> Case:
    x = cp.Variable(3, name="x")
    near = (cp.sum_squares(F @ x - g) <= 6.0).set_label("near")
    below = cp.quad_form(x, Q) <= x[0] + 0.4
    root = np.linalg.cholesky(Q).T  # any will do

    def symbols() -> dict[str, Any]:
        one, two = (float(np.sum(each.dual_value)) for each in (near, below))
        return {
            **{"x": x.value, "c": c, "F_{1}": -F, "g_{1}": g, "F_{2}": root, "a_{2}": np.eye(3)[0]},
            **{r"\lambda_{\text{near}}": one, r"\lambda_{2}": two},
            **{"v_{1}": 2.0 * one * (g - F @ x.value), "v_{2}": 2.0 * two * root @ x.value},
        }

    return cp.Problem(cp.Minimize(c @ x), [near, below]), symbols


def logistic() -> Case:
    x = cp.Variable(3, name="x")
    objective = cp.sum(cp.logistic(-cp.multiply(y, F @ x))) + 0.4 * cp.sum_squares(x)
    signed = -y[:, None] * F
    return cp.Problem(cp.Minimize(objective)), lambda: {
        **{"x": x.value, "F_{1}": signed, "v_{1}": expit(signed @ x.value)}
    }


def semidefinite_variable() -> Case:
    Z = cp.Variable((3, 3), name="Z", symmetric=True)
    trace, cone = cp.trace(Z) == 1.0, Z >> 0

    def symbols() -> dict[str, Any]:
        nu = trace.dual_value
        return {
            **{"Z": Z.value.ravel(), "c": (C + TILT).ravel("F"), "a_{1}": np.eye(3).ravel()},
            **{r"\nu_{1}": nu, "S_{2}": (C + nu * np.eye(3)).ravel()},
            **{r"A_{Z = Z^\top}": TRANSPOSED, r"\nu_{Z = Z^\top}": [-1.0, 0.5, 0.2]},
        }

    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(C + TILT, Z))), [trace, cone]), symbols


TILT = np.array([[0.0, 1.0, -0.5], [-1.0, 0.0, -0.2], [0.5, 0.2, 0.0]])
"""Of no weight for what is symmetric."""
TRANSPOSED = np.zeros((3, 9))
"""Z_ij - Z_ji for i < j, of Z column by column."""
for row, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
    TRANSPOSED[row, [i + 3 * j, j + 3 * i]] = 1.0, -1.0


def second_order() -> Case:
    x = cp.Variable(3, name="x")
    reach = (cp.norm(F @ x - g) <= 0.2 * x[0] + 3.0).set_label("reach")
    ball = (cp.norm(x - 0.5) <= 1.0).set_label("ball")

    def symbols() -> dict[str, Any]:
        r, s = F @ x.value - g, x.value - 0.5
        one, two = (float(np.sum(each.dual_value)) for each in (reach, ball))
        return {
            **{"x": x.value, "c": c, "F_{1}": F, "g_{1}": -g},
            **{r"a_{\text{reach}}": [0.2, 0.0, 0.0], r"\lambda_{\text{reach}}": one},
            **{r"\lambda_{\text{ball}}": two, "v_{1}": one * r / np.linalg.norm(r)},
            **{"v_{2}": two * s / np.linalg.norm(s)},
        }

    return cp.Problem(cp.Minimize(c @ x), [reach, ball]), symbols


def exponential() -> Case:
    x, z = cp.Variable(3, name="x"), cp.Variable(3, name="z")
    cone, limit = cp.ExpCone(x, np.ones(3), z), x <= 1.0

    def symbols() -> dict[str, Any]:
        power = np.exp(x.value)
        slopes = {"r_{1}": -power, "s_{1}": power * (x.value - 1.0), "t_{1}": np.ones(3)}
        return {"x": x.value, "z": z.value, "c": PULL, r"\lambda_{2}": limit.dual_value, **slopes}

    return cp.Problem(cp.Minimize(cp.sum(z) + PULL @ x), [cone, limit]), symbols


PULL = np.array([-1.5, -0.5, -4.0])


CASES: dict[str, Callable[[], Case]] = {
    each.__name__: each
    for each in (
        *(linear, linear_maximum, quadratic, machine, quadratic_constraints, logistic),
        *(semidefinite_variable, second_order, exponential),
    )
}


def page_of(name: str) -> DualPage:
    """The printed dual of a case, with the values of its symbols."""
    from convexml import dualize

    problem, symbols = CASES[name]()
    text = dualize(problem).latex()
    value = solve(problem)
    return DualPage(text, symbols(), value)
