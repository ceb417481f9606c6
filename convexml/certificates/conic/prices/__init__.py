"""What an exact dual point near an almost feasible one can cost."""
