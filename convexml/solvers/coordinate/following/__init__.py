"""The minimum of the lasso, followed along lam."""
