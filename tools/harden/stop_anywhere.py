"""Sends a signal to the command `varimech` at many moments, and tells whether it ends cleanly at
each of them.

    python tools/harden/stop_anywhere.py --moments 40 --signal INT

Clean means: a known exit code, a message, no traceback, no half of a file, no process left. Moments
are spread evenly over a whole run from a cold cache: loading, reading, deriving, compiling,
running, and writing all files with a report; or over a study with a checkpoint.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import xarray as xr

import varimech as vm

COMMANDS = {
    "run": ("run", "five-bar", "--duration", "40", "--step", "1e-3", "--backend", "native"),
    "uncertainty": (
        "uncertainty",
        "pendulum-tolerance",
        "--method",
        "monte-carlo",
        "--samples",
        "3000",
    ),
    "benchmark": ("benchmark", "pendulum"),
}
"""Each with files and a report."""
CODES = {signal.SIGINT: (0, 130, -signal.SIGINT), signal.SIGTERM: (0, 143, -signal.SIGTERM)}


def start(command: str, out: Path, cache: Path) -> subprocess.Popen[str]:
    """The command as a process, in a session of its own, so that those it leaves can be told."""
    program = "import sys; sys.argv[0] = 'varimech'; from varimech_command import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", program, *COMMANDS[command], "--out", str(out)],
        env={**os.environ, "VARIMECH_CACHE": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def faults(
    out: Path, cache: Path, code: int, stated: str, number: signal.Signals, session: int
) -> list[str]:
    """What is not clean."""
    results = []
    if code not in CODES[number]:
        results.append(f"exit code {code}")
    if "Traceback" in stated or "Exception ignored" in stated:
        results.append("a traceback")
    if code > 0 and "stopped" not in stated:
        results.append("no message")
    results += [f"{path.name} is left" for folder in (out, cache) for path in folder.rglob(".*")]
    results += [f"{path.name} cannot be read" for path in out.rglob("*.*") if not _readable(path)]
    deadline = time.monotonic() + 2
    while (left := _processes(session)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return results + [f"process {each} is left" for each in left]


def _readable(path: Path) -> bool:
    try:
        match path.suffix:
            case ".nc":
                xr.open_dataset(path, engine="h5netcdf").close()
            case ".json":
                json.loads(path.read_text(encoding="utf-8"))
            case ".yaml":
                vm.Mechanism.from_file(path)
            case ".html":
                return path.read_text(encoding="utf-8").rstrip().endswith("</html>")
        return path.stat().st_size > 0
    except Exception:
        return False


def _processes(session: int) -> list[str]:
    """Names of processes of a session that are not ending."""
    results = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = stat.read_text(encoding="utf-8").rsplit(")", 1)
        except OSError:
            continue
        if rest.split()[3] == str(session) and rest.split()[0] != "Z":
            results.append(name.split("(", 1)[1])
    return results


def stopped_at(command: str, moment: float, number: signal.Signals) -> tuple[int, list[str], str]:
    """Exit code, faults and what was told, for a signal after so many seconds."""
    with tempfile.TemporaryDirectory() as folder:
        out, cache = Path(folder, "out"), Path(folder, "cache")
        process = start(command, out, cache)
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
        _, stated = process.communicate(timeout=120)
        return (
            process.returncode,
            faults(out, cache, process.returncode, stated, number, process.pid),
            stated,
        )


def whole(command: str) -> float:
    """Seconds that it takes by itself, from a cold cache."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        process = start(command, Path(folder, "out"), Path(folder, "cache"))
        _, stated = process.communicate()
        assert process.returncode == 0, stated
        return time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--moments", type=int, default=40)
    parser.add_argument("--signal", choices=("INT", "TERM"), default="INT")
    parser.add_argument("--command", choices=COMMANDS, default="run")
    given = parser.parse_args()
    number = signal.Signals[f"SIG{given.signal}"]
    seconds = whole(given.command)
    print(
        f"varimech {given.command}: {seconds:.1f} s by itself; SIG{given.signal} at {given.moments}"
        " moments",
        flush=True,
    )
    codes, wrong = collections.Counter[int](), 0
    for k in range(given.moments):
        moment = 0.05 + (seconds - 0.05) * k / given.moments
        code, computed, stated = stopped_at(given.command, moment, number)
        codes[code] += 1
        wrong += bool(computed)
        last = stated.strip().splitlines()[-1:] or [""]
        print(
            f"{moment:7.2f} s  exit {code:4d}  {'; '.join(computed) or 'clean'}  {last[0][:90]}",
            flush=True,
        )
    print(f"exit codes {dict(codes)}; {wrong} of {given.moments} not clean")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
