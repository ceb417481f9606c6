"""The command line: arguments, exit codes, progress; nothing else."""

from __future__ import annotations

from .app import app, main

__all__ = ["app", "main"]
