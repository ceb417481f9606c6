"""The algorithms as printed: each at most 20 lines of NumPy, with nothing that the page has not.

They take functions and arrays, and yield their iterates. Those that minimise a posed problem are
solvers too, by name: ``problem.solve("textbook.newton")``.
"""

from .coordinates import admm, coordinate_descent, dual_coordinate_ascent
from .descent import (
    accelerated_gradient,
    damped_newton,
    fista,
    gradient_descent,
    newton,
    proximal_gradient,
    subgradient,
)
from .equations import (
    deflation,
    gram_schmidt,
    householder,
    irls,
    normal_equations,
    power_iteration,
    qr_least_squares,
)
from .groups import adaboost, kmeans_plus_plus, linkage, lloyd, nearest_neighbors
from .samples import (
    exponentiated_gradient,
    follow_the_regularized_leader,
    kernel_perceptron,
    online_gradient_descent,
    pegasos,
    perceptron,
    saga,
    sgd,
)

__all__ = [
    "accelerated_gradient",
    "adaboost",
    "admm",
    "coordinate_descent",
    "damped_newton",
    "deflation",
    "dual_coordinate_ascent",
    "exponentiated_gradient",
    "fista",
    "follow_the_regularized_leader",
    "gradient_descent",
    "gram_schmidt",
    "householder",
    "irls",
    "kernel_perceptron",
    "kmeans_plus_plus",
    "linkage",
    "lloyd",
    "nearest_neighbors",
    "newton",
    "normal_equations",
    "online_gradient_descent",
    "pegasos",
    "perceptron",
    "power_iteration",
    "proximal_gradient",
    "qr_least_squares",
    "saga",
    "sgd",
    "subgradient",
]
