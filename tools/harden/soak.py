"""Builds and runs mechanisms in one process, thousands of them, and tells what it keeps: memory,
objects, files, threads.

    python tools/harden/soak.py --builds 10000

Every mechanism is another one. Each is built and run; now and then there are sensitivities,
adjoints, ensembles, statistics, impacts, model files, saved results, reports, compiled runs, refusals
and sessions of the studio, with a worker, sliders, undo and mistakes in the text. What is kept after
the first tenth must not grow with the number of builds.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import varimech as vm
from varimech.studio.session import Session
from varimech.studio.worker import Worker

LEAK = 1000.0
"""Bytes a build, by which memory may grow: the system's allocator gives not everything back."""


def mechanism(number: int) -> vm.Mechanism:
    """A chain of one to three bars, planar or spatial, with numbers and a force of its own."""
    dice = np.random.default_rng(number)
    spatial, bars = bool(dice.integers(2)), int(dice.choice([1, 2, 3], p=[0.7, 0.2, 0.1]))
    m = vm.Mechanism(f"soak {number}", gravity=(0, 0, -9.81) if spatial else (0, -9.81))
    L, k = (
        m.parameter(f"L{number % 97}", float(dice.uniform(0.5, 1.5))),
        m.parameter("k", float(dice.uniform(1, 50))),
    )
    zero = (0, 0, 0) if spatial else (0, 0)
    m.ground_point("P0", zero)
    for i in range(bars):
        if spatial:
            inertia, ends = (0.01, 0.1, 0.1), {f"P{i}": zero, f"P{i + 1}": (L, 0, 0)}
            m.body(f"b{i}", mass=1 + i, inertia=inertia, com=(L / 2, 0, 0), points=ends)
        else:
            m.bar(f"b{i}", f"P{i}", f"P{i + 1}", length=L, mass=1 + i)
        m.revolute(f"P{i}", axis=(0, 1, 0) if spatial else None)
    m.torsional_spring("spring", "P0", stiffness=k, damping=0.1)
    if number % 3 == 0:
        m.force("push", f"P{bars}", lambda s: (vm.sin(s.time * number), *zero[1:]))
    m.start(angle={f"P{i}": float(dice.uniform(-1, 1)) for i in range(bars)})
    return m


def goal(m: vm.Mechanism) -> vm.Objective:
    """Something to differentiate."""
    return vm.final(lambda s: s.angle("P0") ** 2, unit="rad²")


def sensitivity(m: vm.Mechanism, folder: Path) -> None:
    m.sensitivity(goal(m), duration=2e-3, step=1e-3, backend="interpreted")


def adjoint(m: vm.Mechanism, folder: Path) -> None:
    m.sensitivity(goal(m), duration=2e-3, step=1e-3, method="adjoint", backend="interpreted")


def ensemble(m: vm.Mechanism, folder: Path) -> None:
    m.ensemble(goal(m), {"k": [1.0, 2.0, 3.0]}, duration=2e-3, step=1e-3, backend="interpreted")


def saved(m: vm.Mechanism, folder: Path) -> None:
    m.simulate(2e-3, step=1e-3, backend="interpreted").save(folder / "run.nc")
    vm.load_run(folder / "run.nc").position("P1")


def filed(m: vm.Mechanism, folder: Path) -> None:
    plain = vm.Mechanism.from_file(vm_starter())
    vm.Mechanism.from_file(plain.to_file(folder / "model.yaml")).simulate(
        2e-3, step=1e-3, backend="interpreted"
    )


def reported(m: vm.Mechanism, folder: Path) -> None:
    vm.report(folder / "report.html", m.simulate(2e-3, step=1e-3, backend="interpreted"))


def compiled(m: vm.Mechanism, folder: Path) -> None:
    m.simulate(2e-3, step=1e-3, backend="native")


def refused(m: vm.Mechanism, folder: Path) -> None:
    for wrong in (
        lambda: m.simulate(-1.0),
        lambda: m.bar("b0", "A", "B", length=1, mass=1),
        lambda: m.parameter("k", 1.0),
    ):
        try:
            wrong()
        except vm.VarimechError:
            continue
        raise AssertionError("not refused")


def statistics(m: vm.Mechanism, folder: Path) -> None:
    m.parameter("c", 0.2, tolerance=0.01)
    m.torsional_spring("second", "P0", stiffness="c")
    wanted = {"mean": vm.mean(goal(m)), "deviation": vm.std(goal(m))}
    p = m.problem(wanted, duration=2e-3, step=1e-3, backend="interpreted", progress=False)
    p.statistics(method="moments", order=1)


def impacts(m: vm.Mechanism, folder: Path) -> None:
    height = 0.05
    ball = vm.Mechanism("ball", gravity=(0, -9.81))
    ball.body("ball", mass=1, inertia=0.01, points={"C": (0, 0)}, floating=True)
    ball.ground_point("floor", (0, 0))
    ball.contact("floor", "ball.C", "ground.floor", normal=(0, 1), radius=0.01, restitution=0.5)
    ball.start(position={"ball.C": (0, height)}, angle={"ball": 0.0})
    run = ball.simulate(0.15, tolerance=1e-6, backend="interpreted")
    assert len(run.events) > 0


def studio(m: vm.Mechanism, folder: Path) -> None:
    path = folder / "studio.yaml"
    path.write_text(vm_starter().read_text(encoding="utf-8"), encoding="utf-8")
    session = Session(vm.Mechanism, path.read_text(encoding="utf-8"), path)
    changed = threading.Condition()
    published: list[int] = []

    def publish(message: bytes) -> None:
        with changed:
            published.append(session.revision)
            changed.notify_all()

    worker = Worker(session, publish)
    try:
        assert session.engine is not None
        name = str(session.engine.parameters[0]["name"])
        nominal = float(session.engine.mechanism.data.parameter_set.parameters[name].value)
        for factor in (1.01, 1.02):
            session.set_values({name: nominal * factor}, final=True)
            worker.wake()
        session.edit(session.text + "nonsense: [")
        session.undo()
        worker.wake()
        with changed:
            assert changed.wait_for(lambda: session.revision in published, timeout=60)
        session.save()
    finally:
        worker.end()


def vm_starter() -> Path:
    return Path(vm.__file__).parent / "files" / "starter.yaml"


NOW_AND_THEN: dict[int, Callable[[vm.Mechanism, Path], None]] = {
    10: sensitivity,
    17: refused,
    19: adjoint,
    23: ensemble,
    101: filed,
    103: saved,
    107: compiled,
    109: statistics,
    113: impacts,
    211: studio,
    499: reported,
}
"""One in so many builds."""


def held() -> tuple[float, int, int, int]:
    """Memory (MB), open files, threads and objects of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    memory = pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    return memory, len(os.listdir("/proc/self/fd")), threading.active_count(), len(gc.get_objects())


def soak(builds: int, every: int) -> list[tuple[int, float, int, int, int]]:
    """What is held after so many builds, printed as it comes."""
    rows, began = [], time.perf_counter()
    print("  builds       MB  files  threads   objects      s", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1, builds + 1):
            m = mechanism(number)
            m.simulate(2e-3, step=1e-3, backend="interpreted")
            for often, what in NOW_AND_THEN.items():
                if number % often == 0:
                    what(m, Path(folder))
            if number % every == 0 or number == builds:
                del m
                rows.append((number, *held()))
                print(
                    "{:8d} {:8.1f} {:6d} {:8d} {:9d}".format(*rows[-1]),
                    f"{time.perf_counter() - began:6.0f}",
                    flush=True,
                )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--builds", type=int, default=10_000)
    parser.add_argument("--every", type=int, default=500)
    given = parser.parse_args()
    rows = soak(given.builds, given.every)
    first = next(row for row in rows if row[0] >= given.builds / 10)
    last = rows[-1]
    growth = (last[1] - first[1]) * 1e6 / max(1, last[0] - first[0])
    files, threads = last[2] - first[2], last[3] - first[3]
    print(
        f"after {first[0]} builds memory grew by {growth:.0f} bytes a build; files {files:+d},"
        f" threads {threads:+d}"
    )
    return int(growth > LEAK or files > 0 or threads > 0)


if __name__ == "__main__":
    sys.exit(main())
