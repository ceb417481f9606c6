"""The interior point method for linear programs."""
