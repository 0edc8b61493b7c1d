"""Cross-validated decision trees for the price of one.

``__init__.pyi`` lists the public names. They are imported when they are first used, so ``import crosscut``
costs next to nothing.
"""

import lazy_loader

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
