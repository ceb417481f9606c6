"""A comparison for people: runs, the report on the terminal and as a page, the command line."""
