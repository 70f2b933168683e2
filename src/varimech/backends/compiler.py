"""Building shared libraries from C, once: found compiler, cache on disk by content, safe when several processes build at once.

A cache entry is a folder named by the hash of everything the library depends on. It is made under another name and renamed when complete, so
that it is either whole or not there; a checksum beside the library tells a damaged one, which is then built anew.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ..progress import progress_bar

FLAGS: tuple[str, ...] = (
    "-O2",
    "-march=native",
    "-ffp-contract=off",
    "-fno-tree-slp-vectorize",
    "-fno-math-errno",
    "-fPIC",
    "-fvisibility=hidden",
    "-shared",
    "-std=c11",
    "-w",
)
"""No contraction of products and sums: compiled and interpreted runs then agree to the last bit. GCC 12 contracts some all the same where it
finds vectors in straight-line code (vfmsubadd), so it must not look for them."""
LIBRARY, CHECKSUM = "program.so", "sha256"
NO_COMPILER = "no C compiler found (CC, cc, gcc, clang); `pip install ziglang` brings one for every platform"


class BuildError(Exception):
    """The compiler refused; its own words are in the message."""


def find_compiler() -> list[str] | None:
    """The command of the first C compiler found: $CC, cc, gcc, clang, or the `ziglang` package; None if there is none."""
    if given := os.environ.get("CC"):
        command = shlex.split(given)
        if shutil.which(command[0]):
            return command
    for name in ("cc", "gcc", "clang"):
        if path := shutil.which(name):
            return [path]
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc"]
    return None


def cache_folder() -> Path:
    """Where libraries are kept: $VARIMECH_CACHE, else `varimech` in the user's cache folder."""
    if given := os.environ.get("VARIMECH_CACHE"):
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    return Path(base) / "varimech"


def cached_library(source: str) -> Path | None:
    """The library built from this source, if it is in the cache and whole."""
    entry = cache_folder() / _key(source)
    return entry / LIBRARY if _whole(entry) else None


def build_library(source: str) -> Path:
    """The library for this source, from the cache or built now.

    Raises:
        BuildError: if there is no compiler, or it fails.
    """
    if (found := cached_library(source)) is not None:
        return found
    compiler = find_compiler()
    if compiler is None:
        raise BuildError(NO_COMPILER)
    folder = _writable(cache_folder())
    entry = folder / _key(source)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=folder) as made:
        fresh = Path(made) / "entry"
        fresh.mkdir()
        _compile(compiler, source, fresh)
        return _install(fresh, entry)


def _compile(compiler: list[str], source: str, folder: Path) -> None:
    text = folder / "program.c"
    text.write_text(source, encoding="utf-8")
    command = [*compiler, *FLAGS, str(text), "-o", str(folder / LIBRARY), "-lm"]
    failed, complaints = _carried_out(command)
    if failed:
        raise BuildError(f"{shlex.join(compiler)} failed:\n{complaints.strip()[-2000:]}")
    (folder / CHECKSUM).write_text(_digest(folder / LIBRARY), encoding="utf-8")


def _carried_out(command: list[str]) -> tuple[bool, str]:
    """Whether a command fails, and what it complains of; told on the terminal where it takes long."""
    with progress_bar("compiling", None) as tell, subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while True:
            try:
                _, complaints = process.communicate(timeout=0.25)
                return process.returncode != 0, complaints
            except subprocess.TimeoutExpired:
                tell(0)
            except BaseException:  # Ctrl-C: nothing is left behind
                process.kill()
                raise


def _install(fresh: Path, entry: Path) -> Path:
    """Give a complete entry its name; if another process was faster and its entry is whole, take that one."""
    for _ in range(3):
        try:
            fresh.rename(entry)
            return entry / LIBRARY
        except OSError:
            if _whole(entry):
                return entry / LIBRARY
            shutil.rmtree(entry, ignore_errors=True)
    raise BuildError(f"cannot replace the damaged cache entry {entry}; remove it by hand")


def _whole(entry: Path) -> bool:
    try:
        return (entry / CHECKSUM).read_text(encoding="utf-8") == _digest(entry / LIBRARY)
    except OSError:
        return False


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _key(source: str) -> str:
    parts = (source, " ".join(FLAGS), sys.platform, platform.machine(), _processor())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _processor() -> str:
    """What `-march=native` depends on; a cache may be shared between machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def _writable(folder: Path) -> Path:
    """The folder itself, or a temporary one where it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(tempfile.mkdtemp(prefix="varimech-"))
