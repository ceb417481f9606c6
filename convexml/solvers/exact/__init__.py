"""Solvers that single models bring: no iterations, the optimum itself."""
