"""Regressions that penalise or bound their residuals as a whole."""
