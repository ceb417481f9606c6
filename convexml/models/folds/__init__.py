"""Folds of the samples: problems posed on a part of them, scored on the rest, and certified."""
