"""Pictures of a race show gaps where they are, with room for every solver."""

from __future__ import annotations

from math import inf, log10, nan

import pytest

from convexml.comparison import Course, Point
from convexml.report.panels import HUES, SMALLEST, lay_out, ranked


def made(gaps: dict[str, list[float]], reference: bool = False) -> tuple[Course, ...]:
    """Courses with a point each second, two passes apart."""
    return tuple(
        Course(
            name,
            reference,
            tuple(
                Point(name, k, nan if reference else 2.0 * k, 1.0 + k, 1.0, gap, gap)
                for k, gap in enumerate(numbers)
            ),
        )
        for name, numbers in gaps.items()
    )


def test_the_picture_shows_gaps_where_they_are() -> None:
    (course,) = made({"s": [1.0, 1e-2, 1e-4, inf, 0.0]})
    picture = lay_out([course])
    passes, seconds = picture.panels
    levels = {text: y for y, text in picture.levels}
    ticks = {text: x for x, text in seconds.ticks}
    places = [tuple(map(float, pair.split())) for pair in seconds.lines[0].path[1:].split("L")]
    assert places[0] == pytest.approx((ticks["1"], levels["10⁰"]), abs=0.51)
    assert places[1][1] == pytest.approx(levels["10⁻²"], abs=0.51)
    across = ticks["1"] + (ticks["10"] - ticks["1"]) * log10(5.0)
    assert places[3] == pytest.approx((across, levels["10⁻¹⁶"]), abs=0.51)  # gap 0, at 5 s
    assert len(places) == 4  # the infinite bound is left out,
    assert passes.lines[0].path.count("L") == 2  # and so is pass 0, on a logarithmic axis
    assert SMALLEST == 1e-16


def test_the_picture_shows_as_many_solvers_as_it_has_hues_the_closest_ones() -> None:
    picture = lay_out(made({f"solver {k}": [1.0, 10.0**-k] for k in range(18)}), floor=1e-20)
    assert [key.solver for key in picture.keys] == [f"solver {k}" for k in range(8, 18)]
    assert len({key.hue for key in picture.keys}) == len(picture.keys) == HUES
    assert picture.floor == pytest.approx({text: y for y, text in picture.levels}["10⁻¹⁶"])
    assert lay_out(made({"s": [1.0, 1e-3]})).floor is None
    for panel in picture.panels:
        assert all(picture.left <= x <= picture.right for x, _ in panel.ticks)


def test_reference_solvers_are_dots_against_seconds_only() -> None:
    picture = lay_out(made({"ours": [1.0, 1e-9]}) + made({"theirs": [1e-3, 1e-8]}, reference=True))
    passes, seconds = picture.panels
    assert [line.key.solver for line in passes.lines] == ["ours"]
    assert [len(line.dots) for line in seconds.lines] == [0, 2]


def test_a_course_too_short_for_a_line_is_a_dot() -> None:
    """The last look and the end lie at almost the same time and gap."""
    points = (Point("s", 1, 9.0, 1.0, 1.0, 1e-7, 1e-7), Point("s", 1, 9.0, 1.02, 1.0, 1e-7, 1e-7))
    picture = lay_out([Course("s", False, points), *made({"long": [1.0, 1.0, 1e-9]})])
    for panel in picture.panels:
        long, short = sorted(panel.lines, key=lambda line: line.key.solver)
        assert short.dots == short.places[-1:]
        assert long.dots == ()
    (alone,) = made({"s": [1e-3]})
    assert len(lay_out([alone]).panels[1].lines[0].dots) == 1


def test_the_fastest_of_the_accurate_comes_first() -> None:
    courses = made({"slow": [1.0, 1.0, 1e-9], "rough": [1e-3], "fast": [1.0, 1e-12], "no": [inf]})
    assert [course.solver for course in ranked(courses)] == ["fast", "slow", "rough"]
    assert lay_out(()).keys == []
