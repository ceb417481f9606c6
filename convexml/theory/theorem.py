"""What a theorem is: preconditions, and inequalities that the iterates must obey."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from .claim import Claim
from .trajectory import Trajectory


class Theorem(ABC):
    """A rate of convergence, or a quantity that never increases, as inequalities to be checked.

    A theorem about an expectation sets ``seeds`` and receives that many runs; else it receives one.
    """

    statement: ClassVar[str]
    source: ClassVar[str] = ""
    seeds: ClassVar[int] = 1

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """Each precondition that the run does not meet, in words; all its steps are looked at."""
        return iter(())

    def silences(self, run: Trajectory) -> Iterator[str]:
        """Why the theorem promises nothing for this problem, whatever the run did."""
        return iter(())

    def ahead(self, run: Trajectory, t: Any) -> Any:
        """What f(x_t) - f* is at most, in the mean where samples are drawn; inf if nothing is said.

        Known ahead, from the first iterates and the reference.
        """
        return np.inf

    @abstractmethod
    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The inequalities, with both sides computed."""
