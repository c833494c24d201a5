"""repbm reproduction: the page about stored experiments."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer


def reproduction(
    results: Annotated[Path, typer.Argument(help="A folder with the folders that `repbm reproduce` wrote.")],
    out: Annotated[Path, typer.Option(help="The page: a file that ends in .md; figures go into a folder beside it.")],
    notes: Annotated[
        Path | None,
        typer.Option(
            help="Notes for the page: a TOML file with one table per experiment and one key per row of its results."
        ),
    ] = None,
) -> None:
    """Write a page of stored experiments: our tables beside the published ones, and every figure."""
    from repbm.core import InputError, write_whole, writing
    from repbm.experiments import read_results, reproduction_page

    if out.suffix != ".md":
        raise InputError("this is no name of a page", where=str(out), fix="let it end in .md")
    words = _words(notes) if notes is not None else {}
    page = reproduction_page(read_results(results), words, out.stem)
    folder = out.with_suffix("")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name, png in page.figures.items():
        write_whole(folder / name, lambda path, png=png: path.write_bytes(png))
    write_whole(out, lambda path: path.write_text(page.markdown, "utf-8"))
    typer.echo(f"written to {out} and {folder}")


def _words(path: Path) -> dict[str, dict[str, Any]]:
    from repbm.core import InputError, reason

    try:
        words = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as fault:
        raise InputError(f"is not TOML that can be read ({reason(fault)})", where=str(path)) from fault
    for name, table in words.items():
        if not isinstance(table, dict) or not all(isinstance(text, str) for text in table.values()):
            raise InputError(f"'{name}' is no table of texts", where=str(path))
    return words
