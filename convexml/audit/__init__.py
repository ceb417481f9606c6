"""Certify anything: CVXPY problems and fitted scikit-learn models, whoever solved them."""

from .assertions import assert_optimal
from .certifying import certify
from .cvxpy.solving import solve
from .registering import register
from .slater import Slater, slater

__all__ = ["Slater", "assert_optimal", "certify", "register", "slater", "solve"]
