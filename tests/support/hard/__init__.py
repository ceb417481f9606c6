"""What rows of the hard-input table are filled with."""
