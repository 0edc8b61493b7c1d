"""The instruction sets that this machine and this build of the core have."""

from __future__ import annotations

import pytest

from crosscut import _core


@pytest.fixture(params=["baseline", "avx2", "avx512"])
def level(request):
    before = _core.simd_level()
    try:
        _core.set_simd_level(request.param)
    except ValueError as missing:
        pytest.skip(str(missing))
    yield request.param
    _core.set_simd_level(before)
