"""`convexml init`."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Annotated

import typer

from .options import models, of_models

EXAMPLES = """\b
Examples:
  convexml init > mine.toml
  convexml init soft_margin_svm > mine.toml
  convexml solve mine.toml
"""


def init(
    model: Annotated[
        str,
        typer.Argument(
            metavar="[MODEL]",
            help="A name from `convexml list models`.",
            autocompletion=of_models,
        ),
    ] = "lasso",
) -> None:
    """Print a commented problem file to start from; it loads and solves as it is."""
    typer.echo(started(model), nl=False)


def started(model: str) -> str:
    """The template for a model: its formula, its parameters, and data that it is at home with."""
    starts = tomllib.loads(_read("starts.toml"))
    if model not in starts["models"]:
        from ...library.registry import model as known

        known(model)  # it tells what there is instead
    start = starts["models"][model]
    parameters = ["[parameters]", *start["parameters"]] if "parameters" in start else []
    source, *chosen = starts["data"][start["data"]]
    parts = {
        "@title": f"The {model.replace('_', ' ')}",
        "@model": model,
        "@formula": models()[model],
        "@parameters": "\n".join(parameters),
        "@source": source,
        "@chosen": "\n".join(chosen),
    }
    text = _read("template.toml")
    for place, words in parts.items():
        text = text.replace(f"{place}\n", f"{words}\n" if words else "").replace(place, words)
    return text


def _read(name: str) -> str:
    return files("convexml.show.cli").joinpath(name).read_text(encoding="utf-8")
