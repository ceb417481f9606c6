"""Certificates of machines whose margin, or tube, is found with the function."""
