"""Certificates of cone programs: prices, repairs and rays."""
