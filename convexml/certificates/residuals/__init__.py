"""Certificates of penalties or bounds on a residual as a whole."""
