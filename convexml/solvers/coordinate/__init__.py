"""Methods that move one coordinate, or one block, at a time."""
