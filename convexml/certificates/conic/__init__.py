"""Certificates of cone programs, on plain arrays, and of linear programs.

A linear program is priced as a cone program. Where it is solved, and where points and multipliers
are moved, its bounds are no rows: with them as rows verdicts take 2.6 times as long.
"""
