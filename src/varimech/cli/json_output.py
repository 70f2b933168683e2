"""JSON output, in which NaN and infinity are null."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from ..core.atomic_files import write_text


def print_json(data: Any) -> None:
    """Print JSON on one line of standard output."""
    typer.echo(_text(data))


def give_json(data: Any, as_json: bool, out: Path | None) -> None:
    """Print JSON if requested, and write it to a file if one is given."""
    if out is not None:
        write_text(out, _text(data) + "\n")
    if as_json:
        print_json(data)


def _text(data: Any) -> str:
    """Standard JSON, without NaN and infinity."""
    return json.dumps(_plain(data), allow_nan=False)


def _plain(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_plain(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
