"""Build with scikit-build-core; the C++ code of crosscut's ``cpp/base`` is compiled in.

In the repository it is next door. Elsewhere the same version of crosscut has to be installed first, so it is
then one of the requirements of the build.
"""

import tomllib
from pathlib import Path

from scikit_build_core.build import *  # noqa: F403, the hooks that stay as they are
from scikit_build_core.build import get_requires_for_build_editable as _editable
from scikit_build_core.build import get_requires_for_build_wheel as _wheel

HERE = Path(__file__).parent


def _crosscut() -> list[str]:
    if (HERE.parent / "cpp" / "base" / "module.cmake").exists():
        return []
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [line for line in project["dependencies"] if line.startswith("crosscut==")]


def get_requires_for_build_wheel(config_settings=None):  # noqa: ANN001, ANN201, D103
    return [*_wheel(config_settings), *_crosscut()]


def get_requires_for_build_editable(config_settings=None):  # noqa: ANN001, ANN201, D103
    return [*_editable(config_settings), *_crosscut()]
