"""Semidefinite relaxations: sets of matrices, and steps of a splitting."""
