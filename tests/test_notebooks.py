"""The notebooks of the documentation: stored without outputs, and run from top to bottom by a real kernel."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parent.parent / "docs" / "notebooks").glob("*.ipynb"))


def test_they_are_stored_without_outputs_and_named_in_the_documentation() -> None:
    page = (NOTEBOOKS[0].parent.parent / "notebooks.md").read_text("utf-8")
    assert [path.stem for path in NOTEBOOKS] == ["clinician", "engineer", "researcher"]
    for path in NOTEBOOKS:
        book = nbformat.read(path, as_version=4)
        nbformat.validate(book)
        assert not [cell for cell in book.cells if cell.cell_type == "code" and cell.outputs]
        assert f"notebooks/{path.name}" in page


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    done = NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    done.execute()
    shown = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in shown if output.get("name") == "stderr"], shown
    pages = [output["data"]["text/html"] for output in shown if "text/html" in output.get("data", {})]
    assert any("<svg" in page and "interval" in page for page in pages)
