"""Cross-validated decision trees for the price of one.

``__init__.pyi`` lists the public names. They are imported on first use, so ``import crosscut`` is fast.
"""

import lazy_loader

from crosscut.extensions import RELATIONAL, hint

__version__ = "0.2.0"

_lazy, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]


def __getattr__(name: str) -> object:
    if name in RELATIONAL:
        raise ImportError(f"{hint(name)}; from crosscut_relational import {name}")
    return _lazy(name)
