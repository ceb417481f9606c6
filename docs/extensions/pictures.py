"""Pictures that pages of the reference show, drawn when the site is built, beside the models'."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from model_pages import FOLDER
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_diabetes, load_iris, make_moons

import convexml as cml

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def diabetes(*columns: str) -> tuple[Any, Any]:
    """Columns of one spread, all of them where none is named, and the target."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X = X[list(columns)] if columns else X
    return X / X.std(), y


def path_of_lasso(file: Any) -> None:
    """Ten features on two decades of lam."""
    lasso = cml.Lasso(*diabetes(), lam=1.0)
    lasso.path(lasso.lam_max * np.geomspace(1.1, 0.01, 30)).plot(file)


def touching_balls(file: Any) -> None:
    """Two features, and what more radius gives."""
    ball = cml.ConstrainedLasso(*diabetes("bmi", "s5"), radius=20.0)
    ball.path([5.0, 10.0, 20.0, 30.0, 40.0, 50.0]).plot(file, kind="plane")


def parts_of_a_gap(file: Any) -> None:
    """A run that was ended early."""
    rough = cml.Lasso(*diabetes(), lam=1.0).solve("fista", max_iter=10, polish=False)
    rough.plot(file, kind="gap")


def run_of_fista(file: Any) -> None:
    """Down to the floor of rounding."""
    cml.Lasso(*diabetes(), lam=1.0).solve("fista", tol=1e-9).plot(file, kind="convergence")


def three_steps(file: Any) -> None:
    """Gradient descent with a step that is too short, 1/L, and too long."""
    X, y = diabetes("bmi", "s5")
    X, y = X - X.mean(), y - y.mean()
    ridge = cml.Ridge(X, y, 0.01, fit_intercept=False)
    L = float(np.linalg.eigvalsh(X.T @ X / len(y))[-1]) + 0.01
    first, *rest = (
        ridge.solve("textbook.gradient_descent", step=share / L, max_iter=12)
        for share in (0.2, 1.0, 1.95)
    )
    first.plot(file, kind="trajectory", beside=rest)


def wave(file: Any) -> None:
    """Kernels of three widths on one feature."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-2.0, 2.0, size=(60, 1))
    y = np.sin(3.0 * x[:, 0]) + 0.2 * rng.normal(size=60)
    first, *rest = (
        cml.KernelRidge(x, y, 1e-3, cml.kernels.Gaussian(sigma)).solve()
        for sigma in (0.05, 0.5, 3.0)
    )
    first.plot(file, kind="fit", beside=rest)


def petals(file: Any) -> None:
    """Nearest neighbours of two features."""
    X, y = load_iris(return_X_y=True)
    neighbours = cml.NearestNeighbors(X[:, 2:], X[:1, 2:], 5).solve()
    neighbours.plot(file, kind="regions", labels=load_iris().target_names[y])


def tree(file: Any) -> None:
    """Single linkage of a few flowers."""
    points = load_iris().data[::7]
    cml.SpanningTree(squareform(pdist(points))).solve().plot(file, kind="answer")


def losses(file: Any) -> None:
    """Losses of labels on one axis."""
    own = cml.losses
    own.Hinge().plot(file, beside=[own.Logistic(), own.SquaredHinge(), own.Exponential()])


def moons(file: Any) -> None:
    """A kernel machine over its plane."""
    X, y = make_moons(150, noise=0.2, random_state=0)
    cml.KernelSVM(X, y, 1.0, cml.kernels.Gaussian(0.5)).solve().plot(file)


def polytope(file: Any) -> None:
    """Two variables and three rows."""
    rows, right = [[1, 1], [1, 3], [2, 1]], [5, 6, 7]
    cml.LinearProgram([-3.0, -2.0], A_ub=rows, b_ub=right).solve().plot(file)


def dual_polytope(file: Any) -> None:
    """Two rows, whose multipliers span the plane."""
    rows, right = [[2, 1], [1, 3]], [7, 6]
    cml.LinearProgram([-3.0, -2.0], A_ub=rows, b_ub=right).solve().plot(file, kind="dual")


PICTURES: dict[str, Callable[[Any], Any]] = {
    "path_of_lasso": path_of_lasso,
    "touching_balls": touching_balls,
    "parts_of_a_gap": parts_of_a_gap,
    "run_of_fista": run_of_fista,
    "three_steps": three_steps,
    "wave": wave,
    "petals": petals,
    "tree": tree,
    "losses": losses,
    "moons": moons,
    "polytope": polytope,
    "dual_polytope": dual_polytope,
    "loss_hinge": cml.losses.Hinge().plot,
    "loss_logistic": cml.losses.Logistic().plot,
    "loss_huber": cml.losses.Huber(1.0).plot,
    "loss_pinball": cml.losses.Pinball(0.25).plot,
    "penalty_l1": cml.penalties.L1(1.0).plot,
    "penalty_elastic_net": cml.penalties.ElasticNet(1.0, 0.5).plot,
    "penalty_l2_ball": cml.penalties.L2Ball(1.0).plot,
}


def draw(app: Sphinx | None = None) -> None:
    """Write all of them beside the pages of the models."""
    FOLDER.mkdir(exist_ok=True)
    for name, picture in PICTURES.items():
        picture(FOLDER / f"{name}.svg")


def setup(app: Sphinx) -> dict[str, bool]:
    """Pictures are there before Sphinx reads the pages."""
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
