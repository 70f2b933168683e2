"""The notebooks of the tutorial are its chapters, and run from top to bottom."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tutorial_notebooks import CHAPTERS, FOLDER, notebook


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_notebooks_are_the_chapters(chapter: str) -> None:
    """`python tools/draw/tutorial_notebooks.py` writes them anew."""
    assert (FOLDER / f"{chapter}.ipynb").read_text(encoding="utf-8") == notebook(chapter)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_notebooks_run_and_show_something(chapter: str, tmp_path: Path) -> None:
    pytest.importorskip("ipykernel")
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    cells = nbformat.reads(notebook(chapter), as_version=4)
    nbformat.validate(cells)
    client = nbclient.NotebookClient(
        cells, timeout=60, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    outputs = [output for cell in cells.cells for output in cell.get("outputs", [])]
    assert not [o for o in outputs if o.output_type == "error"]
    shown = json.dumps(outputs)
    assert "image/png" in shown or "text/html" in shown
