"""Linear and quadratic programs from MPS and QPS files."""

from __future__ import annotations

from .mps import read_mps
from .posing import pose_program
from .program import Program

__all__ = ["Program", "pose_program", "read_mps"]
