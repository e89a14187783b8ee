"""What all tests share: how hypothesis looks for cases."""

from __future__ import annotations

import os

from hypothesis import settings

# No deadline: the machine may be busy, and a slow case is not a wrong one. In CI the same cases
# every time, so that a failure there is a change of ours.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
