"""One table of experiments: each theorem, what is measured, and three problems."""

from __future__ import annotations

from ..simulation import EXPERIMENTS
from .descents import TABLE as OF_DESCENTS
from .designs import TABLE as OF_DESIGNS
from .samples import TABLE as OF_SAMPLES

EXPERIMENTS[:] = OF_DESCENTS + OF_DESIGNS + OF_SAMPLES
