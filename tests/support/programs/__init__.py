"""Linear and quadratic programs that several tests share."""
