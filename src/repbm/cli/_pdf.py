"""The report as PDF, printed by a browser on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from repbm.core import InputError

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_SECONDS = 120


def find_browser() -> str:
    """The first browser that can print a page without a window; an error where there is none."""
    found = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        fix = "install chromium, or print report.html from a browser"
        raise InputError("there is no Chromium or Chrome to make a PDF with", fix=fix)
    return found


def printed(page: str, browser: str) -> bytes:
    """The page as PDF: offline, and with everything that is folded up opened."""
    with TemporaryDirectory(prefix="repbm-") as folder:
        source, target = Path(folder, "report.html"), Path(folder, "report.pdf")
        source.write_text(page, "utf-8")
        words = [browser, "--headless", "--disable-gpu", "--no-pdf-header-footer", "--no-first-run"]
        words += [f"--user-data-dir={folder}/profile", f"--print-to-pdf={target}", "--virtual-time-budget=10000"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            words.append("--no-sandbox")  # browsers refuse to run as root with one
        try:
            done = subprocess.run([*words, source.as_uri()], capture_output=True, timeout=_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as fault:
            raise InputError(f"the browser did not print ({type(fault).__name__})", where=browser) from fault
        if done.returncode or not target.exists():
            raise InputError(f"the browser did not print (exit code {done.returncode})", where=browser)
        return target.read_bytes()
