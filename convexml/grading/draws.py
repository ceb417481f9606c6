"""Draws of single samples: whether they are uniform, by bounds with a stated level."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from ..numerics import Array

LEVEL = 1e-6
"""Of a false accusation, over all that is looked at here."""


def complaints(draws: Sequence[Array], y: Array) -> Iterator[tuple[str, str]]:
    """What is not uniform about the draws, with its name.

    Of each draw all samples that explain it are given; where they are several, nobody knows which.
    For a set A of samples, the number of known draws in A less its expectation is a martingale with
    steps of at most 1: it exceeds sqrt(2 N log(2 / level)) with probability level at most (Azuma).
    """
    n = len(y)
    known = [int(found[0]) if len(found) == 1 else -1 for found in draws]
    sure = [i for i in known if i >= 0]
    follow = [(a, b) for a, b in pairwise(known) if a >= 0 and b >= 0]
    enough = math.ceil(math.log(1.0 / LEVEL) / math.log(n)) + 1 if n > 1 else len(known) + 1
    if len(follow) >= enough and all((a + 1) % n == b for a, b in follow):
        yield "in order", "the samples are taken in order, not drawn"
        return
    first, chance = sure[:n], 1.0
    for k in range(len(first)):
        chance *= 1.0 - k / n
    if chance < LEVEL and len(set(first)) == len(first):
        words = "the first draws never repeat: samples are reshuffled, not drawn with replacement"
        yield "reshuffled", words
        return
    ambiguous = [set(map(int, found)) for found in draws if len(found) > 1]
    free = len(ambiguous) / max(len(draws), 1)
    room = math.sqrt(2.0 * len(draws) * math.log(2.0 * len(sets_of(y)) / LEVEL))
    for words, A in sets_of(y):
        inside = sum(i in A for i in sure)
        expected = sum(len(A) / n for _ in sure) if not ambiguous else np.nan
        if free == 0.0 and abs(inside - expected) > room:
            yield (
                "not uniform",
                f"{inside} of {len(sure)} draws are {words}: uniform ones {expected:.0f}",
            )
            return


def sets_of(y: Array) -> list[tuple[str, set[int]]]:
    """Sets of samples whose share of the draws is known beforehand."""
    n = len(y)
    return [
        ("in the first half of the samples", set(range(n // 2))),
        ("of even number", set(range(0, n, 2))),
        ("in the first tenth of the samples", set(range(max(n // 10, 1)))),
        ("of y > 0", set(map(int, np.flatnonzero(y > 0.0)))),
    ]
