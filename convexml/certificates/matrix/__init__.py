"""Certificates of problems in a semidefinite matrix, and of points that may merge."""
