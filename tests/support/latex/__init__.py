"""Reads the LaTeX of formulas, and the models, losses and penalties that print it."""
