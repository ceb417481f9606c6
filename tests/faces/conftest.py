"""Commands run in an empty folder, and a solver that does not say the truth."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cvxpy.reductions.solvers.conic_solvers.clarabel_conif import CLARABEL
from support.report.commands import RIDGE, Command, write
from typer.testing import CliRunner

from convexml.show.cli import app


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a command in an empty folder, with an output of any width; ``code`` is how it ends."""
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: Any, code: int | None = None) -> Any:
        result = CliRunner().invoke(app, list(map(str, arguments)))
        assert code in (None, result.exit_code), result.output
        return result

    return run


@pytest.fixture
def ridge(tmp_path: Path) -> Path:
    return write(tmp_path / "ridge.toml", RIDGE)


@pytest.fixture
def clarabel_says(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let Clarabel return ones, with any claim."""

    def says(claim: str) -> None:
        def lie(solver: Any, data: Any, *args: Any, **options: Any) -> SimpleNamespace:
            ones = SimpleNamespace(x=np.ones(data["c"].size), z=np.ones(data["b"].size))
            said = {"status": claim, "obj_val": 1.0, "solve_time": 0.001, "iterations": 1}
            return SimpleNamespace(**vars(ones), s=ones.z, **said)

        monkeypatch.setattr(CLARABEL, "solve_via_data", lie)

    return says


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let no more than these reference solvers be installed."""

    def only(*names: str) -> None:
        for place in ("convexml.solvers.reference", "convexml.show.comparison.race"):
            monkeypatch.setattr(f"{place}.installed", lambda name: name in names)

    return only


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures of matplotlib that are saved."""
    figures: list[Any] = []
    if find_spec("matplotlib") is not None:
        from matplotlib.figure import Figure

        save = Figure.savefig

        def noted(figure: Any, *args: Any, **named: Any) -> None:
            figures.append(figure)
            save(figure, *args, **named)

        monkeypatch.setattr(Figure, "savefig", noted)
    return figures


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every iterate is written to a checkpoint."""
    for name in ("EVERY", "SHARE"):
        monkeypatch.setattr(f"convexml.models.checkpoint.{name}", 0.0)
