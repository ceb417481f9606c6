"""The rows: a problem, its data, who competes, the floor, and what is to be reached.

Only names and numbers, so that the process that starts the others stays small.
"""

from __future__ import annotations

from dataclasses import dataclass

CLARABEL, PIQP, OSQP = "CVXPY + CLARABEL", "CVXPY + PIQP", "CVXPY + OSQP"
DENSE_LASSO = ("celer", "skglm", "scikit-learn")
KERNEL = ("libsvm",)
WITH_CLARABEL = (*KERNEL, CLARABEL)
NO_INTERCEPT = "(no intercept)"
"""Ends the names of peers that solve, and are verified on, the problem without an intercept."""
LINEAR, CELER = f"liblinear {NO_INTERCEPT}", f"celer {NO_INTERCEPT}"
SMOOTH = ("lbfgs", "newton-cholesky", "newton-cg", LINEAR, f"skglm {NO_INTERCEPT}")
CONIC = (CLARABEL, PIQP, OSQP, "low-rank dual + PIQP")
"""Modelled with CVXPY."""
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
    conic : float or None
        The ratio to be reached against CVXPY with CLARABEL, where it ends within the budget.
    density : float
        Of sparse data.
    case : str
        What is awkward about it, see ``awkward``.
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
    conic: float | None = None
    density: float = 1e-3
    case: str = ""


ROWS = (
    Row(
        "lasso diabetes",
        "lasso",
        "diabetes",
        (*DENSE_LASSO, CLARABEL, PIQP),
        0.01,
        target=0.6,
        conic=5.0,
    ),
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
    Row(
        "l1 logistic cancer",
        "l1 logistic",
        "cancer",
        (*L1_LOGISTIC, CLARABEL),
        1.0,
        target=2.0,
        conic=5.0,
    ),
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
    Row(
        "l2 logistic cancer",
        "l2 logistic",
        "cancer",
        (*SMOOTH, CLARABEL),
        1.0,
        target=0.8,
        conic=5.0,
    ),
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
        ("cholesky", "sparse_cg", "lsqr", CLARABEL),
        1.0,
        "gram",
        0.9,
        1000,
        5000,
        50.0,
    ),
    Row(
        "ridge sparse",
        "ridge",
        "sparse",
        ("auto", "sparse_cg", "lsqr", CLARABEL),
        1.0,
        "pair",
        1.0,
        10_000,
        50_000,
        50.0,
    ),
    Row("SVM cancer", "svm", "cancer", (*SVM, CLARABEL), 1.0, target=1.0, conic=5.0),
    Row("SVM digits", "svm", "digits", (*SVM, CLARABEL), 1.0, target=2.5, conic=5.0),
    Row("SVM 20000x50", "svm", "labels", (*SVM, CLARABEL), 1.0, "gram", 7.0, 20_000, 50, 50.0),
    *(
        Row(f"Gaussian SVM {n}", "kernel svm", "moons", peers, 1.0, "kernel", least, n, conic=conic)
        for n, peers, least, conic in (
            (500, WITH_CLARABEL, 0.8, 5.0),
            (1000, WITH_CLARABEL, 1.0, 50.0),
            (2000, WITH_CLARABEL, 1.0, 50.0),
            (5000, KERNEL, 1.0, None),
        )
    ),
)

GROWTH = (
    ("lasso tall", "n", (12_500, 25_000, 50_000, 100_000), ("celer", "scikit-learn with a Gram")),
    ("lasso 1000x5000 .1", "d", (1250, 2500, 5000, 10_000), ("celer", "scikit-learn")),
    ("l2 logistic tall", "n", (12_500, 25_000, 50_000, 100_000), ("lbfgs", "newton-cholesky")),
    ("l2 logistic 2000x2000", "d", (250, 500, 1000, 2000), ("lbfgs", "newton-cholesky")),
    ("ridge tall", "n", (25_000, 50_000, 100_000, 200_000), ("cholesky",)),
    ("ridge wide", "d", (1250, 2500, 5000, 10_000), ("cholesky",)),
    ("SVM 20000x50", "n", (2500, 5000, 10_000, 20_000), (LINEAR, "low-rank dual + PIQP")),
    ("SVM 20000x50", "d", (13, 25, 50, 100), (LINEAR, "low-rank dual + PIQP")),
    ("Gaussian SVM 500", "n", (500, 1000, 2000, 4000), KERNEL),
)
"""Where cost is followed: a row, the size that grows, its values, and the peers that may win."""
