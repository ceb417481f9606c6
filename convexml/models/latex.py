"""LaTeX of a learning problem: primal, Lagrangian, dual and KKT conditions."""

from __future__ import annotations

from dataclasses import dataclass

from ..objective import Objective

LOSSES = {
    "squared": (r"\tfrac12 (z_i - y_i)^2", r"\tfrac12 v_i^2 + v_i y_i"),
    "absolute": (r"|z_i - y_i|", r"v_i y_i,\ |v_i| \le 1"),
    "pinball": (
        r"\tau (y_i - z_i)_+ + (1-\tau)(z_i - y_i)_+",
        r"v_i y_i,\ -\tau \le v_i \le 1-\tau",
    ),
    "huber": (r"\mathrm{huber}_\delta(z_i - y_i)", r"\tfrac12 v_i^2 + v_i y_i,\ |v_i| \le \delta"),
    "epsilon_insensitive": (
        r"(|z_i - y_i| - \varepsilon)_+",
        r"v_i y_i + \varepsilon |v_i|,\ |v_i| \le 1",
    ),
    "logistic": (
        r"\log(1 + e^{-y_i z_i})",
        r"p_i \log p_i + (1-p_i)\log(1-p_i),\ p_i = -y_i v_i",
    ),
    "hinge": (r"(1 - y_i z_i)_+", r"y_i v_i,\ -1 \le y_i v_i \le 0"),
    "squared_hinge": (r"\tfrac12 (1 - y_i z_i)_+^2", r"y_i v_i + \tfrac12 v_i^2,\ y_i v_i \le 0"),
    "exponential": (r"e^{-y_i z_i}", r"p_i \log p_i - p_i,\ p_i = -y_i v_i \ge 0"),
    "poisson": (
        r"e^{z_i} - y_i z_i + y_i \log y_i - y_i",
        r"(v_i + y_i)\log(v_i + y_i) - (v_i + y_i) - (y_i \log y_i - y_i)",
    ),
    "softmax": (
        r"\log\sum_k e^{z_{ik}} - z_{i y_i}",
        r"\sum_k p_{ik}\log p_{ik},\ p_i = v_i + e_{y_i} \in \Delta",
    ),
    "hard_margin": (r"\iota[y_i z_i \ge 1]", r"y_i v_i,\ y_i v_i \le 0"),
    "interpolation": (r"\iota[z_i = y_i]", r"v_i y_i"),
}
"""l(y_i, z_i) and l*(y_i, v_i), by the loss's name."""

PENALTIES = {
    "zero": ("0", r"\iota[v = 0]"),
    "l2": (r"\tfrac{\lambda}{2}\|w\|_2^2", r"\tfrac{1}{2\lambda}\|v\|_2^2"),
    "l1": (r"\lambda\|w\|_1", r"\iota[\|v\|_\infty \le \lambda]"),
    "elastic_net": (
        r"\lambda\left(\rho\|w\|_1 + \tfrac{1-\rho}{2}\|w\|_2^2\right)",
        r"\sum_j \frac{(|v_j| - \lambda\rho)_+^2}{2\lambda(1-\rho)}",
    ),
    "group_l2": (
        r"\lambda\sum_g s_g\|w_g\|_2",
        r"\iota[\|v_g\|_2 \le \lambda s_g\ \forall g]",
    ),
    "l1_ball": (r"\iota[\|w\|_1 \le t]", r"t\|v\|_\infty"),
    "l2_ball": (r"\iota[\|w\|_2 \le t]", r"t\|v\|_2"),
    "box": (r"\iota[l \le w \le h]", r"\sum_j \max(l_j v_j, h_j v_j)"),
    "nonnegative": (r"\iota[w \ge 0]", r"\iota[v \le 0]"),
}
"""Omega(w) and Omega*(v), by the penalty's name."""


@dataclass(frozen=True)
class Latex:
    """The four statements of a convex problem."""

    primal: str
    lagrangian: str
    dual: str
    kkt: tuple[str, ...]

    def __str__(self) -> str:
        rows = [
            rf"\text{{primal}}\quad & {self.primal}",
            rf"\text{{Lagrangian}}\quad & {self.lagrangian}",
            rf"\text{{dual}}\quad & {self.dual}",
            *(rf"\text{{KKT}}\quad & {row}" for row in self.kkt),
        ]
        body = " \\\\\n".join(rows)
        return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


def latex_of(objective: Objective) -> Latex:
    """State loss + penalty in the form of the Fenchel-Rockafellar dual."""
    loss, conjugate = LOSSES.get(objective.loss.name, (r"\ell(y_i, z_i)", r"\ell^*(y_i, v_i)"))
    penalty, support = PENALTIES.get(objective.penalty.name, (r"\Omega(w)", r"\Omega^*(v)"))
    shift, over = (r" + b\mathbf{1}", "w, b, z") if objective.fit_intercept else ("", "w, z")
    balance = r",\quad \mathbf{1}^\top u = 0" if objective.fit_intercept else ""
    kkt = [
        r"u_i \in c_i\,\partial_z \ell(y_i, z_i)",
        r"-X^\top u \in \partial\Omega(w)",
        rf"z = Xw{shift}",
    ]
    if objective.fit_intercept:
        kkt.append(r"\mathbf{1}^\top u = 0")
    return Latex(
        rf"\min_{{{over}}}\ \sum_i c_i \left[{loss}\right] + {penalty}"
        rf"\quad\text{{s.t.}}\quad Xw{shift} = z",
        rf"\sum_i c_i\,\ell(y_i, z_i) + \Omega(w) + u^\top (Xw{shift} - z)",
        rf"\max_u\ -\sum_i c_i\,\ell^*(y_i, u_i/c_i) - \Omega^*(-X^\top u){balance},"
        rf"\quad \ell^*(y_i, v_i) = {conjugate},\quad \Omega^*(v) = {support}",
        tuple(kkt),
    )
