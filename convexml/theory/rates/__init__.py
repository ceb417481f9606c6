"""Rates of deterministic methods."""
