"""Stochastic subgradients of constant step, averaged: regret, divided by the rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..claim import Claim
from ..rates.gradient_descent import varying
from ..rates.subgradient import subgradient_value
from ..theorem import Theorem
from ..trajectory import Trajectory
from .expectation import checkpoints, upper_limit
from .online import round_slope


class StochasticSubgradientRate(Theorem):
    """The mean over seeds of f at the averaged iterate, T of them at fact "steps" = T."""

    statement = "E f(mean_T) - f* <= |x_0 - x*|^2 / (2 eta T) + eta G^2 / 2"
    source = "Shalev-Shwartz and Ben-David, theorem 14.8"
    seeds = 64

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That the step is constant."""
        yield from varying(run, "step")

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The one inequality, at checkpoints."""
        run = runs[0]
        at = checkpoints(len(run.values))
        bound = subgradient_value(
            run.steps[at],
            step=run.fact("step"),
            rho=round_slope(run.objective),
            distance=run.start_distance,
        )
        measured = upper_limit([each.gaps for each in runs], at)
        yield Claim(self.statement, measured, bound, run.value_room, at)
