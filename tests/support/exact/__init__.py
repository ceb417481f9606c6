"""Oracles in exact arithmetic."""
