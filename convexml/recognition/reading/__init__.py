"""What a CVXPY problem says, term by term: see ``reading.terms`` for what is read."""
