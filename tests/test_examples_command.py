"""`varimech examples`: what is listed, what is copied, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

import pytest
from typer.testing import CliRunner

import varimech as vm
from varimech.cli.app import app
from varimech.cli.examples import available

ROOT = Path(__file__).parent.parent
SOURCES = [
    *(p for p in (ROOT / "examples").iterdir() if p.suffix in (".py", ".yaml")),
    *(ROOT / "docs" / "notebooks").glob("*.ipynb"),
]


def test_all_examples_and_notebooks_are_listed_with_their_titles() -> None:
    result = CliRunner().invoke(app, ["examples", "--json"])
    rows = {row["name"]: row for row in json.loads(result.output)["examples"]}
    assert set(rows) == {path.stem for path in SOURCES}
    assert rows["bricard_loop"] == {
        "name": "bricard_loop",
        "kind": "example",
        "title": "Bricard's loop: an overconstrained loop of five rods and six hinges that can move.",
    }
    assert rows["1_first_mechanism"]["kind"] == "notebook"
    assert all(20 <= len(row["title"]) <= 140 for row in rows.values() if row["kind"] == "example")


def test_the_table_fits_eighty_columns() -> None:
    result = CliRunner().invoke(app, ["examples"], terminal_width=80)
    assert "crank_slider_tolerances" in result.output and "2 Sensitivities" in result.output
    assert max(map(len, result.output.splitlines())) <= 80


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: p.stem)
def test_a_copy_is_the_file_itself(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder"
    result = CliRunner().invoke(app, ["examples", source.stem, "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert (out / source.name).read_bytes() == source.read_bytes()
    assert f"wrote {out / source.name}; next: " in result.output.replace("\n", "")


def test_existing_files_are_kept_and_unknown_names_are_refused(tmp_path: Path) -> None:
    mine = tmp_path / "bicycle.py"
    mine.write_text("mine", encoding="utf-8")
    arguments = ["examples", "bicycle", "--out", str(tmp_path)]
    kept = CliRunner().invoke(app, arguments).exception
    assert isinstance(kept, vm.ModelError) and "exists already" in str(kept)
    assert mine.read_text(encoding="utf-8") == "mine"
    assert CliRunner().invoke(app, [*arguments, "--force"]).exit_code == 0
    assert mine.read_text(encoding="utf-8").startswith('"""A bicycle')
    unknown = CliRunner().invoke(app, ["examples", "bicicle"]).exception
    assert isinstance(unknown, vm.ModelError) and "did you mean 'bicycle'" in str(unknown)


def test_installed_files_are_found_without_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from varimech.cli import examples

    class Installed(PurePosixPath):
        def locate(self) -> Path:
            return tmp_path / self

    names = ("share/varimech/examples/bicycle.py", "varimech/elements/bar.py", "varimech/py.typed")
    monkeypatch.setattr(examples, "__file__", str(tmp_path / "a" / "b" / "c" / "examples.py"))
    monkeypatch.setattr(examples, "files", lambda name: [Installed(path) for path in names])
    assert available() == {"bicycle": tmp_path / "share" / "varimech" / "examples" / "bicycle.py"}
