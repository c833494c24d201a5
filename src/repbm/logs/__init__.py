"""From files, data frames and arrays to Trajectories."""

from repbm.logs._read import read_log
from repbm.logs._tables import Source, files_of
from repbm.logs._write import log_frame

__all__ = ["Source", "files_of", "log_frame", "read_log"]
