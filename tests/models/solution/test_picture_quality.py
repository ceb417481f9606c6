"""The panel of quality shows what is certified: no look below it, no condition that it omits."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from support.report.looks import faults

import convexml as cml
from convexml.certificates.judge import absent
from convexml.models.pictures.quality import draw_course, draw_quality
from convexml.pictures.look import plain
from convexml.typesetting.names import GREEK, RULES
from convexml.typesetting.scripts import ABOVE, BELOW

pytest.importorskip("matplotlib")
rng = np.random.default_rng(4)
X = rng.normal(size=(30, 5))
y = X @ [2.0, -1.0, 0.0, 0.0, 0.5] + rng.normal(size=30)
LABELS = np.where(y > np.median(y), 1.0, -1.0)


def test_no_look_counts_as_less_than_what_is_certified() -> None:
    from matplotlib.figure import Figure

    solution = cml.SoftMarginSVM(X, LABELS, C=1.0).solve()
    certified = solution.certificate.relative_gap
    looks = (0.5, 1e-3 * certified)
    trace = tuple(replace(solution.trace[-1], relative_gap=look) for look in looks)
    shown = SimpleNamespace(
        trace=trace, iterations=1, status="optimal", certificate=solution.certificate
    )
    axes = Figure(figsize=(6.0, 4.0)).add_subplot()
    draw_course(axes, shown, "passes")
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [0.5, certified])
    assert certified >= solution.certificate.relative_rounding > 0.0
    told = axes.get_title("left")
    assert told == f"1 iteration; certified in the end: {certified:.1e}"


def test_the_conditions_that_are_left_out_are_the_smallest() -> None:
    solution = cml.Lasso(X, y, lam=0.1).solve("clarabel")
    (row,) = solution.certificate.conditions[:1]
    rows = [replace(row, name="little", residual=8e-18, scale=1.0)]
    rows += [replace(row, name=f"none {k}", residual=0.0, scale=1.0) for k in range(10)]
    certificate = solution.certificate.but(conditions=tuple(rows))
    axes = replace(solution, certificate=certificate).plot(kind="quality").axes[-1]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert "little" in names
    assert "none 8" not in names
    assert "12 of 12 within tol (dashed), 2 smaller ones" in axes.get_title("left")
    fewer = certificate.but(conditions=tuple(rows[:-1]))
    axes = replace(solution, certificate=fewer).plot(kind="quality").axes[-1]
    assert axes.get_title("left").replace("\n", " ").endswith("1 smaller one")


@pytest.mark.parametrize("size", [(6.2, 4.2), (4.0, 3.0)])
def test_names_of_many_lines_do_not_touch(size: tuple[float, float]) -> None:
    from matplotlib.figure import Figure

    solution = cml.Lasso(X, y, lam=0.1).solve("clarabel")
    (row,) = solution.certificate.conditions[:1]
    told = "c + A_ub' lambda_ub + A_eq' nu - lambda_lower + lambda_upper of every single row = 0"
    names = [f"{told} {k}" if k % 3 else f"short {k}" for k in range(9)]
    rows = tuple(replace(row, name=name, residual=1e-9, scale=1.0) for name in names)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    certificate = solution.certificate.but(conditions=rows)
    draw_quality(axes, SimpleNamespace(trace=(), certificate=certificate))
    assert faults(figure) == []
    boxes = [label.get_window_extent() for label in axes.get_yticklabels()]
    assert all(low.y1 <= high.y0 for high, low in pairwise(boxes))
    assert all(axes.bbox.y0 - 2 <= box.y0 and box.y1 <= axes.bbox.y1 + 2 for box in boxes)


def test_an_infeasible_program_names_only_what_it_has() -> None:
    lp = cml.LinearProgram([1.0, 1.0], A_ub=[[1, 1], [-1, -1]], b_ub=[1, -2])
    solution = lp.solve()
    told = solution.explain()
    assert "λ_lower" in told
    assert not [name for name in ("λ_upper", "b_eq", "ν", "radius") if name in told]
    assert "b_ubᵀ λ_ub − lowerᵀ λ_lower < 0" in told
    title = solution.plot(kind="quality").axes[-1].get_title("left")
    assert title == "4 of 4 within tol (dashed)"
    free = cml.LinearProgram([1.0], A_eq=[[1.0], [1.0]], b_eq=[1.0, 2.0], bounds=(None, None))
    assert "b_eqᵀ ν < 0" in free.solve().explain()
    assert "b_ub" not in free.solve().explain()
    capped = cml.LinearProgram([1.0], A_ub=[[-1.0]], b_ub=[-2.0], bounds=(0.0, 1.0))
    told = capped.solve().explain(columns=120)
    assert "b_ubᵀ λ_ub − lowerᵀ λ_lower + upperᵀ λ_upper < 0" in told


def test_an_answer_without_conditions_has_a_panel() -> None:
    from matplotlib.figure import Figure

    certificate = absent("infeasible", (), 1e-6, reason="nothing is known")
    axes = Figure(figsize=(6.0, 4.0)).add_subplot()
    draw_quality(axes, SimpleNamespace(trace=(), certificate=certificate))
    assert axes.get_title("left") == "0 of 0 within tol (dashed)"


def test_multipliers_of_no_bound_are_not_told() -> None:
    told = cml.LinearProgram([1.0], A_ub=[[-1.0]], b_ub=[-2.0]).solve().explain()
    assert "λ_upper" not in told
    assert "  λ_lower  " in told


def test_the_font_of_pictures_has_every_letter_of_a_name() -> None:
    from matplotlib.font_manager import findfont
    from matplotlib.ft2font import FT2Font

    letters = set().union(*GREEK.values(), *BELOW.values(), *ABOVE.values())
    letters |= set().union(*(new for _, new in RULES if isinstance(new, str)))
    assert len(letters) > 60
    known = FT2Font(findfont("DejaVu Sans")).get_charmap()
    assert not [each for each in letters if any(ord(sign) not in known for sign in plain(each))]
