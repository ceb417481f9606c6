"""Methods of gradients and proximal steps."""
