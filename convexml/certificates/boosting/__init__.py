"""Certificates of boosting."""
