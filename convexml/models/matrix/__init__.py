"""Relaxations: principal components, k-means, clusters that merge."""
