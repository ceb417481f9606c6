"""Recorded runs against the theorems of their solvers."""
