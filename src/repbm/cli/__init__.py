"""The command line: one file per command. Heavy imports wait until a command runs."""

from repbm.cli._main import main

__all__ = ["main"]
