"""Residuals of a linear fit, and how they move with the penalty on a fixed support."""
