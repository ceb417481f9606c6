"""The rows: a problem, its data, who competes, the floor, and what is to be reached.

Only names and numbers, so that the process that starts the others stays small.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

CLARABEL, PIQP, OSQP = "CVXPY + CLARABEL", "CVXPY + PIQP", "CVXPY + OSQP"
DENSE_LASSO = ("celer", "skglm", "scikit-learn")
KERNEL = ("libsvm",)
NO_INTERCEPT = "(no intercept)"
"""Ends the names of peers that solve, and are verified on, the problem without an intercept."""
LINEAR, CELER = f"liblinear {NO_INTERCEPT}", f"celer {NO_INTERCEPT}"
SMOOTH = ("lbfgs", "newton-cholesky", "newton-cg", LINEAR, f"skglm {NO_INTERCEPT}")
L1_LOGISTIC = ("skglm", CELER, LINEAR)
SVM = ("libsvm", LINEAR, "low-rank dual + PIQP")


@dataclass(frozen=True)
class Row:
    """One problem on one set of data.

    Attributes
    ----------
    name : str
    kind : str
        Which objective: a key of ``contestants``.
    data : str
        A function of ``data``.
    peers : tuple of str
    level : float
        The hyperparameter: a share of lam_max for an l1 penalty, alpha of ridge, C, or lam n.
    floor : str
        What no method can go without: "product" (X'r), "pair" (X w and X'r), "gram", "kernel".
    target : float or None
        The ratio, best peer / ours, to be reached.
    n, d : int or None
        Size of generated data.
    """

    name: str
    kind: str
    data: str
    peers: tuple[str, ...]
    level: float
    floor: str = "pair"
    target: float | None = None
    n: int | None = None
    d: int | None = None


ROWS = (
    Row("lasso diabetes", "lasso", "diabetes", (*DENSE_LASSO, CLARABEL, PIQP), 0.01, target=0.6),
    Row("lasso 1000x5000 .1", "lasso", "correlated", DENSE_LASSO, 0.1, "product", 3.0, 1000, 5000),
    Row("lasso 1000x5000 .01", "lasso", "correlated", DENSE_LASSO, 0.01, "gram", 1.5, 1000, 5000),
    Row("lasso sparse", "lasso", "sparse", DENSE_LASSO, 0.05, "pair", 1.3, 10_000, 50_000),
    Row(
        "lasso tall",
        "lasso",
        "correlated",
        (*DENSE_LASSO, "scikit-learn with a Gram"),
        0.01,
        "gram",
        1.2,
        200_000,
        100,
    ),
    Row("lasso path", "lasso path", "correlated", DENSE_LASSO, 0.01, "gram", 2.5, 1000, 5000),
    Row("l1 logistic cancer", "l1 logistic", "cancer", (*L1_LOGISTIC, CLARABEL), 1.0, target=2.0),
    Row(
        "l1 logistic 1000x5000",
        "l1 logistic",
        "correlated_labels",
        L1_LOGISTIC,
        0.05,
        "product",
        1.5,
        1000,
        5000,
    ),
    Row("l2 logistic cancer", "l2 logistic", "cancer", (*SMOOTH, CLARABEL), 1.0, target=0.8),
    Row("l2 logistic tall", "l2 logistic", "labels", SMOOTH, 1.0, "gram", 2.0, 100_000, 50),
    Row("l2 logistic 2000x2000", "l2 logistic", "labels", SMOOTH, 1.0, "pair", 1.5, 2000, 2000),
    Row(
        "l2 logistic sparse",
        "l2 logistic",
        "sparse_labels",
        tuple(name for name in SMOOTH if name != "newton-cholesky"),
        1.0,
        "pair",
        1.2,
        20_000,
        50_000,
    ),
    Row("ridge tall", "ridge", "correlated", ("cholesky",), 1.0, "gram", 0.9, 200_000, 100),
    Row(
        "ridge wide",
        "ridge",
        "correlated",
        ("cholesky", "sparse_cg", "lsqr"),
        1.0,
        "gram",
        0.9,
        1000,
        5000,
    ),
    Row(
        "ridge sparse",
        "ridge",
        "sparse",
        ("auto", "sparse_cg", "lsqr"),
        1.0,
        "pair",
        1.0,
        10_000,
        50_000,
    ),
    Row("SVM cancer", "svm", "cancer", (*SVM, CLARABEL), 1.0, target=1.0),
    Row("SVM digits", "svm", "digits", (*SVM, CLARABEL), 1.0, target=2.5),
    Row("SVM 20000x50", "svm", "labels", SVM, 1.0, "gram", 7.0, 20_000, 50),
    Row("Gaussian SVM 500", "kernel svm", "moons", (*KERNEL, CLARABEL), 1.0, "kernel", 0.8, 500),
    Row("Gaussian SVM 1000", "kernel svm", "moons", KERNEL, 1.0, "kernel", 1.0, 1000),
    Row("Gaussian SVM 2000", "kernel svm", "moons", KERNEL, 1.0, "kernel", 1.0, 2000),
    Row("Gaussian SVM 5000", "kernel svm", "moons", KERNEL, 1.0, "kernel", 1.0, 5000),
)

GROWTH = {
    "lasso in n": ("lasso tall", "n", (6000, 12_500, 25_000, 50_000, 100_000)),
    "lasso in d": ("lasso 1000x5000 .1", "d", (625, 1250, 2500, 5000, 10_000)),
    "l2 logistic in n": ("l2 logistic tall", "n", (6000, 12_500, 25_000, 50_000, 100_000)),
    "l2 logistic in d": ("l2 logistic 2000x2000", "d", (125, 250, 500, 1000, 2000)),
    "ridge in n": ("ridge tall", "n", (12_500, 25_000, 50_000, 100_000, 200_000)),
    "ridge in d": ("ridge wide", "d", (625, 1250, 2500, 5000, 10_000)),
    "SVM in n": ("SVM 20000x50", "n", (1250, 2500, 5000, 10_000, 20_000)),
    "Gaussian SVM in n": ("Gaussian SVM 500", "n", (250, 500, 1000, 2000, 4000)),
}
"""Where cost is followed: a row, the size that grows, and its values."""


def find(name: str) -> Row:
    """The row of this name; "NAME n=1000" is the row NAME with another size."""
    base, _, size = name.rpartition(" ")
    if "=" in size:
        letter, _, number = size.partition("=")
        return replace(find(base), name=name, target=None, **{letter: int(number)})
    return next(row for row in ROWS if row.name == name)
