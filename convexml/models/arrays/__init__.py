"""Models that are not loss + penalty: points and dual points are arrays by name."""
