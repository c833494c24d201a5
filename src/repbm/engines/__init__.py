"""Where independent tasks run."""

from repbm.engines._processes import in_processes

__all__ = ["in_processes"]
