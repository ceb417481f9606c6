"""Certificates of fits of a given shape."""
