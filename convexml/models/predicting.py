"""What a solution predicts, and its coefficients as scikit-learn's estimators hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError, NoSuchNameError
from ..naming import PublicNames
from ..numerics import Array
from .formats.frame import frame_of_point

WITH_MARGIN = ("hinge", "squared_hinge", "hard_margin")
"""Losses that ask for y_i z_i >= 1, so that 1 / |w| is a distance."""


class Predictions(PublicNames):
    """The part of a ``Solution`` that is asked about samples."""

    elsewhere: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("value", "fun", "optval", "cost"), "Its value is solution.objective"),
        **dict.fromkeys(("success", "converged"), 'Ask solution.status == "optimal"'),
        **dict.fromkeys(("n_iter_", "nit", "niter"), "It is solution.iterations"),
        **dict.fromkeys(("coef", "coefs", "coefficients", "weights"), "It is solution.coef_"),
        **dict.fromkeys(("bias", "intercept"), "It is solution.intercept_"),
        "certificate_": "It is solution.certificate",
        "classes_": "It is solution.problem.classes",
        "feature_names_in_": "It is solution.problem.features",
        "fit": "It is solved; solution.problem.solve(...) solves again",
        "certify": "It is certified: solution.certificate. Another point is judged by "
        "solution.problem.certify(w, b)",
    }
    status: str
    certificate: Any
    problem: Any
    primal: dict[str, Array]
    dual: dict[str, Array]

    @property
    def margin(self) -> float:
        """1 / |w|, of the support vector machines and other problems with a margin."""
        loss = getattr(getattr(self.problem, "sample_parts", None), "loss", None)
        if getattr(loss, "name", "") not in WITH_MARGIN:
            raise NoSuchNameError(f"{self.problem.name} has no margin; support vector machines do.")
        point = self._point("margin")
        norm = self.problem.norm(point) if "q" in point else float(np.linalg.norm(point["w"]))
        return 1.0 / norm if norm > 0.0 else np.inf

    def _point(self, asked: str, method: str = "decision_function") -> dict[str, Array]:
        """``primal``, refused where there is none or the problem has no such method."""
        if not hasattr(self.problem, method):
            what = "no samples to predict"
            if hasattr(self.problem, "predict"):
                what = "none; it has predict"
            if hasattr(self.problem, "decision_function"):
                what = "none; it has decision_function and predict"
            raise InputError(f"{asked}: {self.problem.name} has {what}. See .primal.")
        if not {"b", "rho", "Theta", "theta", "p", "w"} & self.primal.keys():
            raise InputError(
                f"{asked}: {self.problem.name} is {self.status}; there is no point. See .evidence "
                "and .certificate.reason."
            )
        return self.primal

    def decision_function(self, X: Any) -> Array:
        """X w + b, shape (n,); (n, K) for K classes or targets.

        Parameters
        ----------
        X : array, sparse matrix or data frame, shape (n, d)
            New samples; the columns of a data frame are matched by name.

        Returns
        -------
        array
        """
        point = self._point("decision_function")
        return self.problem.decision_function(X, point)

    def predict(self, X: Any) -> Array:
        """Predictions: numbers for regression, the caller's labels for classification.

        Parameters
        ----------
        X : array, sparse matrix or data frame, shape (n, d)
            Of nearest neighbours, whose queries are posed, y (n,) of the samples: labels, or
            floating-point numbers.

        Returns
        -------
        array
        """
        point = self._point("predict", "predict")
        return self.problem.predict(X, point)

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, of the models that have a likelihood of labels.

        Parameters
        ----------
        X : array, sparse matrix or data frame, shape (n, d)

        Returns
        -------
        array, shape (n, K)
            A column for each of ``problem.classes``, in their order: two for two classes.

        Raises
        ------
        InputError
            For models that predict no probabilities.
        """
        point = self._point("predict_proba", "predict_proba")
        return self.problem.predict_proba(X, point)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """How good the predictions are, as ``score`` of scikit-learn has it; higher is better.

        Parameters
        ----------
        X : array, sparse matrix or data frame, shape (n, d)
        y : array, shape (n,) or (n, K)
            The true targets, or labels.
        sample_weight : array, shape (n,), optional
            Weights >= 0.

        Returns
        -------
        float
            For labels the share that is predicted right (accuracy); for real targets R^2, the mean
            of it over several; for counts D^2, the share of the deviance that is explained.
        """
        point = self._point("score", "score")
        return self.problem.score(X, y, point, sample_weight)

    @property
    def coef_(self) -> Array:
        """w as scikit-learn holds it: (d,) for one target, (1, d) for two classes, else (K, d)."""
        w = self._linear("coef_")["w"]
        return w.T if w.ndim == 2 else w[None] if self._of_classes else w

    @property
    def intercept_(self) -> Any:
        """b as scikit-learn holds it: a float for one target, (1,) for two classes, else (K,)."""
        found = self._linear("intercept_")
        b = found["b"] if "b" in found else -found["rho"]
        return np.atleast_1d(b) if self._of_classes or np.ndim(b) else float(b)

    @property
    def components(self) -> Array:
        """The leading directions of P in rows, (k, d), of principal components."""
        return self._of_matrix("components", self.primal)

    @property
    def eigengap(self) -> float:
        """lambda_k - lambda_(k+1) by the multipliers, of principal components."""
        return self._of_matrix("eigengap", self.dual)

    def _of_matrix(self, asked: str, arrays: dict[str, Array]) -> Any:
        ask = getattr(self.problem, f"{asked}_of", None)
        if ask is None:
            raise NoSuchNameError(
                f"{self.problem.name} has no {asked}; PrincipalComponents has them."
            )
        if not arrays:
            raise InputError(f"{asked}: {self.problem.name} is {self.status}; there is no point.")
        return ask(arrays)

    @property
    def _of_classes(self) -> bool:
        """Whether two classes are told apart, or one class from the rest."""
        return getattr(self.problem, "classes", None) is not None or "rho" in self.primal

    def _linear(self, asked: str) -> dict[str, Array]:
        if "w" in self.primal and ("b" in self.primal or "rho" in self.primal):
            return self.primal
        if not self.primal:
            raise NoSuchNameError(
                f"{asked}: {self.problem.name} is {self.status}; there is no point."
            )
        raise NoSuchNameError(
            f"{asked}: {self.problem.name} has no coefficient for each feature; what it has is in "
            f".primal: {', '.join(map(repr, self.primal))}."
        )

    def to_frame(self) -> Any:
        """The coefficients as a pandas.DataFrame, a row for each column of X, by its name.

        Returns
        -------
        pandas.DataFrame
            The column "w", or one for each class. Kernel models have a row for each sample ("q"),
            linear programs one for each variable ("x"). The intercept is ``intercept_``.

        Raises
        ------
        ConvexmlError
            If pandas is not installed.
        InputError
            If there is no point.
        """
        return frame_of_point(self.problem, self.status, self.primal)

    def _advice(self, name: str) -> str:
        for kind in ("primal", "dual"):
            if name in getattr(self, kind):
                return f" It is solution.{kind}[{name!r}]."
        if name in dir(self.certificate):
            return f" Its certificate has it: solution.certificate.{name}."
        return super()._advice(name)
