"""Tasks for the workers of a dask.distributed cluster, each for one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any
from uuid import uuid4

import dask
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from distributed import Client, Future, KilledWorker

from ...errors import InputError, WorkersLostError, warn
from .news import news_of
from .waiting import finished, waited

CLOSED = (
    "RowBlocks: the dask client is closed that was active when these blocks were passed. Pass them "
    "again while a client is active, or none."
)


class Tasks:
    """Tasks that are sent together.

    Each has a worker: another one takes it when that is gone. Every task is another one, whatever
    it computes.
    """

    def __init__(self, client: Client) -> None:
        self.client, self.token, self.count = client, uuid4().hex, 0
        self.layers: dict[str, dict[str, Any]] = {}

    def add(self, worker: str, function: Callable[..., Any], *arguments: Any) -> str:
        """The key of a task; arguments are futures, keys, numbers or bytes."""
        self.count += 1
        key = f"convexml-{function.__name__}-{self.token}-{self.count}"
        self.layers.setdefault(worker, {})[key] = (function, *arguments)
        return key

    def send(self, keys: Sequence[str]) -> list[Future]:
        """The futures of some of the tasks."""
        if self.client.status != "running":
            raise InputError(CLOSED)
        if not keys:
            return []
        layers = {
            f"{self.token}-{worker}": MaterializedLayer(
                tasks, annotations={"workers": [worker], "allow_other_workers": True}
            )
            for worker, tasks in self.layers.items()
        }
        graph = HighLevelGraph(layers, {name: set() for name in layers})
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
            found: list[Future] = self.client.get(graph, list(keys), sync=False)
        return found


def gathered(
    client: Client, futures: Sequence[Future], told: Callable[[], None] = lambda: None
) -> list[Any]:
    """Results of tasks, or the error of the first that has one; what they warn of is said here.

    ``told`` is called now and then while they are waited for.
    """
    try:
        return _results(client, futures, told)
    finally:
        warnings = news_of(client).warnings
        while warnings:
            warn(*warnings.popleft())


def _results(client: Client, futures: Sequence[Future], told: Callable[[], None]) -> list[Any]:
    if client.status != "running":
        raise InputError(CLOSED)
    try:
        found: list[Any] = waited(client, client.gather(list(futures), asynchronous=True), told)
    except WorkersLostError:
        raise
    except KilledWorker as error:
        raise WorkersLostError(
            f"Several dask workers were lost one after the other with the same blocks ({error}). "
            "Most often their memory is too small: pass smaller blocks, or take more workers."
        ) from error
    except CancelledError as error:
        raise InputError(CLOSED) from error
    except Exception:
        finished(client, futures)
        for future in futures:
            future.result()
        raise
    return found
