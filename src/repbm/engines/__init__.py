"""Where independent tasks run: in this process, in several, or on a cluster. The numbers are the same."""

from repbm.engines._engine import Done, Engine, Note, TasksFailed, Work, all_values, in_order, raise_failed
from repbm.engines._in_process import InProcess
from repbm.engines._named import ENGINES, as_engine, opened, opens_engine
from repbm.engines._processes import Processes
from repbm.engines._queue import LostWorker
from repbm.engines._ray import Ray

__all__ = [
    "ENGINES",
    "Done",
    "Engine",
    "InProcess",
    "LostWorker",
    "Note",
    "Processes",
    "Ray",
    "TasksFailed",
    "Work",
    "all_values",
    "as_engine",
    "in_order",
    "opened",
    "opens_engine",
    "raise_failed",
]
