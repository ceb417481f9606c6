"""Rates in expectation, regret, and mistakes."""
