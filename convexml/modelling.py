"""CVXPY, loaded when it is first asked for: the import takes longer than many a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import cvxpy as cp
else:

    class Late:
        """The module, by its names."""

        def __getattr__(self, name: str) -> Any:
            import cvxpy

            vars(self)[name] = found = getattr(cvxpy, name)
            return found

    cp = Late()

__all__ = ["cp"]
