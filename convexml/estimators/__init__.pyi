"""What the room gives: names are loaded from here when first used, and types are read here."""

from .classifiers import LinearDiscriminantAnalysis as LinearDiscriminantAnalysis
from .classifiers import LinearSVC as LinearSVC
from .classifiers import LinearSVR as LinearSVR
from .classifiers import RidgeClassifier as RidgeClassifier
from .cross_validation import ElasticNetCV as ElasticNetCV
from .cross_validation import LassoCV as LassoCV
from .cross_validation import LogisticRegressionCV as LogisticRegressionCV
from .cross_validation import RidgeCV as RidgeCV
from .graphical_lasso import GraphicalLasso as GraphicalLasso
from .kernel import SVC as SVC
from .kernel import SVR as SVR
from .kernel import KernelRidge as KernelRidge
from .kernel import OneClassSVM as OneClassSVM
from .linear import ElasticNet as ElasticNet
from .linear import HuberRegressor as HuberRegressor
from .linear import Lasso as Lasso
from .linear import LinearRegression as LinearRegression
from .linear import LogisticRegression as LogisticRegression
from .linear import MultiTaskLasso as MultiTaskLasso
from .linear import PoissonRegressor as PoissonRegressor
from .linear import QuantileRegressor as QuantileRegressor
from .linear import Ridge as Ridge
