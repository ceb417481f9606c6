"""Theorems: rates of convergence and statistical bounds, as functions and as checks."""

from typing import TYPE_CHECKING, Any

from ..naming import no_such_name
from . import experiments as _experiments  # noqa: F401  registers them
from .claim import Claim
from .constants import (
    gradient_noise,
    lipschitz,
    loss_smoothness,
    loss_strong_convexity,
    penalty_slope,
    penalty_strong_convexity,
    radius,
    sample_loss_smoothness,
    sample_smoothness,
    smoothness,
    strong_convexity,
)
from .monotone import Descent, DualAscent
from .rates.accelerated import AcceleratedRate, accelerated_value
from .rates.admm import AdmmResiduals
from .rates.augmented_lagrangian import AugmentedLagrangianRate
from .rates.conjugate_gradients import ConjugateGradientsRate, conjugate_gradients_value
from .rates.gradient_descent import (
    GradientDescentRate,
    SearchedDescent,
    descent_decrease,
    gradient_descent_distance,
    gradient_descent_steps,
    gradient_descent_value,
)
from .rates.inexact_newton import InexactNewtonRate, inexact_distance
from .rates.interior_point import InteriorPointRate, LinearInteriorPointRate
from .rates.newton import NewtonRate, hessian_lipschitz, least_curvature, newton_distance
from .rates.proximal_gradient import ProximalGradientRate, proximal_gradient_rate
from .rates.subgradient import (
    DecreasingSubgradientRate,
    SubgradientRate,
    decreasing_subgradient_value,
    subgradient_value,
)
from .simulation import Simulation, simulate
from .statistics.classification import (
    bernstein,
    boosting_error,
    kmeans_plus_plus_factor,
    lloyd_decrease,
    nearest_neighbor_risk,
    vc_intervals,
)
from .statistics.dimension import vc_error, vc_growth, vc_halfspaces
from .statistics.estimators import (
    least_squares_variance,
    regularized_excess,
    ridge_bias,
    ridge_variance,
)
from .statistics.information import divergence, entropy
from .statistics.learning import finite_class, hoeffding, stability, validation_error
from .statistics.prediction import (
    bayes_predictor,
    bayes_risk,
    excess_error,
    no_free_lunch,
    source_risk,
)
from .statistics.priors import prior_scale, prior_strength
from .statistics.ridge_risk import (
    least_squares_excess_risk,
    ridge_best_lam,
    ridge_risk,
    ridge_risk_bound,
)
from .stochastic.leader import CornerRegret, LeaderRegret, corner_slope, leader_regret
from .stochastic.online import OnlineRegret, online_regret, round_slope
from .stochastic.pegasos import PegasosRate, pegasos_slope, pegasos_value
from .stochastic.perceptron import PerceptronBound, perceptron_updates
from .stochastic.saga import SagaRate, saga_distance, saga_factor
from .stochastic.sgd import SgdRate, sgd_distance
from .stochastic.subgradient import StochasticSubgradientRate
from .theorem import Theorem
from .trajectory import Reference, Trajectory

__all__ = [
    "AcceleratedRate",
    "AdmmResiduals",
    "AugmentedLagrangianRate",
    "Claim",
    "ConjugateGradientsRate",
    "CornerRegret",
    "DecreasingSubgradientRate",
    "Descent",
    "DualAscent",
    "GradientDescentRate",
    "InexactNewtonRate",
    "InteriorPointRate",
    "LeaderRegret",
    "LinearInteriorPointRate",
    "NewtonRate",
    "OnlineRegret",
    "PegasosRate",
    "PerceptronBound",
    "ProximalGradientRate",
    "Reference",
    "SagaRate",
    "SearchedDescent",
    "SgdRate",
    "Simulation",
    "StochasticSubgradientRate",
    "SubgradientRate",
    "Theorem",
    "Trajectory",
    "accelerated_value",
    "bayes_predictor",
    "bayes_risk",
    "bernstein",
    "boosting_error",
    "conjugate_gradients_value",
    "corner_slope",
    "decreasing_subgradient_value",
    "descent_decrease",
    "divergence",
    "entropy",
    "excess_error",
    "finite_class",
    "gradient_descent_distance",
    "gradient_descent_steps",
    "gradient_descent_value",
    "gradient_noise",
    "hessian_lipschitz",
    "hoeffding",
    "inexact_distance",
    "kmeans_plus_plus_factor",
    "leader_regret",
    "least_curvature",
    "least_squares_excess_risk",
    "least_squares_variance",
    "lipschitz",
    "lloyd_decrease",
    "loss_smoothness",
    "loss_strong_convexity",
    "nearest_neighbor_risk",
    "newton_distance",
    "no_free_lunch",
    "online_regret",
    "pegasos_slope",
    "pegasos_value",
    "penalty_slope",
    "penalty_strong_convexity",
    "perceptron_updates",
    "prior_scale",
    "prior_strength",
    "proximal_gradient_rate",
    "radius",
    "regularized_excess",
    "ridge_best_lam",
    "ridge_bias",
    "ridge_risk",
    "ridge_risk_bound",
    "ridge_variance",
    "round_slope",
    "saga_distance",
    "saga_factor",
    "sample_loss_smoothness",
    "sample_smoothness",
    "sgd_distance",
    "simulate",
    "smoothness",
    "source_risk",
    "stability",
    "strong_convexity",
    "subgradient_value",
    "validation_error",
    "vc_error",
    "vc_growth",
    "vc_halfspaces",
    "vc_intervals",
]

if not TYPE_CHECKING:  # else every name would do

    def __getattr__(name: str) -> Any:
        raise no_such_name(__name__, name, __all__)
