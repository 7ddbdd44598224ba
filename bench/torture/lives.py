"""Branches that one client has for itself, and the expected state of each.

A life is a branch from its creation to its deletion. Its first commit, the birth, distinguishes it
from other lives of its name: the newest birth among a commit's first parents is that of its life.
Only its client and the tasks of this client change a life. So after each answer the client knows
the branch's content, until an answer is lost.
"""

from dataclasses import dataclass, field

from bench.torture.history import Record, StartedTask

OWN = "own/"
BULK = "bulk/"


@dataclass(slots=True)
class Life:
    """The expected state of a branch; commits and objects are the acknowledged ones.

    state: "alive", "gone", or "in doubt". tasks: those that were started on it.
    """

    branch: str
    birth: str = ""
    state: str = "alive"
    is_reset: bool = False
    is_exact: bool = True  # whether it has no other objects of its own
    commits: dict[str, Record] = field(default_factory=dict)
    objects: dict[str, str] = field(default_factory=dict)  # checksums by path
    tasks: list["LifeTask"] = field(default_factory=list)


@dataclass(slots=True)
class LifeTask:
    """A task on a life; prefix: the destination of a copy or a move."""

    task: StartedTask
    kind: str
    prefix: str = ""


@dataclass(slots=True)
class Lives:
    """All lives in one repository, and the deleted names. Lists except `gone` are of one round."""

    births: dict[str, Life] = field(default_factory=dict)  # by the commit
    bulk: dict[str, str] = field(default_factory=dict)  # checksums by the name below BULK
    of_round: list[Life] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)  # URLs of names that must not come back
    restored: list[str] = field(default_factory=list)  # repositories of restored dumps

    def end_round(self) -> None:
        """Forget all except what later rounds check."""
        self.of_round, self.restored = [], []
        self.gone = [url for url in self.gone if "/restored-" not in url]
