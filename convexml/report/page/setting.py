"""The lines on machine, versions and limits: times mean nothing without them."""

from __future__ import annotations

from typing import Any

LIMITED = "posing for CVXPY and compiling loops are not in it"


def setting(environment: dict[str, Any]) -> list[tuple[str, str]]:
    """Name and text of every line that has something to say.

    Parameters
    ----------
    environment : dict
        Of a comparison.
    """
    versions = environment.get("versions", {})
    here = [f"convexml {environment['convexml']}"] if environment.get("convexml") else []
    here += [f"{name} {number}" for name, number in versions.items() if number]
    missing = [name for name, number in versions.items() if not number]
    threads = ", ".join(f"{k}={v}" for k, v in environment.get("threads", {}).items())
    limit = environment.get("max_seconds")
    lines = [
        ("Processor", f"{environment.get('cpu', '')}, {environment.get('cores', '?')} cores"),
        ("System", f"{environment.get('os', '')}, Python {environment.get('python', '')}"),
        ("Versions", " · ".join(here)),
        ("Not installed", ", ".join(missing)),
        ("Linear algebra", " · ".join(map(_library, environment.get("blas", [])))),
        ("Threads asked for", threads or "no variable is set, the libraries choose"),
        ("Processes", str(environment.get("jobs", ""))),
        ("Tolerance", ", ".join(f"{tol:g}" for tol in environment.get("tolerances", []))),
        ("Time limit", "none" if limit is None else f"{limit:g} s for each run; {LIMITED}"),
        ("Repeats", str(environment.get("repeats", ""))),
        ("Seed", str(environment.get("seed", ""))),
    ]
    return [(name, text) for name, text in lines if text]


def _library(each: dict[str, Any]) -> str:
    plural = "" if each["threads"] == 1 else "s"
    name = f"{each['library']} {each['version']}".rstrip()  # not each tells its version
    return f"{name} with {each['threads']} thread{plural}"
