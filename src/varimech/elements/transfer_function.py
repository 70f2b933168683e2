"""Transfer function: y = G(s) u,  G = (b_m s^m + … + b_0)/(a_n s^n + … + a_0),  m ≤ n."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.symbols import SX
from ..model.linear_block import LinearBlock
from ..model.signal_fields import Coefficients


class TransferFunction(LinearBlock):
    """A rational transfer function, defined by its coefficients, highest power of s first.

    Example: `m.transfer_function("notch", lambda s: s.signal("error"), [1, 0, 100], [1, 4, 100])`.
    """

    kind = "transfer function"
    numerator = Coefficients(
        "Coefficients of the numerator, highest power of s first.", positional=True
    )
    denominator = Coefficients(
        "Coefficients of the denominator, highest power of s first. Its degree must be at least that of"
        " the numerator.",
        positional=True,
    )

    def numerator_and_denominator(self) -> tuple[Sequence[SX], Sequence[SX]]:
        return self.numerator, self.denominator
