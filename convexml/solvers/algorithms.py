"""The table of the hand-written solvers: name, algorithm, needs, limit, theorem."""

from __future__ import annotations

from ..theory import (
    AcceleratedRate,
    AdmmResiduals,
    Descent,
    DualAscent,
    InteriorPointRate,
    NewtonRate,
    OnlineRegret,
    PegasosRate,
    PerceptronBound,
    ProximalGradientRate,
    SagaRate,
    SearchedDescent,
    SgdRate,
    SubgradientRate,
)
from .coordinate.coordinate_descent import coordinate_descent
from .coordinate.dual_coordinate_descent import dual_coordinate_descent
from .first_order.accelerated_gradient import accelerated_gradient
from .first_order.admm import admm
from .first_order.fista import fista
from .first_order.gradient_descent import gradient_descent
from .first_order.proximal_gradient import proximal_gradient
from .first_order.subgradient import subgradient
from .registry import register
from .second_order.interior_point import interior_point
from .second_order.irls import irls
from .second_order.newton import newton
from .stochastic.online_gradient_descent import online_gradient_descent
from .stochastic.pegasos import pegasos
from .stochastic.perceptron import perceptron
from .stochastic.saga import saga
from .stochastic.sgd import sgd

SMOOTH = ("finite loss", "smooth loss", "smooth penalty")
"""What gradients of P need."""
SPLIT = ("finite loss", "smooth loss", "bounded curvature")
"""What gradients of the loss and proxes of the penalty need."""
BOUNDED = ("bounded curvature", "bounded curvature of the penalty")

register(
    "newton",
    newton,
    ("smooth loss", "smooth penalty"),
    max_iter=100,
    theorem=NewtonRate(),
    multiclass=True,
)
register(
    "gradient_descent",
    gradient_descent,
    SMOOTH,
    max_iter=10_000,
    theorem=SearchedDescent(),
    multiclass=True,
)
register(
    "accelerated_gradient",
    accelerated_gradient,
    (*SMOOTH, *BOUNDED),
    max_iter=10_000,
    theorem=AcceleratedRate(composite=False),
    multiclass=True,
)
register(
    "proximal_gradient",
    proximal_gradient,
    SPLIT,
    max_iter=10_000,
    theorem=ProximalGradientRate(),
    multiclass=True,
)
register(
    "fista",
    fista,
    SPLIT,
    max_iter=10_000,
    theorem=AcceleratedRate(composite=True),
    multiclass=True,
)
register(
    "subgradient",
    subgradient,
    ("finite loss", "Lipschitz loss", "subgradient of the penalty"),
    max_iter=10_000,
    theorem=SubgradientRate(),
    multiclass=True,
)
register(
    "interior_point",
    interior_point,
    ("box dual", "quadratic penalty"),
    max_iter=100,
    theorem=InteriorPointRate(),
)
register("sgd", sgd, (*SMOOTH, *BOUNDED), max_iter=500, theorem=SgdRate())
register(
    "pegasos",
    pegasos,
    ("finite loss", "Lipschitz loss", "uniform l2 penalty", "model without an intercept"),
    max_iter=500,
    theorem=PegasosRate(),
)
register("saga", saga, SPLIT, max_iter=10_000, theorem=SagaRate())
register(
    "perceptron",
    perceptron,
    ("separation problem",),
    max_iter=200_000,
    theorem=PerceptronBound(),
)
register(
    "online_gradient_descent",
    online_gradient_descent,
    ("finite loss", "subgradient of the penalty", "bounded slope of each sample"),
    max_iter=500,
    theorem=OnlineRegret(),
)
register(
    "dual_coordinate_descent",
    dual_coordinate_descent,
    ("finite loss", "box dual", "strongly convex quadratic penalty"),
    max_iter=1000,
    theorem=DualAscent(),
)
register(
    "coordinate_descent",
    coordinate_descent,
    ("finite loss", "smooth loss", "bounded curvature", "norm of blocks as its penalty"),
    max_iter=1000,
    theorem=Descent(),
)
register("irls", irls, ("smooth loss", "quadratic penalty"), max_iter=100, theorem=NewtonRate())
register(
    "admm",
    admm,
    ("loss without equality constraints",),
    max_iter=20_000,
    theorem=AdmmResiduals(),
)
