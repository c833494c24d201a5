"""The paper's experiments: a spec, its runs, their stored rows, and the table made of them."""

from repbm.experiments._balance import Balance
from repbm.experiments._behavior_error import BehaviorError
from repbm.experiments._cells import result_cells
from repbm.experiments._experiment import Announce, Experiment, Task, Worker, fingerprint
from repbm.experiments._fidelity import Fidelity
from repbm.experiments._load import EXPERIMENTS, load_experiment
from repbm.experiments._objectives import alpha_of
from repbm.experiments._page import Page, reproduction_page
from repbm.experiments._points import Point, Sweep
from repbm.experiments._published import claims, published
from repbm.experiments._results import Result, read_results
from repbm.experiments._rows import ROWS, SCHEMA
from repbm.experiments._run import run, seed_of
from repbm.experiments._spec import SPECS, Spec, load_spec, read_spec
from repbm.experiments._store import Store, reproduce
from repbm.experiments._table import table
from repbm.experiments._tree import TreeBias
from repbm.experiments._trust import Trust

__all__ = [
    "EXPERIMENTS",
    "ROWS",
    "SCHEMA",
    "SPECS",
    "Announce",
    "Balance",
    "BehaviorError",
    "Experiment",
    "Fidelity",
    "Page",
    "Point",
    "Result",
    "Spec",
    "Store",
    "Sweep",
    "Task",
    "TreeBias",
    "Trust",
    "Worker",
    "alpha_of",
    "claims",
    "fingerprint",
    "load_experiment",
    "load_spec",
    "published",
    "read_results",
    "read_spec",
    "reproduce",
    "reproduction_page",
    "result_cells",
    "run",
    "seed_of",
    "table",
]
