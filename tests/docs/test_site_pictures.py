"""The pictures of the site are drawn, and the pages show those that there are."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
DOCS = Path(__file__).resolve().parents[2] / "docs"
SHOWN = re.compile(r"\]\(\.\./model/(\w+)\.svg\)")


@pytest.mark.slow
def test_pictures_of_the_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(DOCS / "extensions"), *sys.path])
    import pictures

    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    pictures.draw()
    drawn = {path.stem for path in tmp_path.glob("*.svg") if "</svg>" in path.read_text()}
    pages = [path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md")]
    assert {name for page in pages for name in SHOWN.findall(page)} == drawn
