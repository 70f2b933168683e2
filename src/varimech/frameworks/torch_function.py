"""A problem as a function of PyTorch: values and derivatives in NumPy, with rules for every kind of
differentiation.

    ψ(x)       backward  Jᵀ w         jvp  J ẋ
    J(x)       backward  Σ Hᵢ Wᵢ      jvp  H ẋ

The rules call these functions again, so derivatives have derivatives. Leading dimensions of x are a
batch, and `torch.func.vmap` adds one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch._C._functorch import TransformType
from torch._functorch.pyfunctorch import retrieve_all_functorch_interpreters

from ..analyses.function import Function
from ..core.errors import ModelError


class TorchFunction:
    """Objectives as a function of the parameters for PyTorch: ψ = f(x), with `backward`,
    `torch.autograd.grad` (also with `create_graph=True`), forward differentiation, and
    `torch.func.vmap`, `grad`, `jacrev`, `jacfwd`, `hessian`.

    Args:
        function: the same function in NumPy.
    """

    def __init__(self, function: Function):
        self.function = function
        """The same function in NumPy."""

    @torch.compiler.disable
    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Objectives at the end of the run.

        Args:
            x: (…, parameter), float64, on any device.

        Returns:
            ψ, (…, objective), float64, on the same device.

        Raises:
            ModelError: for other numbers than those of double precision, for other shapes, and
                within forward over forward differentiation.
        """
        names = self.function.parameters
        if not isinstance(x, torch.Tensor):
            problem = "must be a torch.Tensor"
            raise ModelError(problem, element="torch", field="x", value=type(x).__name__)
        if x.dtype != torch.float64:
            problem = f"has elements of type {x.dtype}, and a mechanism needs torch.float64"
            raise ModelError(problem, element="torch", field="x", remedy="convert it: x.double()")
        if x.ndim == 0 or x.shape[-1] != len(names):
            problem = (
                f"has the shape {tuple(x.shape)}; its last axis must have {len(names)} values:"
                f" {', '.join(names)}"
            )
            raise ModelError(problem, element="torch", field="x")
        values: torch.Tensor = _Value.apply(x, _Runs(self.function, first=_differentiated(x)))
        return values

    def __repr__(self) -> str:
        return f"<PyTorch: {self.function!r}>"


class _Runs:
    """Runs of one node of the graph: a value that will be differentiated is computed with its
    Jacobian, which is kept until it is requested.
    """

    def __init__(self, function: Function, *, first: bool):
        self.function = function
        self._first = first
        self._kept: tuple[bytes, np.ndarray] | None = None

    def value(self, x: np.ndarray) -> np.ndarray:
        if not self._first:
            return self.function.value(x)
        values, J = self.function.value_and_jacobian(x)
        self._kept = x.tobytes(), J
        return values

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        kept = self._kept
        same = kept is not None and kept[0] == x.tobytes()
        return kept[1] if kept is not None and same else self.function.jacobian(x)


def _array(x: torch.Tensor) -> np.ndarray:
    return x.detach().cpu().numpy()


def _leading(info: Any, dims: Any, *tensors: torch.Tensor) -> list[torch.Tensor]:
    """Tensors with the batch of `vmap` as the first dimension."""
    return [
        t.expand(info.batch_size, *t.shape) if dim is None else t.movedim(dim, 0)
        for t, dim in zip(tensors, dims, strict=False)
    ]


class _Value(torch.autograd.Function):
    """ψ(x)"""

    @staticmethod
    def forward(x: torch.Tensor, runs: _Runs) -> torch.Tensor:
        return torch.from_numpy(runs.value(_array(x))).to(x.device)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x, ctx.runs = inputs
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)

    @staticmethod
    def backward(ctx: Any, weights: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        J, w = _Jacobian.apply(x, ctx.runs), weights.unsqueeze(-1)
        # a weight of zero excludes a failed row, whose derivatives are NaN
        J = torch.where((w == 0) & torch.isnan(J), torch.zeros_like(J), J)
        return (w * J).sum(dim=-2), None

    @staticmethod
    def jvp(ctx: Any, tangent: torch.Tensor, _: None) -> Any:
        (x,) = ctx.saved_tensors
        return (_Jacobian.apply(x, ctx.runs) @ tangent.unsqueeze(-1)).squeeze(-1)

    @staticmethod
    def vmap(info: Any, dims: Any, x: torch.Tensor, runs: _Runs) -> Any:
        return _Value.apply(*_leading(info, dims, x), runs), 0


class _Jacobian(torch.autograd.Function):
    """∂ψ/∂x"""

    @staticmethod
    def forward(x: torch.Tensor, runs: _Runs) -> torch.Tensor:
        return torch.from_numpy(runs.jacobian(_array(x))).to(x.device)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x, ctx.runs = inputs
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)

    @staticmethod
    def backward(ctx: Any, weights: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return _Contraction.apply(x, weights, ctx.runs), None

    @staticmethod
    def jvp(ctx: Any, tangent: torch.Tensor, _: None) -> Any:
        (x,) = ctx.saved_tensors
        return _Along.apply(x, tangent, ctx.runs)

    @staticmethod
    def vmap(info: Any, dims: Any, x: torch.Tensor, runs: _Runs) -> Any:
        return _Jacobian.apply(*_leading(info, dims, x), runs), 0


class _Along(torch.autograd.Function):
    """H ẋ, linear in ẋ"""

    @staticmethod
    def forward(x: torch.Tensor, tangent: torch.Tensor, runs: _Runs) -> torch.Tensor:
        along = runs.function.hessian_product(_array(x), _array(tangent))
        return torch.from_numpy(along).to(x.device)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x, _, ctx.runs = inputs
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)

    @staticmethod
    def backward(ctx: Any, weights: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        _refuse_third(ctx.needs_input_grad[0])
        return None, _Contraction.apply(x, weights, ctx.runs), None

    @staticmethod
    def jvp(ctx: Any, x_tangent: torch.Tensor | None, tangent: torch.Tensor, _: None) -> Any:
        (x,) = ctx.saved_tensors
        _refuse_third(x_tangent is not None)
        return _Along.apply(x, tangent, ctx.runs)

    @staticmethod
    def vmap(info: Any, dims: Any, x: torch.Tensor, tangent: torch.Tensor, runs: _Runs) -> Any:
        return _Along.apply(*_leading(info, dims, x, tangent), runs), 0


class _Contraction(torch.autograd.Function):
    """Σ Hᵢ Wᵢ, linear in W"""

    @staticmethod
    def forward(x: torch.Tensor, weights: torch.Tensor, runs: _Runs) -> torch.Tensor:
        total = runs.function.hessian_contraction(_array(x), _array(weights))
        return torch.from_numpy(total).to(x.device)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x, _, ctx.runs = inputs
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)

    @staticmethod
    def backward(ctx: Any, change: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        _refuse_third(ctx.needs_input_grad[0])
        return None, _Along.apply(x, change, ctx.runs), None

    @staticmethod
    def jvp(ctx: Any, x_tangent: torch.Tensor | None, change: torch.Tensor, _: None) -> Any:
        (x,) = ctx.saved_tensors
        _refuse_third(x_tangent is not None)
        return _Contraction.apply(x, change, ctx.runs)

    @staticmethod
    def vmap(info: Any, dims: Any, x: torch.Tensor, weights: torch.Tensor, runs: _Runs) -> Any:
        return _Contraction.apply(*_leading(info, dims, x, weights), runs), 0


def _differentiated(x: torch.Tensor) -> bool:
    """Whether derivatives will be requested.

    Raises:
        ModelError: for forward over forward differentiation. PyTorch runs the rules of custom
            functions with forward differentiation switched off: the result would be wrong.
    """
    transforms = [each.key() for each in retrieve_all_functorch_interpreters()]
    if transforms.count(TransformType.Jvp) > 1:
        raise ModelError(
            "PyTorch cannot take forward over forward derivatives of custom functions",
            element="torch",
            remedy="use torch.func.hessian, or jacrev for one of the two",
        )
    backward = x.requires_grad and torch.is_grad_enabled()
    return bool(backward or TransformType.Jvp in transforms)


def _refuse_third(asked: bool) -> None:
    if asked:
        raise ModelError(
            "third derivatives are not available",
            element="torch",
            remedy="differentiate twice at most",
        )
