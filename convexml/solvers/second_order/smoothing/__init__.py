"""Newton's method on a loss with kinks, smoothed in narrower and narrower bands about them."""

from .start import smoothed_start

__all__ = ["smoothed_start"]
