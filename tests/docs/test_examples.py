"""Every example runs as a script would, and what it computes is what another route expects.

Compared values are objectives, margins and multipliers to a relative 1e-6, coefficients as well:
the solutions are polished and the other routes (closed forms, LARS, libsvm and BFGS at tight
tolerances, finite differences of piecewise linear functions) are exact to better than that.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from support.report.looks import faults

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").rglob("*.py"))
RTOL, ATOL = 1e-6, 1e-7


def load(path: Path) -> ModuleType:
    """The example as a module; its ``main`` is not run."""
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that are saved."""
    figures: list[Any] = []
    if importlib.util.find_spec("matplotlib") is not None:
        from matplotlib.figure import Figure

        save = Figure.savefig

        def noted(figure: Any, *args: Any, **named: Any) -> None:
            figures.append(figure)
            save(figure, *args, **named)

        monkeypatch.setattr(Figure, "savefig", noted)
    return figures


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_computes_what_another_route_expects(
    path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, saved: list[Any]
) -> None:
    picture = tmp_path / "picture.png"
    drawn = importlib.util.find_spec("matplotlib") is not None
    computed, expected = load(path).main(*([str(picture)] if drawn else []))
    if drawn:
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert [faults(figure) for figure in saved] == [[]]
    assert len(computed) == len(expected) > 0
    for ours, theirs in zip(computed, expected, strict=True):
        if isinstance(theirs, str):
            assert ours == theirs
        else:
            np.testing.assert_allclose(ours, theirs, rtol=RTOL, atol=ATOL)
    assert len(capsys.readouterr().out.splitlines()) > 4


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_tells_its_story_and_runs_as_a_script(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(load(path).__doc__.strip().splitlines()) > 3
    assert text.endswith('if __name__ == "__main__":\n    main(*sys.argv[1:])\n')
    assert f"{path.name} " in (load(path).__doc__ or "").replace("\n", " ")
    assert len(text.splitlines()) < 90


def test_the_examples_are_found() -> None:
    assert {"ridge_four_routes", "lasso_and_its_dual", "lp_duality"} <= {p.stem for p in EXAMPLES}
