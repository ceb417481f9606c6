"""The tutorial needs what `pip install convexml` brings, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXTRAS = ("ecos", "matplotlib", "latex2mathml", "numba", "pandas", "piqp", "polars", "flint")
"""What a first installation may lack, and the tests have."""
READER = """
import sys
from importlib.machinery import PathFinder
from pathlib import Path
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: (
    None if name.partition(".")[0] in {extras!r} else find(name, *rest)
)
from support.pages import normalised, outputs
for block, printed in outputs(Path({page!r}).read_text(encoding="utf-8")):
    if normalised(printed) != normalised(block["shown"] or ""):
        sys.exit(block["code"] + printed)
"""


def read_alone(page: Path) -> subprocess.CompletedProcess[str]:
    """Run the blocks of a page in an interpreter that finds none of the extras."""
    tests = Path(__file__).resolve().parents[1]
    script = f"import sys; sys.path.insert(0, {str(tests)!r})\n"
    script += READER.format(extras=EXTRAS, page=str(page))
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )


def test_the_tutorial_needs_no_extra(repository: Path) -> None:
    run = read_alone(repository / "docs" / "tutorial.md")
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("extra", ["pandas", "matplotlib"])
def test_a_page_that_needs_one_is_found(extra: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```python\nimport {extra}\n```\n")
    assert f"No module named '{extra}'" in read_alone(page).stderr
