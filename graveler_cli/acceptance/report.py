"""The report of a run: a line for each step, and JSON for programs."""

from dataclasses import dataclass, field
from enum import StrEnum


class StepOutcome(StrEnum):
    """How a step ended."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class StepReport:
    """How one step ended."""

    name: str
    outcome: StepOutcome
    elapsed_ms: int
    reason: str = ""  # why it did not end as ok

    def line(self) -> str:
        """Return the step on one line."""
        line = f"{self.outcome:<11}  {self.name:<24}  {self.elapsed_ms:>7} ms"
        return f"{line}  {self.reason}" if self.reason else line


@dataclass
class AcceptanceReport:
    """How a run ended."""

    endpoint: str
    version: str = ""
    user: str = ""
    steps: list[StepReport] = field(default_factory=list)
    # The API deletes repositories, but not their objects: the owner of the bucket does.
    places: list[str] = field(default_factory=list)
    store: str = ""  # endpoint of their object store, if it is not the usual one
    left: list[str] = field(default_factory=list)
    is_interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """The exit code of the program."""
        if self.is_interrupted:
            return 130  # as shells report a command that SIGINT ended
        return int(any(step.outcome is StepOutcome.FAILED for step in self.steps))

    def count(self, outcome: StepOutcome) -> int:
        """Return how many steps ended like this."""
        return sum(step.outcome is outcome for step in self.steps)

    def summary(self) -> list[str]:
        """Return the last lines of the report."""
        counts = [
            f"{self.count(outcome)} {outcome}" for outcome in StepOutcome if self.count(outcome)
        ]
        elapsed_ms = sum(step.elapsed_ms for step in self.steps)
        lines = [f"{', '.join(counts)} in {elapsed_ms} ms at {self.endpoint}"]
        if self.places:
            lines += ["The objects of the run stay in the bucket. To delete them:"]
            # AWS_ENDPOINT_URL often names the S3 gateway, whose buckets are repositories.
            store = f" --endpoint-url {self.store}" if self.store else ""
            lines += [f"  aws s3 rm{store} --recursive {place}/" for place in self.places]
        return lines

    def as_json(self) -> dict[str, object]:
        """Return the report for programs."""
        return {
            "endpoint": self.endpoint,
            "version": self.version,
            "user": self.user,
            "exit_code": self.exit_code,
            "steps": [
                {
                    "name": step.name,
                    "outcome": str(step.outcome),
                    "milliseconds": step.elapsed_ms,
                    "reason": step.reason,
                }
                for step in self.steps
            ],
            "places": self.places,
            "left": self.left,
        }
