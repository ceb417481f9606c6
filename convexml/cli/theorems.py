"""`convexml theorems`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import exits

EXAMPLES = """\b
Examples:
  convexml theorems hoeffding no_free_lunch
  convexml theorems --seeds 100 --html theorems.html
"""


def theorems(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[THEOREM]...", help="Default: all.")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=2, help="Draws of each theorem.")] = 100,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the table as one page.")
    ] = None,
    to_csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write the table as CSV.")
    ] = None,
) -> None:
    """Run the theorems: what is measured on three problems each, beside the bound.

    Means are held to it within z standard errors, frequencies by a binomial test; that a table of
    true theorems fails has a probability of 1e-6. The exit code is 5 where one does not hold.
    """
    from ..files import writable
    from ..theory import simulate

    page = None if html is None else writable(html, "theorems --html")
    found = simulate(*(names or ()), seeds=seeds)
    typer.echo(found.verdict if page else str(found))
    if page is not None:
        page.write_text(found.page(), encoding="utf-8")
        typer.echo(f"wrote {page}", err=True)
    if to_csv is not None:
        found.to_csv(to_csv)
        typer.echo(f"wrote {to_csv}", err=True)
    raise typer.Exit(exits.VERIFIED if found.holds else exits.NOT_VERIFIED)
