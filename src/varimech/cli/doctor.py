"""Diagnosis of the installation: versions, compiler, cache, extras."""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from ..backends.compiler import BuildError, cached_library, find_compiler, load_library
from ..backends.cuda import check_gpu
from ..backends.library_cache import builds_under_way, cache_folder, cache_space, entries_of
from ..backends.machine import machine_source
from ..backends.private_folders import exposure
from ..core.errors import ModelError

PACKAGES = (
    "varimech",
    "casadi",
    "numpy",
    "scipy",
    "xarray",
    "h5netcdf",
    "matplotlib",
    "rich",
    "typer",
)
EXTRAS = {
    "starlette": "studio",
    "anywidget": "notebook",
    "distributed": "cluster",
    "openturns": "uq",
    "blackjax": "nuts",
    "jax": "jax",
    "torch": "torch",
    "cupy": "cuda",
    "trimesh": "meshes",
    "urdf_parser_py": "urdf",
}
"""Packages that some analyses need → the extra that installs them."""
PROBE = "int vm_probe(void) { return 42; }\n"


@dataclass(frozen=True)
class Finding:
    """One checked item."""

    what: str
    status: str
    fine: bool
    remedy: str = ""


def examine() -> list[Finding]:
    """Check everything that running mechanisms depends on."""
    findings = [
        Finding(
            "Python",
            f"{platform.python_version()} on {platform.platform()}, {os.cpu_count()} cores",
            True,
        )
    ]
    findings += [_package(name) for name in PACKAGES]
    findings += [_extra(name, extra) for name, extra in EXTRAS.items()]
    findings.append(_compiler())
    findings.append(_build())
    findings.append(_machine())
    findings.append(_cache())
    findings.append(_builds())
    return findings


def _package(name: str) -> Finding:
    try:
        return Finding(name, version(name), importlib.util.find_spec(name) is not None)
    except PackageNotFoundError:
        return Finding(name, "missing", False, f"pip install {name}")


def _extra(name: str, extra: str) -> Finding:
    """Whether an extra is installed; its absence is no problem."""
    if importlib.util.find_spec(name) is None:
        return Finding(
            f"extra {extra}", f"{name} is not installed: pip install 'varimech[{extra}]'", True
        )
    if name != "cupy":
        return Finding(f"extra {extra}", f"{name} {version(name)}", True)
    try:
        check_gpu()
    except ModelError as error:
        return Finding(f"extra {extra}", "cupy without a GPU", False, str(error))
    return Finding(f"extra {extra}", "cupy with a GPU", True)


def _compiler() -> Finding:
    command = find_compiler()
    if command is None:
        return Finding(
            "C compiler",
            "none",
            False,
            "pip install ziglang, or install gcc or clang; until then runs are interpreted",
        )
    outcome = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    first = outcome.stdout.strip().splitlines()
    return Finding(
        "C compiler",
        f"{shlex.join(command)} ({first[0] if first else 'version unknown'})",
        outcome.returncode == 0,
    )


def _build() -> Finding:
    try:
        load_library(PROBE)
    except (BuildError, ModelError) as error:
        return Finding("native backend", "cannot build", False, str(error).splitlines()[0])
    return Finding("native backend", "builds", True)


def _machine() -> Finding:
    """The interpreter of bytecode, which executes code that is not compiled yet."""
    library = cached_library(machine_source())
    status = f"built: {library}" if library else "not built yet; the first run does, in 1 to 2 s"
    return Finding("bytecode interpreter", status, True)


def _builds() -> Finding:
    """Compilations of all processes that use the cache."""
    ages = [f"for {age:.0f} s" for age in builds_under_way(cache_folder())]
    return Finding("builds under way", ", ".join(ages) or "none", True)


def _cache() -> Finding:
    folder = cache_folder()
    entries = entries_of(folder)
    size = sum(size for _, size in entries.values())
    try:
        limit = cache_space()
    except ModelError as error:
        return Finding(
            "cache", f"{folder}: {len(entries)} libraries, {size / 1e6:.1f} MB", False, str(error)
        )
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    writable = existing.is_dir() and os.access(existing, os.W_OK)
    reason = exposure(folder.resolve()) if writable and existing == folder else None
    remedy = ""
    if not writable:
        remedy = (
            "set VARIMECH_CACHE to a writable folder; until then libraries are rebuilt in each"
            " process"
        )
    elif reason is not None:
        remedy = (
            f"not used, because {reason}; set VARIMECH_CACHE to a private folder of your own"
            " (mode 700)"
        )
    return Finding(
        "cache",
        f"{folder}: {len(entries)} libraries, {size / 1e6:.1f} of at most {limit:g} MB",
        not remedy,
        remedy,
    )
