"""What each family of scikit-learn estimators minimises, and the point that a fitted one holds."""
