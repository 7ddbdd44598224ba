"""Fixtures that every test may ask for, and how hard property tests look.

Property tests take the same few examples every time. `HYPOTHESIS_PROFILE=thorough` takes more of
them, `deep` very many, new ones each time.
"""

import os
import signal
from pathlib import Path

from hypothesis import HealthCheck, settings

from graveler_embedded.java import spark_environment

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)

for name, examples in (("default", 10), ("thorough", 30), ("deep", 1000)):
    settings.register_profile(
        name,
        deadline=None,
        derandomize=name != "deep",
        max_examples=examples,
        suppress_health_check=SLOW,
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


# As the Makefile does. Spark runs on the stack's Java, in this process and in others.
os.environ.setdefault("GRAVELER_JARS", str(Path(__file__).parents[1] / ".cache" / "jars"))
os.environ.update(spark_environment())


def _survive(*_: object) -> None:
    """Do nothing at a signal: what is ignored under nohup stays harmless here."""


# Children inherit that a signal is ignored, and no handler: each begins like any other program.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, _survive)

pytest_plugins = (
    "tests.support.checks.durations",
    "tests.support.checks.scheduling",
    "tests.support.servers.stack",
    "tests.support.servers.archives",
)
