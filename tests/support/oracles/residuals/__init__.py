"""Oracles of regressions whose residuals count as a whole."""
