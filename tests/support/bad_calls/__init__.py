"""Calls that are refused, and the four things that each refusal tells."""
