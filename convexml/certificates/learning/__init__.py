"""The Fenchel-Young certificate of learning problems."""
