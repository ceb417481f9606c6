"""Every model with what its formulas name: data, point and multipliers, and what words mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import convexml as cml
from convexml import penalties
from support.latex.formula_cases import BINARY, CLASSES, REAL, SYMBOLS, WEIGHTS, X
from support.latex.page import Page

N, D = X.shape
GROUPS = [np.flatnonzero(np.arange(D) % 2 == g) for g in range(2)]
NOT_SEPARABLE = np.where(np.arange(N) % 3 == 0, -1.0, 1.0)
ONE_WRONG = np.where(np.arange(N) == 5, -BINARY, BINARY)
RISING = REAL + 0.3 * np.arange(N)
POINTS = X[:5, :2]
LEARNERS = np.column_stack([np.sign(X), -np.ones(N)])
SOME_ZERO = np.where(np.arange(N) == 3, 0.0, WEIGHTS)
DISTANCES = np.abs(POINTS[:, None, 0] - POINTS[None, :, 0]) - 0.5 * (
    POINTS[:, None, 1] != POINTS[None, :, 1]
)
A = np.diff(np.eye(D), axis=0)
STEPS = np.arange(12.0)[:, None] // 4
SIDES = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
GREEK = "alpha beta nu mu lambda rho xi theta".split()
OWN = {"xi_star": r"\xi^*", "alpha_star": r"\alpha^*", "beta_star": r"\beta^*", "r_plus": "r^+"}
OWN |= {"r_minus": "r^-", "lambda_ub": r"\lambdaub", "lambda_lower": r"\lambdalower"}
OWN |= {"lambda_upper": r"\lambdaupper", "Z_upper": r"\Zupper", "Z_lower": r"\Zlower"}
OWN |= {"Theta": r"\Theta", "plan": "", "center": "", "radius": "", "means": "", "priors": ""}
OF_ROWS = tuple(r"X x y s z Z u U \alpha \beta \xi \alpha^* \beta^*".split())
OF_ROWS += (r"\xi^*", r"\nu", "r^+", "r^-", "q", "d", "H")
MORE: dict[str, Callable[..., Any]] = {
    "NuSVC": lambda **k: cml.NuSVC(X, ONE_WRONG, 0.4, **k),
    "NuSVC of kernel": lambda **k: cml.NuSVC(X, ONE_WRONG, 0.4, cml.kernels.Gaussian(2.0), **k),
    "OneClassSVM": lambda **k: cml.OneClassSVM(X, 0.4, **k),
    "OneClassSVM of kernel": lambda **k: cml.OneClassSVM(X, 0.4, cml.kernels.Gaussian(2.0), **k),
    "LPBoost": lambda **k: cml.LPBoost(LEARNERS, ONE_WRONG, 0.4, **k),
    "AdaBoost": lambda **k: cml.AdaBoost(STEPS, SIDES, 4000, **k),
    "GaussianLikelihood": lambda **k: cml.GaussianLikelihood(X, 0.1, **k),
    "GaussianLikelihood of lam 0": lambda **k: cml.GaussianLikelihood(X, 0.0, **k),
    "DiscriminantAnalysis": lambda **k: cml.DiscriminantAnalysis(X[:, :2], CLASSES, **k),
    "DiscriminantAnalysis by class": lambda **k: cml.DiscriminantAnalysis(X[:, :2], CLASSES,
        shared=False, **k),
    "BernoulliLikelihood": lambda **k: cml.BernoulliLikelihood((X[:, 0] > 0.0) * 1.0, **k),
    "CategoricalLikelihood": lambda **k: cml.CategoricalLikelihood(CLASSES, classes=[0, 1, 2, 3],
        **k),
    "MonotoneRegression": lambda **k: cml.MonotoneRegression(RISING, **k),
    "MonotoneRegression falling": lambda **k: cml.MonotoneRegression(-RISING, increasing=False,
        **k),
    "TrendFilter": lambda **k: cml.TrendFilter(REAL, 0.1, **k),
    "ConvexClustering": lambda **k: cml.ConvexClustering(POINTS, 0.15, **k),
    "KMeansBound": lambda **k: cml.KMeansBound(POINTS, 2, **k),
    "PrincipalComponents": lambda **k: cml.PrincipalComponents(X, 2, **k),
    "NearestNeighbors": lambda **k: cml.NearestNeighbors(X, X[:1] + 0.1, 3, **k),
    "SpanningTree": lambda **k: cml.SpanningTree(DISTANCES, **k),
}  # fmt: skip
BOUNDS = [(0, None), (None, 4), (-1, 5), [(0, 3), (None, 2), (0, None)], (None, None)]


def linear_program(bounds: Any, equal: bool) -> cml.LinearProgram:
    """With and without equations, for every kind of bounds."""
    rows = np.array([[1.0, 1.0, 2.0], [-1.0, 0.0, -1.0], [0.0, -1.0, 1.0]])
    cost = np.array([1.0, -2.0, 2.0])
    if bounds == (None, None):
        cost = -rows.T @ np.array([0.5, 2.0, 3.0])
    sides = ([[1.0, -1.0, 0.5]], [0.5]) if equal else (None, None)
    return cml.LinearProgram(cost, rows, [6.0, 1.0, 2.0], *sides, bounds)


def constant(problem: Any, name: str) -> Any:
    """The value of a named constant of a posed problem."""
    return next(each.value for each in problem.constants() if each.name() == name)


def page_of(problem: Any, weights: Any = None, perturbed: Any = None) -> tuple[Page, Any]:
    """The page of a problem, and its solution."""
    solution = problem.solve(tol=1e-13 if type(problem) is cml.AdaBoost else 1e-9)
    assert solution.status in ("optimal", "inaccurate"), solution.status
    s = np.ones(N) if weights is None else np.asarray(weights)
    names: dict[str, Any] = {"s": s, "n": float(N), "groups": GROUPS, "I": np.eye(D)}
    names |= {
        SYMBOLS[key]: v for key, v in getattr(problem, "_hyper", {}).items() if key in SYMBOLS
    }
    for table in (solution.primal, solution.dual):
        for key, value in table.items():
            names[OWN.get(key, rf"\{key}" if key in GREEK else key)] = np.asarray(value)
    ranges = {"i": range(N), "l": range(N), "j": range(D), "g": range(2), "m": range(D)}
    page = Builder(problem, solution, s, names, ranges)
    getattr(page, type(problem).__name__, page.learning)()
    page.names.pop("", None)
    found = Page(problem.latex(), page.names, page.ranges, page.words, page.rows, s)
    return found, solution


class Builder:
    """What each kind of problem names beside its point and multipliers."""

    def __init__(self, problem: Any, solution: Any, s: Any, names: Any, ranges: Any) -> None:
        self.problem, self.solution, self.s = problem, solution, s
        self.names, self.ranges = names, ranges
        self.words: dict[str, Any] = {"sample weight": s}
        self.rows = OF_ROWS

    def size(self, **sizes: int) -> None:
        self.ranges = {key: range(count) for key, count in sizes.items()}

    def samples(self, y: Any) -> None:
        self.names |= {"X": X, "x": X, "y": np.asarray(y, dtype=float)}

    def learning(self) -> None:
        problem, names = self.problem, self.names
        hyper = dict(problem._hyper)
        y = LABELS.get(type(problem).__name__, REAL)
        self.samples(hyper.pop("labels") if "labels" in hyper else y)
        if type(problem).__name__ == "LearningProblem":
            names["y"] = np.zeros(N)
            names["y"][self.s > 0.0] = problem._samples.y
        self.words["radius"] = hyper.get("radius")
        if "q" in names:
            self.kernel()
        elif np.ndim(names["w"]) == 2:
            self.ranges["k"] = range(names["w"].shape[1])
            names |= {"W": names.pop("w"), "U": names.pop("u")}
        if "q" not in names:
            w = names.get("w", names.get("W"))
            names["z" if w.ndim == 1 else "Z"] = X @ w + self.solution.primal["b"]
        penalty = (
            None if isinstance(problem, cml.MultiTaskLasso) else problem.objective_parts.penalty
        )
        for letter in ("lo", "hi"):
            names["\\" + letter] = np.broadcast_to(getattr(penalty, letter, np.inf), D)
        if getattr(penalty, "weights", None) is not None:
            names[r"\omega"] = penalty.weights
        names |= {
            symbol: getattr(penalty, key)
            for key, symbol in OF_PENALTY.items()
            if hasattr(penalty, key)
        }
        if isinstance(penalty, penalties.L1Ball | penalties.L2Ball):
            letter, order = (r"\lambda", np.inf) if penalty.name == "l1_ball" else (r"\mu", 2)
            names.setdefault(letter, np.linalg.norm(X.T @ names["u"], order))
        names |= problem_constants(problem)
        if hasattr(penalty, "lams"):
            names[r"\lambda"] = np.asarray(penalty.lams)

    # -- other machines ---------------------------------------------------------------------------

    def NuSVC(self) -> None:
        self.samples(ONE_WRONG)
        self.names[r"\nu"] = 0.4
        self.kernel()

    def OneClassSVM(self) -> None:
        self.samples(np.zeros(N))
        self.names[r"\nu"] = 0.4
        self.kernel()

    def kernel(self) -> None:
        if "q" in self.names:
            self.ranges["j"] = range(N)
            self.names.pop("X")
            self.names[r"\Phi"] = constant(self.problem.primal, "Phi")

    def LPBoost(self) -> None:
        d = self.names["d"]
        self.names |= {"y": ONE_WRONG, r"\nu": 0.4}
        self.names[r"\gamma"] = np.max(LEARNERS.T @ (d * ONE_WRONG))
        self.words["what learner j says of x_i"] = LEARNERS
        self.ranges["j"] = range(LEARNERS.shape[1])

    def AdaBoost(self) -> None:
        whole = cml.AdaBoost(STEPS, SIDES, 1)._stumps
        H = np.column_stack([whole.column(j) for j in range(self.names["w"].size)])
        self.names["y"] = SIDES
        self.size(i=N, l=N, j=H.shape[1])
        self.words["what stump j says of x_i"] = H

    # -- likelihoods ------------------------------------------------------------------------------

    def GaussianLikelihood(self) -> None:
        self.names[r"\lambda"] = self.problem.lam
        S = np.cov(X.T, aweights=self.s, ddof=0)
        self.words |= {"covariance of the samples": S, "number of features": float(D)}
        self.size(i=D, j=D)

    def DiscriminantAnalysis(self) -> None:
        x, share = (
            X[:, :2],
            [float(np.sum(self.s[CLASSES == k]) / np.sum(self.s)) for k in range(3)],
        )
        S = [np.cov(x[CLASSES == k].T, aweights=self.s[CLASSES == k], ddof=0) for k in range(3)]
        self.size(k=3, i=2, j=2)
        self.names["I"] = np.eye(2)
        means = [np.average(x[CLASSES == k], 0, self.s[CLASSES == k]) for k in range(3)]
        self.words["means of the classes"] = np.array(means)
        self.words |= {"covariance of class k": np.array(S), "its share": np.array(share)}
        self.words["number of features"] = 2.0
        self.words["covariance within the classes"] = sum(
            p * one for p, one in zip(share, S, strict=True)
        )

    def BernoulliLikelihood(self) -> None:
        m = float(self.s @ (X[:, 0] > 0.0) / np.sum(self.s))
        self.size(k=2)
        self.names["p"] = np.array([1.0 - self.names["p"], self.names["p"]])
        self.words["share of label k"] = np.array([1.0 - m, m])

    def CategoricalLikelihood(self) -> None:
        self.size(k=4)
        self.words["share of label k"] = np.bincount(CLASSES, self.s, 4) / np.sum(self.s)

    # -- shapes and sequences ---------------------------------------------------------------------

    def MonotoneRegression(self) -> None:
        alpha = np.concatenate([[0.0], self.names[r"\alpha"], [0.0]])
        self.names |= {r"\alpha": alpha, r"\alpha from": 1}
        self.names["y"] = RISING if self.problem.increasing else -RISING
        self.size(i=N, l=N)

    def TrendFilter(self) -> None:
        self.names |= {"y": REAL, r"\lambda": 0.1}
        self.words["differences of order 2"] = np.diff(np.eye(N), n=2, axis=0)
        self.size(i=N - 2)

    # -- matrices, graphs -------------------------------------------------------------------------

    def ConvexClustering(self) -> None:
        V = np.zeros((5, 5, 2))
        V[np.triu_indices(5, 1)] = self.names["V"]
        self.names |= {"x": POINTS, "V": V - V.transpose(1, 0, 2), r"\lambda": 0.15}
        self.words["weight of a pair"] = np.ones((5, 5))
        self.size(i=5, j=5)

    def KMeansBound(self) -> None:
        self.names |= {"x": POINTS, "k": 2.0}
        self.size(i=5, j=5)

    def PrincipalComponents(self) -> None:
        self.names["k"] = 2.0
        self.words |= {"covariance of the samples": np.cov(X.T, aweights=self.s, ddof=0)}
        self.words["number of features"] = float(D)
        self.size()

    def NearestNeighbors(self) -> None:
        for name in ("p", r"\nu", r"\lambdalower", r"\lambdaupper"):
            self.names[name] = self.names[name][0]
        self.names["k"] = 3.0
        self.words["distance of sample i from the query"] = np.linalg.norm(0.1 + X[0] - X, axis=1)
        self.size(i=N)

    def SpanningTree(self) -> None:
        edges, x = np.triu_indices(5, 1), self.names.pop("x")
        between = (
            self.names.pop("partitions")[:, edges[0]]
            != self.solution.dual["partitions"][:, edges[1]]
        )
        parts = [np.unique(row).size for row in self.solution.dual["partitions"]]
        self.names |= {"d": DISTANCES[edges], "x": x[edges], "n": 5.0, r"\parts": np.array(parts)}
        self.names |= {r"\crossing": between @ x[edges], r"\total": np.sum(x[edges])}
        self.names[r"\load"] = self.names["y"] @ between
        self.ranges = {"e": range(10), r"\pi": range(len(parts))}

    def LinearProgram(self) -> None:
        data = self.problem.data
        self.names |= {"c": data.c, r"\Aub": data.A_ub, r"\bub": data.b_ub}
        self.names |= {r"\Aeq": data.A_eq, r"\beq": data.b_eq}
        self.names |= {r"\lower": data.lower, r"\upper": data.upper}
        x = self.names["x"]
        self.names |= {"x^+": np.maximum(x, 0.0), "x^-": np.maximum(-x, 0.0)}
        slacks = [data.b_ub - data.A_ub @ x] if data.b_ub.size else []
        slacks += [None] if data.b_eq.size else []
        if data.lower.any() and np.isfinite(data.lower).any():
            slacks.append(x - data.lower)
        if np.isfinite(data.upper).any():
            slacks.append(data.upper - x)
        self.names |= dict(zip("stuv", slacks, strict=False))
        self.size()


EXEMPT = {
    "SpanningTree": "a partition's sum of x is in words",
    "KMeansBound": "its Lagrangian is least over Z >= 0 of trace k, not over all Z",
}
"""Of which no function is evaluated beside the solution, each with the reason."""
LABELS = dict.fromkeys(
    ("LogisticRegression", "SoftMarginSVM", "HardMarginSVM", "HalfspaceLP"), BINARY
)
LABELS |= dict.fromkeys(("KernelLogistic", "KernelProblem", "KernelSVM"), BINARY)
LABELS |= {"SoftmaxRegression": CLASSES}
OF_PENALTY = {"lam": r"\lambda", "l1_ratio": r"\rho", "t": "t"}


def problem_constants(problem: Any) -> dict[str, Any]:
    """Of a model of any loss: C, and what its loss has; of others their own y."""
    name = type(problem).__name__
    if name == "LearningProblem":
        scale, loss = problem._parts[2], problem.objective_parts.loss
        known = {SYMBOLS[key]: v for key, v in vars(loss).items() if key in SYMBOLS}
        return known | ({} if isinstance(scale, str) else {"C": scale})
    if name == "MultiTaskLasso":
        from support.latex.formula_cases import TARGETS

        return {"y": TARGETS}
    if name == "MinimumNorm":
        return {"y": X @ np.array([1.0, -1.0, 2.0, 0.5])}
    if name == "PoissonRegression":
        from support.latex.formula_cases import COUNTS

        return {"y": COUNTS}
    return {}
