"""Fixtures that every test may ask for, and how hard property tests look.

Property tests take the same examples every time. `HYPOTHESIS_PROFILE=deep` takes many more, new
ones each time.
"""

import os

from hypothesis import HealthCheck, settings

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)

settings.register_profile(
    "default", deadline=None, derandomize=True, max_examples=60, suppress_health_check=SLOW
)
settings.register_profile("deep", deadline=None, max_examples=3000, suppress_health_check=SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

pytest_plugins = ("tests.support.scheduling", "tests.support.stack")
