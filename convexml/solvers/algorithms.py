"""The table of the hand-written solvers: name, algorithm, needs, limit, theorem."""

from __future__ import annotations

from ..theory import (
    AcceleratedRate,
    AdmmResiduals,
    AugmentedLagrangianRate,
    ConjugateGradientsRate,
    CornerRegret,
    Descent,
    DualAscent,
    InexactNewtonRate,
    InteriorPointRate,
    LeaderRegret,
    NewtonRate,
    OnlineRegret,
    PegasosRate,
    PerceptronBound,
    ProximalGradientRate,
    SagaRate,
    SearchedDescent,
    SgdRate,
    StochasticSubgradientRate,
    SubgradientRate,
)
from .algorithm import Algorithm
from .coordinate.boosting import boosting
from .coordinate.coordinate_descent import coordinate_descent
from .coordinate.dual_coordinate_descent import dual_coordinate_descent
from .coordinate.working_set import working_set
from .dual.proximal_point import proximal_point
from .dual.smo import smo
from .exact.farthest_points import farthest_points
from .exact.kruskal import kruskal
from .exact.pool_adjacent_violators import pool_adjacent_violators
from .exact.qr import qr
from .exact.scaled_lasso import scaled_lasso
from .exact.sorting import sorting
from .exact.svd import svd
from .first_order.accelerated_gradient import accelerated_gradient
from .first_order.admm import admm
from .first_order.fista import fista
from .first_order.gradient_descent import gradient_descent
from .first_order.proximal_gradient import proximal_gradient
from .first_order.subgradient import subgradient
from .quadratic.method_of_multipliers import method_of_multipliers
from .quadratic.proximal_newton import proximal_newton
from .second_order.augmented_lagrangian import augmented_lagrangian
from .second_order.interior_point import interior_point
from .second_order.irls import irls
from .second_order.newton import newton
from .second_order.newton_cg import newton_cg
from .second_order.normal_equations import normal_equations
from .stochastic.exponentiated_gradient import exponentiated_gradient
from .stochastic.follow_the_regularized_leader import follow_the_regularized_leader
from .stochastic.online_gradient_descent import online_gradient_descent
from .stochastic.pegasos import pegasos
from .stochastic.perceptron import perceptron
from .stochastic.saga import saga
from .stochastic.sgd import sgd
from .stochastic.stochastic_subgradient import stochastic_subgradient

SMOOTH = ("finite loss", "smooth loss", "smooth penalty")
"""What gradients of P need."""
SPLIT = ("finite loss", "smooth loss", "bounded curvature")
"""What gradients of the loss and proxes of the penalty need."""
BOUNDED = ("bounded curvature", "bounded curvature of the penalty")
GENERAL = ("learning problem",)
"""Also where b has shape (K,) and predictions (n, K), for K classes."""
SCALAR = (*GENERAL, "scalar prediction")
PLAYED = (
    *SCALAR,
    "finite loss",
    "model without an intercept",
    "bounded slope of each sample on its ball",
)
"""What the rounds of a regularised leader need."""
BROUGHT = ("model that brings it",)
"""What is written for some models in arrays of their own, which name it among their methods."""

TABLE = (
    Algorithm("newton", newton, (*GENERAL, "smooth loss", "smooth penalty"), 100, NewtonRate()),
    Algorithm(
        "newton_cg",
        newton_cg,
        (*GENERAL, "smooth loss", "smooth penalty"),
        200,
        InexactNewtonRate(),
    ),
    Algorithm("gradient_descent", gradient_descent, (*GENERAL, *SMOOTH), 10_000, SearchedDescent()),
    Algorithm(
        "accelerated_gradient",
        accelerated_gradient,
        (*GENERAL, *SMOOTH, *BOUNDED),
        10_000,
        AcceleratedRate(composite=False),
    ),
    Algorithm(
        "proximal_gradient", proximal_gradient, (*GENERAL, *SPLIT), 10_000, ProximalGradientRate()
    ),
    Algorithm("fista", fista, (*GENERAL, *SPLIT), 10_000, AcceleratedRate(composite=True)),
    Algorithm(
        "subgradient",
        subgradient,
        (*GENERAL, "finite loss", "Lipschitz loss", "subgradient of the penalty"),
        10_000,
        SubgradientRate(),
    ),
    Algorithm(
        "interior_point",
        interior_point,
        (*SCALAR, "box dual", "quadratic penalty, l1 or elastic net"),
        100,
        InteriorPointRate(),
    ),
    Algorithm(
        "augmented_lagrangian",
        augmented_lagrangian,
        (*SCALAR, "bounded box dual", "strongly convex quadratic penalty"),
        200,
        AugmentedLagrangianRate(),
    ),
    Algorithm("sgd", sgd, (*SCALAR, *SMOOTH, *BOUNDED), 500, SgdRate()),
    Algorithm(
        "pegasos",
        pegasos,
        (
            *SCALAR,
            "finite loss",
            "Lipschitz loss",
            "uniform l2 penalty",
            "model without an intercept",
        ),
        500,
        PegasosRate(),
    ),
    Algorithm(
        "stochastic_subgradient",
        stochastic_subgradient,
        (*SCALAR, "finite loss", "penalty without constraints", "bounded slope of every sample"),
        500,
        StochasticSubgradientRate(),
    ),
    Algorithm("saga", saga, (*SCALAR, *SPLIT), 10_000, SagaRate()),
    Algorithm(
        "perceptron", perceptron, (*SCALAR, "separation problem"), 200_000, PerceptronBound()
    ),
    Algorithm(
        "online_gradient_descent",
        online_gradient_descent,
        (*SCALAR, "finite loss", "subgradient of the penalty", "bounded slope of each sample"),
        500,
        OnlineRegret(),
    ),
    Algorithm(
        "follow_the_regularized_leader",
        follow_the_regularized_leader,
        (*PLAYED, "subgradient of the penalty", "no constraint but a Euclidean ball"),
        500,
        LeaderRegret(),
    ),
    Algorithm(
        "exponentiated_gradient",
        exponentiated_gradient,
        (*PLAYED, "l1 ball as its penalty"),
        500,
        CornerRegret(),
    ),
    Algorithm(
        "dual_coordinate_descent",
        dual_coordinate_descent,
        (*SCALAR, "finite loss", "box dual", "strongly convex quadratic penalty"),
        1000,
        DualAscent(),
    ),
    Algorithm(
        "smo",
        smo,
        (*SCALAR, "finite loss", "box dual", "strongly convex quadratic penalty"),
        1000,
        DualAscent(),
    ),
    Algorithm(
        "coordinate_descent",
        coordinate_descent,
        (
            *SCALAR,
            "finite loss",
            "smooth loss",
            "bounded curvature",
            "norm of blocks as its penalty",
        ),
        1000,
        Descent(),
    ),
    Algorithm(
        "working_set",
        working_set,
        (*SCALAR, "finite loss", "smooth loss", "l1, elastic net or group norm as its penalty"),
        100,
        Descent(),
    ),
    Algorithm(
        "normal_equations",
        normal_equations,
        (*SCALAR, "squared loss", "strongly convex quadratic penalty"),
        100,
        ConjugateGradientsRate(),
    ),
    Algorithm("qr", qr, (*SCALAR, "squared loss", "quadratic penalty"), 10),
    Algorithm("svd", svd, (*SCALAR, "squared loss", "quadratic penalty"), 10),
    Algorithm(
        "proximal_point",
        proximal_point,
        (*SCALAR, "squared loss", "sorted l1 norm as its penalty"),
        200,
        Descent(),
    ),
    Algorithm("irls", irls, (*SCALAR, "smooth loss", "quadratic penalty"), 100, NewtonRate()),
    Algorithm(
        "admm", admm, (*SCALAR, "loss without equality constraints"), 20_000, AdmmResiduals()
    ),
    Algorithm(
        "proximal_newton",
        proximal_newton,
        (*GENERAL, "finite loss", "smooth loss"),
        200,
        Descent(),
    ),
    Algorithm(
        "method_of_multipliers",
        method_of_multipliers,
        (*SCALAR, "finite loss", "bounded box dual"),
        200,
    ),
    Algorithm("farthest_points", farthest_points, BROUGHT, 1000),
    Algorithm("kruskal", kruskal, BROUGHT, 1),
    Algorithm("boosting", boosting, BROUGHT, 1),
    Algorithm("pool_adjacent_violators", pool_adjacent_violators, BROUGHT, 1),
    Algorithm("scaled_lasso", scaled_lasso, BROUGHT, 100),
    Algorithm("sorting", sorting, BROUGHT, 1),
)
