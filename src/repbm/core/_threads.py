"""Linear algebra in one thread."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import ThreadpoolController

_found: tuple[int, ThreadpoolController] | None = None


@contextmanager
def one_thread() -> Iterator[None]:
    """Sums are then the same on any machine, in any process, and small ones do not wait for each other.

    Several threads add up in another order, which changes last digits, and a fit may carry that far; where cores are
    shared they wait for minutes. The limit is one of the libraries that are loaded by then. To look for those takes
    milliseconds, and fits are many: they are looked for again only when modules were loaded since.
    """
    global _found
    loaded = len(sys.modules)
    if _found is None or _found[0] != loaded:
        _found = loaded, ThreadpoolController()
    with _found[1].limit(limits=1):
        yield
