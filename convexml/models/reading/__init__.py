"""What the user passes, read and checked."""
