"""Certify anything: CVXPY problems and fitted scikit-learn models, whoever solved them."""

from .assertions import assert_optimal
from .certifying import certify
from .cvxpy.solving import solve
from .registering import register

__all__ = ["assert_optimal", "certify", "register", "solve"]
