"""What a learning problem does: built, posed, solved, judged, stored."""
