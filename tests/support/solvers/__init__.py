"""Small problems and re-statements for the tests of solvers."""
