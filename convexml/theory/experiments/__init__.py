"""One table of experiments: each theorem, what is measured, and three problems."""

from ..simulation import EXPERIMENTS
from .samples import TABLE as OF_SAMPLES

EXPERIMENTS[:] = OF_SAMPLES
