"""Fitted scikit-learn estimators as the convex problems that they solve."""
