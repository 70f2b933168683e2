"""Bundles: a program with its description and a small runner, for machines without Varimech."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..core.atomic_files import write_text
from ..core.errors import ModelError, unknown_name
from .compiler import FLAGS
from .cuda_source import FIELDS_ON_GPU, THREADS, cuda_source, scheme_source
from .native_run import FIELDS
from .sampler import Sampler

TARGETS = {"c": "program.c", "cuda": "kernel.cu"}
CHECKED = 16
"""Runs whose results go into a bundle, for a check on the machine that it is used on."""


def write_bundle(
    folder: Path, sampler: Sampler, target: str, about: Mapping[str, Any]
) -> list[Path]:
    """Write the files of a bundle; `about` is what it says of the mechanism."""
    if target not in TARGETS:
        raise unknown_name("target", target, TARGETS)
    if sampler.native.kernels.loops:
        raise ModelError(
            f"mechanism {about['mechanism']!r} is large: its functions are tables, which are not"
            " exported"
        )
    if sampler.fixed:
        names = [about["parameters"][k]["name"] for k in sampler.fixed]
        raise ModelError(
            f"mechanism {about['mechanism']!r}: {', '.join(map(repr, names))} moves a jump, kink or"
            " pulse in time, whose place is part of what is exported; make it a number of the"
            " model instead of a parameter"
        )
    values = _values_nearby(sampler)
    batch = sampler.description
    written = {
        TARGETS[target]: cuda_source(sampler.native) if target == "cuda" else _c_source(sampler),
        "bundle.json": json.dumps(
            {
                **about,
                "target": target,
                "source": TARGETS[target],
                "times": sampler.times.tolist(),
                "limits": list(map(float, sampler.limits)),
                "flags": list(FLAGS),
                "fields": FIELDS_ON_GPU if target == "cuda" else FIELDS,
                "batch": {
                    **batch,
                    "threads": THREADS,
                    "arrays": {name: a.tolist() for name, a in batch["arrays"].items()},
                },
                "check": {"values": values.tolist(), "results": sampler(values).values.tolist()},
            },
            indent=1,
        ),
        "run.py": Path(__file__).with_name("batch.py").read_text(encoding="utf-8"),
    }
    for name, text in written.items():
        write_text(folder / name, text)
    return [folder / name for name in written]


def _values_nearby(sampler: Sampler) -> np.ndarray:
    """Some sets of values close to the nominal ones that go well."""
    nominal = sampler.inputs.nominal
    shares = np.random.default_rng(0).uniform(-0.01, 0.01, (CHECKED, nominal.size))
    rows = nominal * (1 + shares)
    good = sampler(rows).done
    if not good.any():
        raise ModelError(
            "none of the runs with values within 1 % of the nominal ones went well, so there is"
            " nothing to export"
        )
    return np.asarray(rows[good])


def _c_source(sampler: Sampler) -> str:
    table = "&vm_table" if sampler.native.scheme else "0"
    offer = f"VM_EXPORT const void *vm_scheme_table(void) {{ return {table}; }}\n"
    return "\n".join([sampler.native.source, scheme_source(sampler.native.scheme, "const"), offer])
