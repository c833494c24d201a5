"""Reading ahead: the next part of a log while somebody works on one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import polars as pl


def ahead(reads: Iterable[Callable[[], pl.DataFrame]]) -> Iterator[pl.DataFrame]:
    """What these read, in order; two parts are in memory at a time."""
    with ThreadPoolExecutor(1, thread_name_prefix="repbm-read") as reader:
        following = None
        for read in reads:
            now, following = following, reader.submit(read)
            if now is not None:
                yield now.result()
        if following is not None:
            yield following.result()
