"""Fits of a given shape."""
