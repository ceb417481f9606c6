"""Every example runs as a script would, and what it computes is what another route expects.

Compared values are objectives, margins and multipliers to a relative 1e-6, coefficients as well:
the solutions are polished and the other routes (closed forms, LARS, libsvm and BFGS at tight
tolerances, finite differences of piecewise linear functions) are exact to better than that.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").rglob("*.py"))
RTOL, ATOL = 1e-6, 1e-7
CHAPTERS = ("linear_models", "svm_and_duality", "unsupervised")
ARGUMENTS = ("", "*sys.argv[1:]")


def load(path: Path) -> ModuleType:
    """The example as a module; its ``main`` is not run."""
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_computes_what_another_route_expects(
    path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    picture = tmp_path / "picture.png"
    draws = "main(*sys.argv[1:])" in path.read_text(encoding="utf-8")
    drawn = draws and importlib.util.find_spec("matplotlib") is not None
    computed, expected = load(path).main(*([str(picture)] if drawn else []))
    assert not drawn or picture.read_bytes().startswith(b"\x89PNG")
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
    assert text.endswith(tuple(f'if __name__ == "__main__":\n    main({a})\n' for a in ARGUMENTS))
    assert len(text.splitlines()) < 90


def test_every_example_of_the_chapters_draws() -> None:
    for path in EXAMPLES:
        draws = "main(*sys.argv[1:])" in path.read_text(encoding="utf-8")
        assert draws or path.parent.name not in CHAPTERS, path.name


def test_the_examples_are_found() -> None:
    assert {"ridge_four_routes", "lasso_and_its_dual", "lp_duality"} <= {p.stem for p in EXAMPLES}
