"""Points and dual points made exactly feasible, and the price of what cannot be."""
