"""`--cluster`: row blocks are computed with by the workers of a Dask scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

REACH = "5s"
"""How long a scheduler may take to answer."""


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """A client of the scheduler at this address is the active one within; None is no cluster."""
    if address is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError:
        raise typer.BadParameter(
            "--cluster needs dask.distributed: pip install 'convexml[scale]'"
        ) from None
    try:
        client = Client(address, timeout=REACH, set_as_default=False)  # one that fails stays away
    except (OSError, ValueError) as error:
        said = str(error).split("\n")[0][:200]
        raise typer.BadParameter(f"--cluster: no scheduler at {address!r}: {said}") from error
    with client, client.as_current():
        yield
