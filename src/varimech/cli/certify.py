"""The command that tells how far a gradient can be trusted."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from . import options as o
from .results import Asked, Told, conduct
from .studies import WANTED, certified, gradient_told


@o.running("every", "backend", "set_")
def certify(
    context: typer.Context,
    model: o.Model,
    objective: o.Objective = None,
    wrt: o.Wrt = None,
    wanted: Annotated[
        float, typer.Option(help="Digits from which on a derivative is trusted.")
    ] = WANTED,
    as_json: o.Json = False,
    out: o.Out = None,
) -> None:
    """Tell how many digits of a model's gradient can be trusted, and why no more.

    Every road there is computes it once more, also with shorter steps; and the motion is looked at
    for what spoils derivatives.

    Exit code 0: it is trusted; 1: it is not; 2: it could not be computed.

    Examples:

      varimech certify five-bar

      varimech certify my.yaml --objective travel --wrt rod --tolerance 1e-10 --out out/certificate
    """
    asked = Asked(o.find_model(model), "sensitivity", o.settings(context))

    def tell(found: tuple[Any, Any]) -> Told:
        told = gradient_told(found)
        certificate = told.certificate
        if certificate is None:  # stopped before it was there
            return told
        files = {
            "certificate.json": certificate.save,
            "certificate.png": lambda path: certificate.plot().savefig(path),
        }
        return Told(
            str(certificate), certificate.to_json(), told.results, files, certificate, told.code
        )

    conduct(asked, lambda: certified(asked.executed(), wanted), tell, as_json=as_json, out=out)
