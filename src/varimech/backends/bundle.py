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
from .constants import definitions
from .cuda_source import FIELDS_ON_GPU, scheme_source
from .gpu_kernel import gpu_kernel
from .machine import DRIVER, HOST, driver_text
from .native_run import FIELDS
from .sampler import Sampler

TARGETS = {"c": "program.c", "cuda": "kernel.cu"}
CHECKED = 16
"""Number of runs whose results are stored in a bundle, for a check on the machine that uses it."""


def write_bundle(
    folder: Path, sampler: Sampler, target: str, about: Mapping[str, Any]
) -> list[Path]:
    """Write the files of a bundle; `about` describes the mechanism."""
    if target not in TARGETS:
        raise unknown_name("target", target, TARGETS)
    if sampler.native.kernels.loops:
        raise ModelError(
            f"mechanism {about['mechanism']!r} is large: its functions are tables, which are not"
            " exported"
        )
    if moving := [k for k, (least, greatest) in sampler.ranges.items() if least == greatest]:
        names = [about["parameters"][k]["name"] for k in moving]
        raise ModelError(
            f"mechanism {about['mechanism']!r}: {', '.join(map(repr, names))} moves a jump, kink or"
            " pulse in time, whose place is part of what is exported; make it a number of the"
            " model instead of a parameter"
        )
    values = _values_nearby(sampler)
    checked = sampler(values)
    if target == "cuda":
        kernel = gpu_kernel(sampler)
        source, batch = kernel.source, kernel.description
    else:
        source = _c_source(sampler)
        batch = sampler.description(sampler.native, sampler.native.sizes)
    written = {
        TARGETS[target]: source,
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
                    "arrays": {name: a.tolist() for name, a in batch["arrays"].items()},
                },
                "check": {
                    "values": values.tolist(),
                    "results": checked.values.tolist(),
                    "gradients": None if checked.gradients is None else checked.gradients.tolist(),
                },
            },
            indent=1,
        ),
        "run.py": Path(__file__).with_name("batch.py").read_text(encoding="utf-8"),
    }
    for name, text in written.items():
        write_text(folder / name, text)
    return [folder / name for name in written]


def _values_nearby(sampler: Sampler) -> np.ndarray:
    """Return a few parameter sets close to the nominal one whose runs succeed."""
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
    native, files = sampler.native, ("scheme.c", *DRIVER, *HOST)
    functions = native.functions_source(split=True)  # all functions: a bundle has no bytecode
    driver = [definitions(), *map(driver_text, files)]
    return "\n".join([functions, *driver, scheme_source(native.scheme, "const"), offer])
