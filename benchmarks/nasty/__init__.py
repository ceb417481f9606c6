"""Inputs that nobody means, and an independent eye on what is made of them."""
