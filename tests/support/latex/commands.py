"""The commands of LaTeX that a printed formula has, each by what it does to what follows it."""

from __future__ import annotations

from typing import Any

import numpy as np


class Commands:
    r"""A method ``on_name`` for each command ``\name``, for the reader that inherits it."""

    tokens: list[str]
    names: dict[str, Any]
    ranges: dict[str, Any]
    at: dict[str, int]

    def on_sum(self) -> Any:
        self.take("_")
        indices = self.subscript()
        if ":" in indices:  # j : omega_j > 0
            index, name, before = indices[0], indices[2], self.ranges
            self.ranges = before | {index: np.flatnonzero(self.names[name] > 0.0)}
            found = self.over(index, sum)
            self.ranges = before
            return found
        if r"\ne" in indices:  # i \ne j
            start, outer, size = self.k, dict(self.at), len(self.ranges["i"])
            found = 0.0
            for i in range(size):
                for j in range(size):
                    self.k, self.at = start, outer | {"i": i, "j": j}
                    found += (i != j) * self.product()
            self.at = outer
            return found
        if r"\le" in indices:  # j \le m
            before, last = self.ranges, self.at[indices[-1]]
            self.ranges = before | {"j": range(last + 1)}
            found = self.over("j", sum)
            self.ranges = before
            return found
        if {"<", ">"} & {*indices}:
            return self.over_pairs("".join(indices).replace(" ", ""))
        return self.over("".join(indices), sum)

    def over_pairs(self, order: str) -> Any:
        """i<j: both run; j<i and j>i: j alone, beside the i that is given."""
        start, outer, total = self.k, dict(self.at), 0.0
        below = order[1] == "<"
        for i in self.ranges["i"] if order == "i<j" else [outer["i"]]:
            for j in self.ranges["j"]:
                self.k, self.at = start, outer | {"i": i, "j": j}
                term = self.product()
                first, second = (i, j) if order[0] == "i" else (j, i)
                total = total + (term if (first < second) == below and i != j else 0.0 * term)
        self.at = outer
        return total

    def on_max(self) -> Any:
        if self.took("_"):
            return self.over("".join(self.subscript()), max)
        return max(self.bracketed())

    def on_min(self) -> Any:
        return min(self.bracketed())

    def on_frac(self) -> Any:
        first = self.argument()
        return first / self.argument()

    def on_tfrac(self) -> Any:
        if self.next.isdigit() and len(self.next) == 2:
            above, below = self.take()
            return float(above) / float(below)
        return self.on_frac()

    def on_log(self) -> Any:
        if self.took(r"\det"):
            sign, value = np.linalg.slogdet(self.factor())
            return np.where(np.asarray(sign) > 0.0, value, -np.inf)[()]
        with np.errstate(divide="ignore"):
            return np.log(self.factor())

    def on_exp(self) -> Any:
        return np.exp(self.bracketed()[0])

    def on_sqrt(self) -> Any:
        return np.sqrt(self.argument())

    def on_sign(self) -> Any:
        return np.sign(self.bracketed()[0])

    def on_softmax(self) -> Any:
        powers = np.exp(self.bracketed()[0])
        return powers / powers.sum()

    def on_langle(self) -> Any:
        first = self.sum()
        self.take(",")
        second = self.sum()
        self.take(r"\rangle")
        return np.sum(first * second)

    def on_diag(self) -> Any:
        return np.diag(self.bracketed()[0])

    def on_least(self) -> Any:
        return np.linalg.eigvalsh(self.bracketed()[0])[0]

    def on_trace(self) -> Any:
        return np.trace(self.product())

    def on_one(self) -> Any:
        return np.ones(len(self.ranges["i"]))

    def on_pairs(self) -> Any:
        return np.add.outer(self.names[r"\alpha"], self.names[r"\alpha"])

    def on_rows(self) -> Any:
        return np.tile(self.names["b"], (len(self.names["y"]), 1))

    def on_infty(self) -> float:
        return np.inf
