"""The command that certifies a gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from . import options as o
from .studies import WANTED, certified, gradient_output
from .study_output import StudyOutput, StudyRequest, conduct

if TYPE_CHECKING:
    from .studies import Certified


@o.running("every", "backend", "set_")
def certify(
    context: typer.Context,
    objective: o.Objective = None,
    wrt: o.Wrt = None,
    wanted: Annotated[
        float, typer.Option(help="Number of correct digits that a trusted derivative must have.")
    ] = WANTED,
) -> None:
    """Determine how many digits of a gradient are reliable, and what limits them.

    The command recomputes the gradient with every available method and with refined steps, and
    checks the motion for non-smoothness, chaos and singular positions.

    Exit codes: 0: trusted; 1: not trusted; 2: failed; 130: stopped by Ctrl-C.

    Examples:

      varimech certify five-bar

      varimech certify five-bar --objective psi1 --wrt L_A1 --tolerance 1e-10
    """
    request = StudyRequest.of(context, "sensitivity")

    def describe(result: Certified) -> StudyOutput:
        output = gradient_output(result)
        certificate = output.certificate
        if certificate is None:  # interrupted before it was complete
            return output
        files = {
            "certificate.json": certificate.save,
            "certificate.png": lambda path: certificate.plot().savefig(path),
        }
        return StudyOutput(
            str(certificate), certificate.to_json(), output.results, files, certificate, output.code
        )

    conduct(request, lambda: certified(request.executed(), wanted), describe)
