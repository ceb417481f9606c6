"""What the report says and draws: courses of convergence, charts, numbers of a column."""
