import os

import hypothesis

# `make test` tries the same examples every time; HYPOTHESIS_PROFILE=random tries new ones.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
hypothesis.settings.register_profile("random", derandomize=False, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
