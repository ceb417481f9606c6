"""Certificates of Gaussian likelihoods: determinants with their rounding, absent optima."""
