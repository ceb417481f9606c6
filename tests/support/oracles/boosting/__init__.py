"""Oracles of boosting."""
