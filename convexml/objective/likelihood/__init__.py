"""Gaussian likelihoods: moments of samples, and Newton steps for an inverse covariance."""
