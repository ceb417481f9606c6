"""Weak learners of boosting."""
