"""Linear algebra whose error is known: rationals, sums rounded once, verified bounds."""
