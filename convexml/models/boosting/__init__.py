"""Boosting: margins of weak learners, as convex problems."""
