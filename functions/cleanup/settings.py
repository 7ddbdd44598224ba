"""The settings of the cleanup function alone."""

from dataclasses import dataclass

from graveler.aws.environment import FromEnvironment


@dataclass(frozen=True, slots=True)
class Settings(FromEnvironment):
    """What a sweep watches besides its own work."""

    # The series of the scheduled collections (`graveler.retention.runs`); () watches none.
    watched_collections: tuple[str, ...] = ()
