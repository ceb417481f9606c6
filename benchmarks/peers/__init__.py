"""Every row measured side by side with the peers; ``python benchmarks/peers.py`` is the command."""
