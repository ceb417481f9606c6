"""Oracles of problems in a matrix."""
