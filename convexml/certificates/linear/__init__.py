"""Certificates of linear programs.

An engine of their own, beside that of cone programs: finite bounds carry reduced costs exactly
(Jansson), and are no rows. With bounds as rows of a cone program the verdicts of the tests take
2.6 times as long, and programs whose rows contradict one another by little need their own look.
"""
