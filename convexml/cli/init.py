"""`convexml init`."""

from __future__ import annotations

from importlib.resources import files

import typer

EXAMPLES = """\b
Example:
  convexml init > mine.toml
  convexml solve mine.toml
"""


def init() -> None:
    """Print a commented problem file to start from; it loads and solves as it is."""
    text = files("convexml.cli").joinpath("template.toml").read_text(encoding="utf-8")
    typer.echo(text, nl=False)
