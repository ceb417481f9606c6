"""Formulas and tables as people read them: MathML and HTML for a page, Unicode for a terminal."""
