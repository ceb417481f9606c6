"""Pictures of solutions: the answer beside what is known of its quality."""
