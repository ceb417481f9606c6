"""Who competes on which kind of problem: name -> fit(data, tol), which returns (w, b)."""

from __future__ import annotations

from typing import Any

from ..rows import Row
from . import conic, floors, labelled, ours, squared

PEERS: dict[str, dict[str, Any]] = {
    "lasso": squared.LASSO | conic.LASSO,
    "lasso path": squared.PATH,
    "ridge": squared.RIDGE | conic.RIDGE,
    "l1 logistic": labelled.L1_LOGISTIC | conic.L1_LOGISTIC,
    "l2 logistic": labelled.L2_LOGISTIC | conic.L2_LOGISTIC,
    "svm": labelled.SVM | conic.SVM,
    "kernel svm": labelled.KERNEL_SVM | conic.KERNEL_SVM,
}


def contestant(row: Row, name: str) -> Any:
    """The function of a peer, of the floor, or of convexml ("convexml NAME": by that solver)."""
    if name == "floor":
        return floors.floor(row.floor)
    if name.startswith(ours.OURS):
        return ours.fit(row.kind, *name.split()[1:], own_dual=not row.peers)
    return PEERS[row.kind][name]
