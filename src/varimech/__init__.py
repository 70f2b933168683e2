"""Varimech: differentiable multibody dynamics: exact sensitivities, tolerance analysis and design
optimisation for mechanisms.
"""

from .public_names import MODULES

__all__ = sorted(MODULES)


def __getattr__(name: str) -> object:
    """Import a public name from its module on first use, so that small commands start fast."""
    from importlib import import_module

    if name == "__version__":
        return import_module("importlib.metadata").version("varimech")
    if name not in MODULES:
        raise AttributeError(f"module 'varimech' has no attribute {name!r}")
    module = import_module(f".{MODULES[name]}", __name__)
    value = globals()[name] = module if MODULES[name] == name else getattr(module, name)
    return value


def __dir__() -> list[str]:
    """Return public names, for completion."""
    return __all__
