"""What a page needs before it is made: an engine for charts, which takes a third of a second to start, and modules."""

from __future__ import annotations

from contextlib import suppress
from threading import Thread

_NOTHING = {"data": {"values": []}, "mark": "point"}


def start_drawing() -> None:
    """Start it beside other work, which does not wait for it: the first page is then made as fast as later ones.

    A command that ends before waits for it, since an engine that is half started cannot be given up.
    """
    Thread(target=_drawn_once, name="repbm-drawing").start()


def _drawn_once() -> None:
    import vl_convert

    vl_convert.vegalite_to_svg(_NOTHING)
    # What is wrong here is told where the page is made.
    with suppress(Exception):
        from repbm.report._page import page_code

        page_code()
