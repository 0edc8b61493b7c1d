"""Cross-validated relational trees and rules: linked tables, facts and background knowledge.

``__init__.pyi`` lists the public names. They are imported when they are first used.
"""

import lazy_loader

__version__ = "0.2.0"  # as crosscut's

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
