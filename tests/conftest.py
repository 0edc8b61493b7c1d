import os
from pathlib import Path

import hypothesis
import pytest

# `make test` tries the same examples every time; HYPOTHESIS_PROFILE=random tries new ones.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
hypothesis.settings.register_profile("random", derandomize=False, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(scope="session")
def ace_data() -> Path:
    """Folder with the published ACE applications; they are not part of the project."""
    given = os.environ.get("CROSSCUT_DATA")
    folder = Path(given) if given else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the published data sets are not in {folder}; CROSSCUT_DATA can say where they are")
    return folder
