"""Points, multipliers and rays that Clarabel finds, in units that suit the program."""
