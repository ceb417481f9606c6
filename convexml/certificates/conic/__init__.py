"""Certificates of cone programs, on plain arrays."""
