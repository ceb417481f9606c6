"""Certify anything: CVXPY problems and fitted scikit-learn models, whoever solved them."""

from lazy_loader import attach_stub

from .slater import Slater, slater  # noqa: F401  (its module has the name of the function)

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
