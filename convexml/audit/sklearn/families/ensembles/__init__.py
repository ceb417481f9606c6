"""Estimators that add up others: what their rounds minimise."""
