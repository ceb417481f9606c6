"""Stand-ins for models, and damage to problem files."""
