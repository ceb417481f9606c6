"""Cone programs and their cones."""
