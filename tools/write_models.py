"""Writes the model files of benchmarks that are built in Python, and the JSON Schema of model
files: `python tools/write_models.py`.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from varimech.benchmarks import BENCHMARKS
from varimech.files.document import json_schema
from varimech.model.user_functions import StateExpression

SCHEMA = Path(__file__).parent.parent / "docs" / "model.schema.json"


def model_text(name: str) -> str:
    """The model file of a benchmark."""
    entry = BENCHMARKS[name]
    module = import_module(f"varimech.benchmarks.{entry.module}")
    studies: dict[str, Any] = {}
    if hasattr(module, "objectives"):
        studies["objectives"] = {
            key: told(objective) for key, objective in module.objectives().items()
        }
    studies["simulate"] = {"duration": module.DURATION, **entry.settings}
    if "objectives" in studies:
        studies["uncertainty" if name.endswith("tolerance") else "sensitivity"] = {}
    return str(entry.mechanism().to_text(studies=studies))


def told(objective: Any) -> dict[str, str]:
    """An objective as files have it."""
    parts = {"integral": objective.integrand, "final": objective.final}
    texts = {kind: part.text for kind, part in parts.items() if isinstance(part, StateExpression)}
    assert texts and len(texts) == sum(part is not None for part in parts.values()), (
        "objectives of benchmarks are texts"
    )
    return {**texts, "unit": objective.unit}


def schema_text() -> str:
    return json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name, entry in BENCHMARKS.items():
        if entry.mechanism().studies is not None:
            continue  # its file is its source
        entry.model_file.write_text(model_text(name), encoding="utf-8")
        print(entry.model_file.name)
    SCHEMA.write_text(schema_text(), encoding="utf-8")
    print(SCHEMA.name)
