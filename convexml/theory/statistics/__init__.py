"""How far a fit generalises."""
