"""Reads files that nobody would write, and tells which of them are not met with a mechanism or an
error that says where and why.

    python tools/harden/fuzz_files.py --count 100000             # seed 0, inputs 0 … 99999; one in ten is a URDF file
    python tools/harden/fuzz_files.py --first 4711 --count 1     # one of them again

Of those that are read, some are written and read again, and some built and take two steps. A fault
is any other exception or warning, an error without its place, a text that is another one after
reading it again, more than PATIENCE seconds or GROWTH megabytes, or a file that was not there
before.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import numpy as np
from mutated_files import model_file, robot_file

import varimech as vm

PATIENCE, PATIENCE_TO_RUN, MEMORY = 5.0, 60.0, 4 << 30
"""Seconds of the processor to read an input, and to build and run it, which includes to explain why
it cannot be; bytes for all.
"""
WRITE_ONE_IN, RUN_ONE_IN, ROBOT_ONE_IN = 3, 7, 10
GROWTH = 300.0
"""Megabytes by which the peak of the process's memory may grow while an input is read: a file of a
few kB needs some.
"""
LARGEST = 8
"""Bodies and segments of beams of what is built: larger ones only take longer."""


class Hang(BaseException):
    """An input took too long."""


class Fault(Exception):
    """What no input may lead to."""


@dataclass
class Accumulator:
    """What became of inputs."""

    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)
    faults: dict[str, list[int]] = field(default_factory=dict)


@contextmanager
def in_time(seconds: float) -> Iterator[None]:
    """Ends what takes too long; what does not come back to Python ends the process, with its
    traceback.
    """

    def end(number: int, frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    faulthandler.dump_traceback_later(60 * seconds, exit=True)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGPROF, before)


def try_input(folder: Path, number: int, seed: int = 0) -> str:
    """What becomes of an input: "refused", "read", "ran" or "did not run".

    Raises:
        Exception: whatever is neither a mechanism nor an error with its place.
    """
    robot = number % ROBOT_ONE_IN == 0
    path = folder / ("input.urdf" if robot else "input.yaml")
    path.write_bytes(robot_file(seed, number) if robot else model_file(seed, number))
    before = _peak()
    try:
        with in_time(PATIENCE):
            mechanism = vm.Mechanism.from_urdf(path) if robot else vm.Mechanism.from_file(path)
    except vm.ModelError as error:
        _check_told(error, path)
        return "refused"
    finally:
        path.unlink()
        if left := list(folder.iterdir()):
            raise Fault(f"left behind {left}")
        if (growth := _peak() - before) > GROWTH:
            raise Fault(f"{growth:.0f} MB to read it")
    if number % WRITE_ONE_IN == 0:
        _check_written(mechanism, folder)
    if number % RUN_ONE_IN or _size(mechanism) > LARGEST:
        return "read"
    try:
        with in_time(PATIENCE_TO_RUN):
            run = mechanism.simulate(2e-3, step=1e-3, backend="interpreted")
    except vm.VarimechError:
        return "did not run"
    if not np.isfinite(run.live.trajectory.states).all():
        raise Fault("numbers that are none")
    return "ran"


def _peak() -> float:
    """Largest memory of the process so far (MB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _size(mechanism: vm.Mechanism) -> int:
    return len(mechanism.bodies) + sum(beam.segments for beam in mechanism.data.beams)


def _check_told(error: vm.ModelError, path: Path) -> None:
    message = str(error)
    if not message.startswith(str(path)) or (
        path.suffix == ".yaml" and not isinstance(error, vm.FileError)
    ):
        raise Fault("an error without its file") from error
    if len(message) > 4000:
        raise Fault(f"an error of {len(message)} characters")


def _check_written(mechanism: vm.Mechanism, folder: Path) -> None:
    """What is read is written, and is the same when it is read again."""
    try:
        text = mechanism.to_text()
    except vm.ModelError:
        return
    path = folder / "again.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        again = vm.Mechanism.from_file(path).to_text()
    except vm.FileError as error:
        raise Fault(f"written, but not read again: {error.reason}") from None
    finally:
        path.unlink()
    if again != text:
        raise Fault("another text after reading it again")


def fuzz(numbers: range, seed: int, kept: Path | None, tally: Accumulator) -> None:
    """Try inputs, and count what becomes of them."""
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        for done, number in enumerate(numbers, 1):
            try:
                tally.outcomes[try_input(Path(folder), number, seed)] += 1
            except (Exception, Hang) as error:
                _note(tally, error, number, seed, kept)
            if done % 1000 == 0 or done == len(numbers):
                rate, largest = done / (time.process_time() - began), _peak()
                faults = sum(map(len, tally.faults.values()))
                print(
                    f"{done:7d} inputs, {rate:4.0f} a second of the processor, {largest:5.0f} MB,"
                    f" {dict(tally.outcomes)}, {faults} faults",
                    flush=True,
                )


def _note(
    tally: Accumulator, error: BaseException, number: int, seed: int, kept: Path | None
) -> None:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "varimech" in f.filename]
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    kind = f"{type(error).__name__} at {place}"
    if kind not in tally.faults:
        print(f"FAULT, input {number}: {kind}: {' '.join(str(error).split())[:200]}", flush=True)
        if kept is not None:
            robot = number % ROBOT_ONE_IN == 0
            made = robot_file(seed, number) if robot else model_file(seed, number)
            (kept / f"{number}.{'urdf' if robot else 'yaml'}").write_bytes(made)
    tally.faults.setdefault(kind, []).append(number)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for one input of each kind of fault")
    given = parser.parse_args()
    if given.keep is not None:
        given.keep.mkdir(parents=True, exist_ok=True)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("error")
    tally = Accumulator()
    fuzz(range(given.first, given.first + given.count), given.seed, given.keep, tally)
    for kind, numbers in sorted(tally.faults.items(), key=lambda item: -len(item[1])):
        print(f"{len(numbers):6d} × {kind}  (inputs {', '.join(map(str, numbers[:5]))})")
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
