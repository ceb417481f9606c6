"""Results of a cluster are waited for as long as there is a worker who may give them."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent import futures
from time import monotonic
from typing import Any
from weakref import WeakKeyDictionary

from distributed import Client, Future, LocalCluster, wait

from ...deadline import is_late
from ...errors import WorkersLostError

LOOK = 0.5
"""Seconds from one look at who is there to the next."""
ALONE = 60.0
"""Seconds without a worker after which none is waited for: one that starts again takes a few."""
ANSWER = 10.0
"""Seconds that the scheduler has for an answer."""
_alone: WeakKeyDictionary[Client, float] = WeakKeyDictionary()
"""Since when there is no worker."""


def waited(client: Client, result: Coroutine[Any, Any, Any], told: Callable[[], None]) -> Any:
    """What a coroutine of the client comes back with; ``told`` is called now and then till then.

    Raises
    ------
    WorkersLostError
        Where there was no worker for ``ALONE`` seconds, or is none when the solve's time is over.
    """
    loop: Any = client.loop
    future = asyncio.run_coroutine_threadsafe(result, loop.asyncio_loop)
    while not futures.wait([future], LOOK).done:
        told()
        refuse_to_wait(client)
    _alone.pop(client, None)
    return future.result()


def finished(client: Client, tasks: Sequence[Future]) -> None:
    """Wait for the end of tasks, whatever it is; raises as ``waited`` does."""
    while True:
        try:
            wait(list(tasks), timeout=LOOK)
            return
        except TimeoutError:
            refuse_to_wait(client)


def refuse_to_wait(client: Client) -> None:
    """Raise WorkersLostError where there is nobody who could answer."""
    scheduler: Any = client.scheduler
    try:
        there = client.sync(scheduler.ncores, callback_timeout=ANSWER)
    except (OSError, TimeoutError):  # nor does the scheduler
        there = {}
    if there:
        _alone.pop(client, None)
        return
    now = monotonic()
    seconds = now - _alone.setdefault(client, now)
    if seconds >= ALONE or is_late():
        until = f"within {seconds:.0f} s" if seconds >= ALONE else "before max_seconds were over"
        raise WorkersLostError(
            f"No dask worker is left to compute on the blocks, and none came back {until}. "
            "Start workers, and solve again."
        )


def shield(client: Client) -> None:
    """Let workers that this process started live on when Ctrl-C is pressed, which is for the solve.

    A terminal sends it to all processes of a group: workers would be gone with what they hold.
    """
    if isinstance(client.cluster, LocalCluster) and hasattr(os, "getpgrp"):
        client.run(ignore_interrupts, os.getpgrp())


def ignore_interrupts(group: int) -> None:
    """Of a worker process: ignore the signal of Ctrl-C where it is in this process group."""
    alone = threading.current_thread() is threading.main_thread()
    if alone and os.getpgrp() == group:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
