"""Certificates of linear programs whose dual points have a closed form."""
