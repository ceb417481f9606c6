"""Every row of the performance table, side by side with the installed peers.

Run with ``python benchmarks/peers.py``; ``pip install convexml[peers]`` brings the peers. Times
are from the arrays to (w, b), ours with the certificate. Everybody runs in processes of their own,
warmed on a few rows, at 1 and at 2 BLAS threads, and each peer at its loosest tol with a relative
gap of 1e-6 that our certificate verifies from (w, b) alone, off the clock. What does not end within
the budget is a row "-". Ratios, best peer / ours, are of one run; times of two do not compare.

    python benchmarks/peers.py --rows "lasso" "SVM cancer"     rows whose names contain these
    python benchmarks/peers.py --solver interior_point         ours by that name, not by "auto"
    python benchmarks/peers.py --tols FILE                     tols of an earlier --json
    python benchmarks/peers.py --growth --pictures FOLDER      cost against n and d, and slopes
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from peers import table
from peers.environment import environment
from peers.processes import measured, run, tuned
from peers.rows import GROWTH, ROWS, Row, find


def measure(row: Row, names: list[str], arguments: argparse.Namespace, folder: Path) -> Any:
    """The records of a row: floor, ours, and every peer."""
    limits = {name: getattr(arguments, name) for name in ("gap", "budget", "least")}
    made = {"mode": "data", "row": row.name, "folder": str(folder), "budget": arguments.budget}
    _, outcome = run(made, 1)
    if outcome:
        sys.exit(f"{row.name}: {outcome}")
    records = []
    for who in ("floor", *names):
        tol = arguments.gap
        if who in row.peers:
            found, outcome = arguments.known.get((row.name, who)), ""
            if found is None:
                found, outcome = tuned(row.name, who, arguments.gap, arguments.budget, folder)
            if found is None:
                records.append({"who": who, "n": 0, "min": None, "outcome": outcome})
                print(f"  {who}: {outcome}", file=sys.stderr, flush=True)
                continue
            tol = found
        for threads in arguments.threads:
            record = measured(row.name, who, tol, threads, limits, folder)
            records.append(record)
            print(f"  {table.line(record)}", file=sys.stderr, flush=True)
            if not record["n"]:
                break  # what does not end on one thread is not waited for on two
    (folder / f"{row.name}.pickle").unlink()
    return {**asdict(row), "records": records}


def known_tols(path: Path | None) -> dict[tuple[str, str], float]:
    """The tols of an earlier document, by row and peer."""
    rows = [] if path is None else json.loads(path.read_text())["rows"]
    return {(r["name"], each["who"]): each.get("tol") for r in rows for each in r["records"]}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", nargs="+", default=[""], metavar="PART")
    parser.add_argument("--peers", nargs="*", metavar="NAME", help="only these")
    parser.add_argument("--solver", default="", help='ours: a solver by name, not "auto"')
    parser.add_argument("--gap", type=float, default=1e-6, help="relative, verified")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for each task")
    parser.add_argument("--least", type=float, default=1.0, help="seconds of repetitions")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--growth", action="store_true", help="follow cost in n and d instead")
    parser.add_argument("--pictures", type=Path, help="where pictures of growth go")
    parser.add_argument("--tols", type=Path, help="the tols of an earlier --json, not tuned again")
    parser.add_argument("--json", type=Path, help="where the records go")
    arguments = parser.parse_args()
    chosen = [row for row in ROWS if any(part in row.name for part in arguments.rows)]
    if arguments.growth:
        sizes = [(base, size, v) for base, size, values in GROWTH.values() for v in values]
        names = {row.name for row in chosen}
        chosen = [find(f"{base} {size}={v}") for base, size, v in sizes if base in names]
    arguments.known = known_tols(arguments.tols)
    ours = f"convexml {arguments.solver}".strip()
    document = {"schema": 1, "gap": arguments.gap, "budget": arguments.budget}
    document |= {"environment": environment(), "rows": []}
    with tempfile.TemporaryDirectory() as folder:
        for row in chosen:
            print(row.name, file=sys.stderr, flush=True)
            peers = row.peers if arguments.peers is None else arguments.peers
            names = [ours, *(name for name in row.peers if name in peers)]
            document["rows"].append(measure(row, names, arguments, Path(folder)))
            if arguments.json:
                arguments.json.write_text(json.dumps(document, indent=1) + "\n")
    if arguments.growth:
        from peers import growth

        print(growth.slopes(document["rows"]))
        if arguments.pictures:
            growth.pictures(document["rows"], arguments.pictures)
    else:
        print(table.table(document["rows"]))


if __name__ == "__main__":
    main()
