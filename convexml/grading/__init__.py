"""A student's own solver, held to the page: its steps, its draws, its theorem, its answer."""
