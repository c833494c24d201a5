"""From files, data frames, arrays and datasets of other libraries to Trajectories."""

from repbm.logs._cells import read_cells, write_cells
from repbm.logs._coded import CodedOtherwise
from repbm.logs._drawn import Drawn, bytes_of, draw_log
from repbm.logs._ends import checked_ends
from repbm.logs._files import files_of, stands_for_files
from repbm.logs._guesses import less_is_better
from repbm.logs._individuals import Individuals, read_individuals
from repbm.logs._minari import write_minari
from repbm.logs._piece import Piece
from repbm.logs._proposal import Guess, Proposal, propose
from repbm.logs._read import read_log
from repbm.logs._scan import Scan
from repbm.logs._tables import Source
from repbm.logs._write import log_frame

__all__ = [
    "CodedOtherwise",
    "Drawn",
    "Guess",
    "Individuals",
    "Piece",
    "Proposal",
    "Scan",
    "Source",
    "bytes_of",
    "checked_ends",
    "draw_log",
    "files_of",
    "less_is_better",
    "log_frame",
    "propose",
    "read_cells",
    "read_individuals",
    "read_log",
    "stands_for_files",
    "write_cells",
    "write_minari",
]
