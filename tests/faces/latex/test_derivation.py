"""The derivation: which lines it has, that a false one is seen, and Slater's points."""

from __future__ import annotations

import re

import numpy as np
import pytest
from support.latex.every_model import MORE, page_of
from support.latex.formula_cases import MODELS
from support.latex.page import derivation_faults

import convexml as cml
from convexml.models.explanation import DERIVATION_GIVEN as GIVEN
from convexml.models.explanation import SPLIT, is_curved
from convexml.typesetting.documents import rows

EVERY = MODELS | MORE


def test_ridge_on_the_board() -> None:
    """As a lecture writes it, by hand."""
    walk = rows(cml.Ridge(np.eye(2), [1.0, 2.0], 0.1).derivation())
    assert [line for label, line in walk if label == "minimise"] == [
        r"\text{over } z\text{:}\quad u_i = \tfrac1n \left[z_i - y_i\right]",
        r"\text{least over } z\text{:}\quad \tfrac1n \sum_i \tfrac12 (z_i - y_i)^2 - u^\top z "
        r"= -\tfrac1n \sum_i \left[\tfrac12 v_i^2 + y_i v_i\right]",
        r"\text{with}\text{:}\quad v_i = n u_i",
        r"\text{over } w\text{:}\quad \lambda w = -X^\top u",
        r"\text{least over } w\text{:}\quad \tfrac{\lambda}{2}\|w\|_2^2 + w^\top X^\top u "
        r"= -\tfrac{1}{2\lambda}\|X^\top u\|_2^2",
        r"\text{over } b\text{:}\quad \mathbf{1}^\top u = 0",
    ]


def test_how_a_point_is_recovered() -> None:
    ridge, machine, lasso = (
        dict(rows(EVERY[name]().derivation()))["recovery"]
        for name in ("Ridge", "SoftMarginSVM", "Lasso")
    )
    assert ridge == r"\lambda w = -X^\top u,\ b = z_i - w^\top x_i"
    assert machine.startswith(r"w = \sum_i \alpha_i y_i x_i,\ b\text{: from samples")
    assert lasso.startswith(r"w\text{: a solution of these conditions")
    assert lasso.endswith(r",\ b = z_i - w^\top x_i")


def test_a_condition_belongs_to_its_variable() -> None:
    """A machine with nu, a sparse precision: by hand."""
    machine, precision = (
        [*rows(EVERY[name]().derivation())] for name in ("OneClassSVM", "GaussianLikelihood")
    )
    over = r"\text{{over }} {}\text{{:}}\quad {}".format
    assert [line for label, line in machine if label == "minimise"] == [
        over("w", r"w = \sum_i \alpha_i x_i"),
        over(r"\xi", r"\alpha_i + \beta_i = s_i"),
        over(r"\rho", r"\sum_i \alpha_i = \nu \sum_i s_i"),
    ]
    assert dict(machine)["recovery"].startswith(r"w = \sum_i \alpha_i x_i,\ \text{then } \rho, \xi")
    assert ("dual feasibility", "W_{jj} = S_{jj}") in precision
    assert dict(rows(EVERY["MinimumNorm"](fit_intercept=True).derivation()))["recovery"].endswith(
        r"b = y_i - w^\top x_i"
    )


def test_kinds_of_the_conditions_of_a_machine() -> None:
    walk = rows(EVERY["SoftMarginSVM"]().derivation())
    counts = {label: sum(name == label for name, _ in walk) for label, _ in walk}
    assert counts["stationarity"] == 3
    assert counts["primal feasibility"] == counts["dual feasibility"] == 2
    assert counts["complementary slackness"] == 2


@pytest.mark.parametrize("name", ["Ridge", "SoftMarginSVM", "LogisticRegression"])
def test_no_corrupted_derivation_passes(name: str) -> None:
    """Another sign, no factor, in what minimises and what is left."""
    page, solution = page_of(EVERY[name]())
    text = solution.problem.derivation()
    assert derivation_faults(page, text) == []
    first = text.index(r"\text{minimise}")
    last = text.index(r"\text{dual}")
    for pattern, new in ((r" - ", " + "), (r" \+ ", " - "), (r"\\tfrac12 |\\tfrac1n ", "")):
        for place in re.finditer(pattern, text[first:last]):
            start, end = first + place.start(), first + place.end()
            corrupted = text[:start] + new + text[end:]
            assert derivation_faults(page, corrupted) != [], corrupted[start - 80 : end + 40]


def curved(name: str) -> list[str]:
    primal = dict(rows(EVERY[name]().latex()))["primal"]
    return [each for each in SPLIT.split(primal.partition(GIVEN)[2]) if is_curved(each)]


def test_where_a_point_of_slater_is_needed() -> None:
    needed = {name for name in EVERY if curved(name)}
    assert needed == {"ConstrainedRidge", "KMeansBound", "PrincipalComponents"}
    assert all(EVERY[name]().slater for name in needed)


@pytest.mark.parametrize("name", ["ConstrainedRidge", "KMeansBound", "PrincipalComponents"])
def test_points_of_slater_are_strictly_feasible(name: str) -> None:
    page, solution = page_of(EVERY[name]())
    variable, _, value = re.split(r"\\ \\text", solution.problem.slater)[0].partition(" = ")
    size = 5 if name == "KMeansBound" else len(page.names.get("I", []))
    names = page.known | {"n": 5.0, "d": float(size), "I": np.eye(size)}
    value = value.replace(r"\mathbf{1} \mathbf{1}^\top", "J")
    at = page.reader(value, names | {"J": np.ones((size, size))}).value()
    at = np.zeros(4) if variable == "w" else at
    for statement in SPLIT.split(page.lines["primal"][0].partition(GIVEN)[2]):
        strict = r"\ge 0" in statement or is_curved(statement)
        tol = -1e-3 if strict else 1e-12
        assert page.reader(statement, page.known | names | {variable: at}).holds(tol) or (
            "Xw" in statement  # an equation that defines z
        )
