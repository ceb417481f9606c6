"""Methods that look at one sample at a time."""
