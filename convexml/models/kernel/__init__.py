"""Functions of a kernel."""
