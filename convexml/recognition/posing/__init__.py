"""From what was read to a posed problem of the library, and back."""
