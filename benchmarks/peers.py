"""Every row of the performance table, side by side with the installed peers.

Run with ``python benchmarks/peers.py``; ``pip install convexml[peers]`` brings the peers. Times
are from the arrays to (w, b), ours with the certificate. Everybody runs in processes of their own,
warmed on a few rows, and each peer at its loosest tol with a relative gap that our certificate
verifies from (w, b) alone, off the clock. What does not end within the budget is a row "-".
Ratios, best peer / ours, are of one run; times of two do not compare. Memory is the peak of one
warm call beyond what the process holds before it.

    python benchmarks/peers.py --rows "lasso" "SVM cancer"     rows whose names contain these
    python benchmarks/peers.py --threads 1 2                   everybody at the better of the two
    python benchmarks/peers.py --solver interior_point         ours by that name, not by "auto"
    python benchmarks/peers.py --gap 1e-9 --beside FILE        what is left of an earlier --json
    python benchmarks/peers.py --growth --pictures FOLDER      cost against n and d, and slopes
    python benchmarks/peers.py --awkward                       awkward and real data, ours alone
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from peers import awkward, growth, table
from peers.environment import environment
from peers.finding import grown
from peers.measuring import Limits, measure
from peers.rows import ROWS, Row


def records(path: Path | None) -> list[dict[str, Any]]:
    """The rows of an earlier document."""
    return [] if path is None else json.loads(path.read_text())["rows"]


def known_tols(rows: list[dict[str, Any]]) -> dict[tuple[str, str], float]:
    """The tols by row and peer."""
    found = {(r["name"], each["who"]): each.get("tol") for r in rows for each in r["records"]}
    return {key: tol for key, tol in found.items() if tol is not None}


def chosen(arguments: argparse.Namespace) -> list[Row]:
    """The rows asked for."""
    if arguments.growth:
        found = grown()
    else:
        found = awkward.rows() if arguments.awkward else list(ROWS)
    return [row for row in found if any(part in row.name for part in arguments.rows)]


def report(rows: list[dict[str, Any]], arguments: argparse.Namespace) -> str:
    """The table of what was asked for."""
    if arguments.growth:
        if arguments.pictures:
            growth.pictures(rows, arguments.pictures)
        return growth.slopes(rows)
    if arguments.awkward:
        return awkward.table(rows)
    return table.table(rows, records(arguments.beside))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", nargs="+", default=[""], metavar="PART")
    parser.add_argument("--peers", nargs="*", metavar="NAME", help="only these")
    parser.add_argument("--solver", default="", help='ours: a solver by name, not "auto"')
    parser.add_argument("--gap", type=float, default=1e-6, help="relative, verified")
    parser.add_argument("--budget", type=float, default=30.0, help="seconds for each task")
    parser.add_argument("--least", type=float, default=1.0, help="seconds of repetitions")
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--cpu", action="store_true", help="processor time: on a busy machine")
    parser.add_argument("--growth", action="store_true", help="follow cost in n and d instead")
    parser.add_argument("--pictures", type=Path, help="where pictures of growth go")
    parser.add_argument("--awkward", action="store_true", help="awkward data instead")
    parser.add_argument("--tols", type=Path, help="the tols of an earlier --json, not tuned again")
    parser.add_argument("--beside", type=Path, help="an earlier --json to compare ratios with")
    parser.add_argument("--json", type=Path, help="where the records go")
    arguments = parser.parse_args()
    limits = Limits(
        arguments.gap,
        arguments.budget,
        arguments.least,
        tuple(arguments.threads),
        arguments.cpu,
        known_tols(records(arguments.tols)),
    )
    ours = f"convexml {arguments.solver}".strip()
    document = {"schema": 2, "gap": arguments.gap, "budget": arguments.budget}
    document |= {"environment": environment(), "rows": []}
    with tempfile.TemporaryDirectory() as folder:
        for row in chosen(arguments):
            print(row.name, file=sys.stderr, flush=True)
            peers = row.peers if arguments.peers is None else arguments.peers
            names = [ours, *(name for name in row.peers if name in peers)]
            document["rows"].append(measure(row, names, limits, Path(folder)))
            if arguments.json:
                arguments.json.write_text(json.dumps(document, indent=1) + "\n")
    print(report(document["rows"], arguments))


if __name__ == "__main__":
    main()
