"""Working sets of the dual, for linear models and kernels."""
