"""Pages, opened for the person who asked."""

from __future__ import annotations

import os
import shutil
import sys

import typer


def show_in_browser(page: str) -> None:
    """Open it where there is a screen to show it on; else say so in one line.

    Without a screen the program that opens files names every browser that it does not find.
    """
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        # Windows has its own screen (wslview), and a browser of text needs none.
        if not any(map(shutil.which, ("wslview", "www-browser", "lynx", "w3m", "links"))):
            typer.echo(f"there is no screen here to open it on: look at {page} in a browser", err=True)
            return
    typer.launch(page)
