"""The command that tells how far a gradient can be trusted."""

from __future__ import annotations

from typing import Annotated

import typer

from . import options as o
from .results import Told, conduct
from .studies import gradient_told


def certify(
    context: typer.Context,
    model: o.Model,
    objective: o.Objective = None,
    wrt: o.Wrt = None,
    duration: o.Duration = None,
    step: o.Step = None,
    tolerance: o.Tolerance = None,
    integrator: o.Integrator = None,
    formulation: o.Formulation = None,
    coordinates: o.Coordinates = None,
    wanted: Annotated[float, typer.Option(help="Digits from which on a derivative is trusted.")] = 3.0,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Tell how many digits of a model's gradient can be trusted, and why no more.

    Every road there is computes it once more, also with shorter steps; and the motion is looked at for what spoils derivatives.

    Exit code 0: it is trusted; 1: it is not; 2: it could not be computed.

    Examples:

      varimech certify five-bar

      varimech certify my.yaml --objective travel --wrt rod --tolerance 1e-10 --out out/certificate
    """
    m = o.find_model(model)
    given = o.settings(context)

    def tell(gradient: object) -> Told:
        told = gradient_told(gradient, True, wanted)
        certificate = told.certificate
        files = {"certificate.json": certificate.save, "certificate.png": lambda path: certificate.plot().savefig(path)}
        return Told(str(certificate), certificate.to_json(), told.results, files, certificate, told.code)

    conduct(m, lambda: m.study("sensitivity", **given), tell, as_json=as_json, out=out)
