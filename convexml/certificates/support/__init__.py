"""What a gap says of every solution: supports, zeros, intervals, uniqueness."""
