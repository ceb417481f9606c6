"""Where and when a comparison was run: times mean nothing without it."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = (
    "numpy",
    "scipy",
    "cvxpy",
    "scikit-learn",
    "clarabel",
    "osqp",
    "ecos",
    "scs",
    "highspy",
    "piqp",
)
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def describe_environment() -> dict[str, Any]:
    """Machine, Python, versions, linear algebra with its threads, and the date, as plain data.

    Returns
    -------
    dict
        A package that is not installed has the version None.
    """
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "os": platform.platform(terse=True),
        "python": platform.python_version(),
        "convexml": _version("convexml"),
        "versions": {name: _version(name) for name in PACKAGES},
        "blas": _blas(),
        "threads": {name: os.environ[name] for name in THREADS if name in os.environ},
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _blas() -> list[dict[str, Any]]:
    """The libraries of linear algebra and of threads that are loaded, each with its threads."""
    from threadpoolctl import threadpool_info

    found = [
        {
            "library": str(each["internal_api"]),
            "version": str(each["version"] or ""),
            "threads": int(each["num_threads"]),
        }
        for each in threadpool_info()
    ]
    return [each for k, each in enumerate(found) if each not in found[:k]]


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() == "model name" and value.strip():
            return value.strip()
    return platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
