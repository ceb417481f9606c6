"""Primal, Lagrangian, dual and KKT conditions in LaTeX, of the problem as it is posed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..formulas import Form, Row, Symbol, Tex, Weights, listed, plus, times, told
from ..kernels import Kernel
from ..losses import Loss
from ..penalties import Penalty
from ..problem import Objective


@dataclass(frozen=True)
class Latex:
    """The four statements of a convex problem."""

    primal: str
    lagrangian: str
    dual: str
    kkt: tuple[str, ...]
    where: str = ""
    """What only the conditions of a certificate name."""
    steps: tuple[tuple[str, str], ...] = ()
    """Over what the Lagrangian is least, with where that is or with its value there."""
    recovery: str = ""
    """The variables by the multipliers, where lines say more than that they solve the rest."""
    eliminated: str = ""
    """What the dual has in place of the helpers of the posed one."""
    canonical: tuple[str, ...] = ()
    """The pair in a textbook's normal form, a row each."""
    over: tuple[str, ...] = ()
    """The variable of each condition of stationarity in its order; "" of a product that is 0."""

    def __str__(self) -> str:
        rows = [
            rf"\text{{primal}}\quad & {self.primal}",
            rf"\text{{Lagrangian}}\quad & {self.lagrangian}",
            rf"\text{{dual}}\quad & {self.dual}",
            *([rf"\text{{eliminated}}\quad & {self.eliminated}"] if self.eliminated else []),
            *(rf"\text{{KKT}}\quad & {row}" for row in self.kkt),
            *(rf"\text{{canonical}}\quad & {row}" for row in self.canonical),
            *([rf"\text{{where}}\quad & {self.where}"] if self.where else []),
        ]
        body = " \\\\\n".join(rows)
        return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


LINEAR = (
    Symbol("w", "w_j", "w_g"),
    Symbol(r"X^\top u", r"x_j^\top u", r"X_g^\top u"),
)
MATRIX = (
    Symbol("W", "W_{jk}", "W_g", "{jk}"),
    Symbol(r"X^\top U", r"(X^\top U)_{jk}", r"(X^\top U)_g", "{jk}"),
)
KERNEL = (
    Symbol("Kq", "(Kq)_j", squared=r"q^\top K q"),
    Symbol("Ku", "(Ku)_j", squared=r"u^\top K u"),
)
"""The coefficients, and X'u."""
FACTOR = Symbol("w", "w_j"), Symbol(r"\Phi^\top u", r"\Phi_j^\top u")
FACTORED = r"K = \Phi \Phi^\top,\ w = \Phi^\top q"
"""In what coordinates a problem of a kernel is posed."""


def latex_of(
    objective: Objective, scale: str | float, weighted: bool, textbook: bool, kernel: Kernel | None
) -> Latex:
    """State loss + penalty; with the loss's own slacks and multipliers where ``textbook``."""
    loss, penalty, classes = objective.loss, objective.penalty, bool(objective.w_shape[1:])
    b = "b" if objective.fit_intercept else ""
    c = weights_of("sum", False) if loss.is_indicator else weights_of(scale, weighted)
    w, v = KERNEL if kernel else MATRIX if classes else LINEAR
    at = plus("(Kq)_i" if kernel else r"w^\top x_i", b)
    z = Symbol(at, f"({at})" if b else at)
    form = told(loss, Loss, "textbook_tex", "value", z, c) if textbook else None
    if form is not None:
        v, lam, balance = pushed(form.push, kernel), "", rf"\sum_i {form.push} = 0"
        pushes = f"-{form.push}" if not form.sign else form.push
        names, least = [f"z_i = {at}", f"u_i = {pushes}"], ""
    else:
        shift = b and (r"\mathbf{1}b^\top" if classes else r"b\mathbf{1}")
        form = in_predictions(
            told(loss, Loss, "tex", "value"), c, plus(f"{w}" if kernel else f"X{w}", shift), classes
        )
        least = least_in_predictions(form)
        lam, balance = r"\lambda", rf"\mathbf{{1}}^\top {form.dual} = 0"
        names = ["w = W", "u = U"] if classes else [told(loss, Loss, "tex", "value").names or ""]
    minus = v.negative() if form.sign else v
    across = v if penalty.depends_on_sizes else minus
    omega = told(penalty, Penalty, "tex", "value", w, across, lam)
    posed = told(penalty, Penalty, "tex", "value", *FACTOR, lam) if kernel else omega
    rows = (*form.rows, *omega.rows)
    over = ", ".join(filter(None, ("q" if kernel else str(w), b, form.over)))
    balance = b and balance
    stationarity = [form.slope, slope_of(omega, minus), balance]
    name = "q" if kernel else str(w)
    best = "at the best multipliers, " * bool(omega.rows)
    steps = (
        *((rf"\text{{over }} {form.over}", line) for line in form.slope.split(r",\quad ")),
        (rf"\text{{least over }} {form.over}", least),
        (r"\text{with}", least and form.domain),
        (rf"\text{{over }} {name}", stationarity[1]),
        (rf"\text{{{best}least over }} {name}", least_in(omega, name, v, form.sign)),
        (r"\text{finite only where}", omega.domain),
        (r"\text{over } b", balance),
    )
    inner = "(Kq)_i" if kernel else rf"{w}^\top x_i"
    offset = rf"b = z_i - {inner}" if least else INSIDE
    if form.rows[0].sense == "=" and not least:
        offset = rf"b = y_i - {inner}"
    told_w = rf"{name}\text{{: a solution of these conditions, multipliers given}}"
    if omega.slope and r"\partial" not in omega.slope:
        told_w = stationarity[1]
    recovery = listed(told_w, b and offset)
    if not (form.cost or omega.value):
        recovery = rf"{over}\text{{: every feasible point}}"
    return Latex(
        rf"\min_{{{over}}}\ {plus(form.cost, omega.value)}"
        + such_that(*map(str, rows), gram(kernel)),
        plus(form.cost, omega.value, *(row.term for row in rows)),
        rf"\max_{{{form.dual}}}\ {plus(form.gain, omega.conjugate and f'-{omega.conjugate}')}"
        + such_that(form.domain, omega.domain, balance),
        (*filter(None, stationarity), *(row.condition for row in rows)),
        listed(weighted * KEPT, *names, *named_in_conditions(loss, omega, c, w)),
        tuple(step for step in steps if step[1]),
        recovery,
        listed(FACTORED if kernel else "", form.helpers, lam and posed.helpers),
    )


def least_in_predictions(form: Form) -> str:
    """What is left of the Lagrangian where z is eliminated: minus the conjugate of the losses."""
    trace, z = r"\operatorname{tr} " if form.over == "Z" else "", form.over
    terms = form.cost, rf"-{trace}{form.dual}^\top {z}", *(row.term for row in form.rows[1:])
    return f"{plus(*terms)} = {form.gain}"


def least_in(omega: Tex, w: str, v: Symbol, sign: str) -> str:
    """What is left of the Lagrangian where w is eliminated: minus the conjugate of the penalty."""
    trace = r"\operatorname{tr} " if w == "W" else ""
    terms = omega.value, rf"{'' if sign else '-'}{trace}{w}^\top {v}"
    least = f"-{omega.conjugate}" if omega.conjugate else "0"
    return f"{plus(*terms, *(row.term for row in omega.rows))} = {least}"


def gram(kernel: Kernel | None) -> str:
    """What K is, where it is not given as such."""
    if kernel is None or not kernel.takes_samples:
        return ""
    return f"K_{{ij}} = {told(kernel, Kernel, 'tex', '__call__', 'x_i', 'x_j')}"


def named_in_conditions(loss: Loss, omega: Tex, c: Weights, w: Symbol) -> Iterator[str]:
    """What the conditions call c_i, l and Omega, as far as those of the loss and penalty do."""
    told_of: Tex = told(loss, Loss, "tex", "value")
    if told_of.names != "":
        yield f"c_i = {c.each or 1}"
    if told_of.names is None:
        yield told_of.defined("l(y_i, z_i)")
    if omega.value or omega.rows:
        yield omega.defined(rf"\Omega({'q' if 'K' in str(w) else w})")
        yield omega.names or ""


def in_predictions(loss: Tex, c: Weights, prediction: str, classes: bool) -> Form:
    """The sum of losses with the prediction z as a variable, whose multiplier is u."""
    z, u = ("Z", "U") if classes else ("z", "u")
    row = Row(r"\operatorname{tr} U^\top" if classes else r"u^\top", prediction, "=", z)
    inside, kinked = r"\in", rf"\partial_{{z_i}} \left[{loss.value}\right]"
    return Form(
        over=z,
        cost=loss.value and times(c.total, loss.value),
        rows=(row, *loss.rows),
        dual=u,
        gain=f"-{times(c.total, loss.conjugate)}",
        domain=listed(f"v_i = {c.inverse}", loss.domain),
        slope=rf"u_i {'=' if loss.slope else inside} {times(c.each, loss.slope or kinked)}",
        push="u_i",
        sign="-",
        helpers=loss.helpers,
    )


def pushed(push: str, kernel: Kernel | None) -> Symbol:
    """The sum of push_i x_i."""
    if kernel is not None:
        squared = rf"\sum_{{i,j}} {push} {push.replace('_i', '_j')} K_{{ij}}"
        return Symbol(rf"\sum_i {push} K_i", squared=squared)
    whole, entry, block = (rf"\sum_i {push} x_{part}" for part in ("i", "{ij}", "{ig}"))
    return Symbol(whole, entry, block, squared=rf"\Big\|{whole}\Big\|_2^2")


def slope_of(omega: Tex, minus: Symbol) -> str:
    """Stationarity in the coefficients."""
    if r"\partial" in omega.slope:
        return rf"{minus} \in {omega.slope}"
    if omega.slope:
        return f"{omega.slope} = {minus}"
    return rf"{minus} \in \partial \left[{omega.value}\right]" if omega.value else omega.domain


def weights_of(scale: str | float, weighted: bool) -> Weights:
    """How the c_i are written."""
    share = r"\tfrac{s_i}{\sum_l s_l}"
    table = {
        ("mean", False): Weights(r"\tfrac1n \sum_i", r"\tfrac1n", "n u_i"),
        ("mean", True): Weights(rf"\sum_i {share}", share, r"\tfrac{\sum_l s_l}{s_i} u_i"),
        ("sum", False): Weights(r"\sum_i", "", "u_i"),
        ("sum", True): Weights(r"\sum_i s_i", "s_i", "u_i / s_i"),
        ("C", False): Weights(r"C \sum_i", "C", "u_i / C"),
        ("C", True): Weights(r"C \sum_i s_i", "C s_i", "u_i / (C s_i)"),
    }
    return table[scale if isinstance(scale, str) else "C", weighted]


INSIDE = r"b\text{: from samples whose multipliers are strictly inside their bounds}"
"""Where the constraints of a sample are equations without slack."""
COVARIANCE = r"S = \text{covariance of the samples}"
MOMENTS = COVARIANCE + r",\ d = \text{number of features}"
KEPT = "(i : s_i > 0)"
"""Rows of weight 0 are dropped first: no line has them."""
WEIGHTS = r"s_i = \text{sample weight}"
"""What the formulas name in models of the covariance, and where weights are always in them."""


def such_that(*statements: str) -> str:
    """The constraints, if any."""
    given = listed(*statements)
    return rf"\quad\text{{s.t.}}\quad {given}" if given else ""
