"""Fits of a given shape: what their closed forms compute."""
