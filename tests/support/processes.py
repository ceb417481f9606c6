"""Python in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from typing import Any


def python(*arguments: object, **given: Any) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments; how it ended, and all that it wrote."""
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **given)
