"""The programs of ``conic_certificates.py``."""
