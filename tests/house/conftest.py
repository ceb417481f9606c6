"""Packages with a mistake, planted for one test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ModuleType]]:
    """Import a package of these modules; after the test there is none of them."""

    def planted(name: str, **sources: str) -> ModuleType:
        (tmp_path / name).mkdir()
        for module, source in sources.items():
            (tmp_path / name / f"{module}.py").write_text(source, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        return import_module(name)

    yield planted
    for name in [name for name in sys.modules if name.startswith("planted_")]:
        del sys.modules[name]
