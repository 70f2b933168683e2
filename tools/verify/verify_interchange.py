"""Acceptance figures of interchange, of functions for frameworks, of what notebooks show, and of the gallery."""

from __future__ import annotations

import base64
import ctypes
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from acceptance import Figure

import varimech as vm
from varimech.benchmarks import five_bar

ROOT = Path(__file__).parents[2]
URDF = ROOT / "tests" / "data" / "urdf"


def urdf_files() -> Iterator[Figure]:
    """URDF import: a closed loop against the same mechanism built in Python, and a hostile file."""
    from test_urdf import BOMB

    imported = vm.Mechanism.from_urdf(
        URDF / "four_bar.urdf", gravity=(0, -9.81, 0), positions={"A": 1.0}, near={"D": -0.1}
    )
    stated = vm.Mechanism("four-bar", gravity=(0, -9.81))
    stated.ground_point("A", (0, 0))
    stated.ground_point("D", (0.5, 0))
    for name, (a, b), length, mass, inertia in (
        ("crank", "AB", 0.2, 0.5, 2e-3),
        ("coupler", "BC", 0.5, 1.0, 2e-2),
        ("rocker", "DC", 0.4, 0.8, 1e-2),
    ):
        stated.bar(name, a, b, length=length, mass=mass, inertia=inertia)
    for name in "ABCD":
        stated.revolute(name)
    stated.start(angle={"crank": 1.0}, near={"C": (0.5, 0.4)})
    places = [
        m.simulate(1.0, tolerance=1e-11, output=0.1).position("C").to_numpy()[:, :2]
        for m in (imported, stated)
    ]
    yield Figure(
        "four-bar with a loop tag: difference of point C within 1 s (m)",
        float(np.abs(places[0] - places[1]).max()),
        1e-8,
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bomb.urdf"
        file.write_text(f"{BOMB}<robot name='&j;'/>", encoding="utf-8")
        began = time.perf_counter()
        try:
            vm.Mechanism.from_urdf(file)
            refused = np.inf
        except vm.ModelError:
            refused = time.perf_counter() - began
    yield Figure("time to refuse a URDF file whose entities expand to 10 GB (s)", refused, 1.0)


def equations_in_c() -> Iterator[Figure]:
    """Exported equations of motion of the five-bar: compiled C against CasADi."""
    e = five_bar.mechanism().equations()
    with tempfile.TemporaryDirectory() as folder:
        source, library = e.to_c(folder, "five_bar"), Path(folder) / "five_bar.so"
        subprocess.run(
            ["cc", "-O2", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"], check=True
        )
        call = ctypes.CDLL(str(library)).five_bar
        want = [np.array(x) for x in e.function(e.q, e.v + 0.1, 0.0, e.parameters)]
        got = [np.zeros(x.T.shape) for x in want]
        pointer = np.ctypeslib.ndpointer(dtype=float)
        call.argtypes, call.restype = (
            [pointer, pointer, ctypes.c_double, *[pointer] * (1 + len(got))],
            None,
        )
        call(e.q, e.v + 0.1, 0.0, e.parameters, *got)
    off = max(
        float(np.abs(g.T - w).max() / np.abs(w).max(initial=1e-300))
        for g, w in zip(got, want, strict=True)
        if w.size
    )
    yield Figure("largest relative difference", off, 1e-12)


def frameworks() -> Iterator[Figure]:
    """Derivatives in JAX and PyTorch against those of the problem, and the gradient checks of PyTorch."""
    import jax
    import torch
    from jax.test_util import check_grads

    jax.config.update("jax_enable_x64", True)
    m = five_bar.mechanism()
    p = m.problem(five_bar.objectives(), ["Ls1", "Ls2"], duration=1.0, step=0.01)
    in_jax, in_torch = p.jax(), p.torch()
    x = in_jax.function.x0
    first, second = p.gradient().gradient.to_numpy(), p.hessian().hessian.to_numpy()
    t = torch.tensor(x, requires_grad=True)
    results = {
        "JAX: gradients": (np.asarray(jax.jit(jax.jacrev(in_jax))(x)), first),
        "JAX: Hessians": (np.asarray(jax.hessian(in_jax)(x)), second),
        "PyTorch: gradients": (torch.autograd.functional.jacobian(in_torch, t).numpy(), first),
        "PyTorch: Hessians": (torch.func.hessian(in_torch)(t.detach()).numpy(), second),
    }
    for name, (computed, expected) in results.items():
        off = float(np.abs(computed - expected).max() / np.abs(expected).max())
        yield Figure(f"{name}, relative difference", off, 1e-12)
    check_grads(in_jax, (x,), order=2)  # raises where they are wrong
    passed = torch.autograd.gradcheck(in_torch, (t,)) + torch.autograd.gradgradcheck(in_torch, (t,))
    yield Figure("number of PyTorch checks that fail", 2.0 - passed, 0.5)


def notebooks() -> Iterator[Figure]:
    """Pictures of the five-bar in a notebook."""
    m = five_bar.mechanism()
    shown = [x._display() for x in (m, m.parameters, m.simulate(1.0), m.topology())]
    results = [base64.b64decode(x) for html in shown for x in re.findall(r"base64,([^\"]+)", html)]
    yield Figure("number of missing pictures, of 4", 4.0 - len(results), 0.5)
    yield Figure("total size of the pictures (MB)", sum(map(len, results)) / 1e6, 2.0)


def gallery() -> Iterator[Figure]:
    """Gallery: examples with a script, a test and a picture."""
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").glob("test_*.py")]
    names = [path.stem for path in (ROOT / "examples").glob("*.py")]
    good = [
        n
        for n in names
        if f"examples/{n}.py" in page
        and any(re.search(rf"^ *import {n}\b", text, re.M) for text in tests)
        and (ROOT / "docs" / "images" / f"example_{n}.png").exists()
    ]
    yield Figure(
        "number of examples without a test or a picture", float(len(names) - len(good)), 0.5
    )
    yield Figure("number of examples missing to eight", float(max(0, 8 - len(good))), 0.5)
