"""`python -m convexml`: the command line."""

from __future__ import annotations

from .show.cli import main

if __name__ == "__main__":
    main()
