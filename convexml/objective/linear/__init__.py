"""The data of linear programs, and their units."""
