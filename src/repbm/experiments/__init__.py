"""The paper's experiments: a spec, its runs, their stored rows, and the table made of them."""

from repbm.experiments._published import published
from repbm.experiments._rows import ROWS
from repbm.experiments._run import SCHEMA, run, seed_of
from repbm.experiments._spec import SPECS, Fidelity, Spec, fingerprint, load_spec, read_spec
from repbm.experiments._store import Store, reproduce
from repbm.experiments._table import table

__all__ = [
    "ROWS",
    "SCHEMA",
    "SPECS",
    "Fidelity",
    "Spec",
    "Store",
    "fingerprint",
    "load_spec",
    "published",
    "read_spec",
    "reproduce",
    "run",
    "seed_of",
    "table",
]
