"""Findings: what `graveler doctor` reports of a client's set-up, or of a deployment."""

from enum import StrEnum

from msgspec import Struct, structs


class FindingLevel(StrEnum):
    """How good a finding is; the two examinations have different words for it."""

    OK = "ok"
    # Of a set-up.
    WARNING = "warning"
    ERROR = "error"
    SKIPPED = "skipped"
    # Of a deployment.
    WARN = "warn"
    MISSING = "missing"
    UNKNOWN = "unknown"


DEPLOYMENT_LEVELS = (
    FindingLevel.OK,
    FindingLevel.WARN,
    FindingLevel.MISSING,
    FindingLevel.UNKNOWN,
)


class Finding(Struct, frozen=True):
    """One fact, and what to do about it."""

    level: FindingLevel
    subject: str
    text: str
    remedy: str = ""

    def lines(self) -> list[str]:
        """Return the finding for a terminal."""
        first = f"{self.level:<8} {self.subject}: {self.text}"
        return [first, f"         {self.remedy}"] if self.remedy else [first]

    def as_json(self) -> dict[str, str]:
        """Return the finding for programs."""
        return structs.asdict(self)


def ok(subject: str, text: str) -> Finding:
    """Return a finding without a problem."""
    return Finding(FindingLevel.OK, subject, text)


def warning(subject: str, text: str, remedy: str) -> Finding:
    """Return a finding on a set-up that may become a problem, or explain one."""
    return Finding(FindingLevel.WARNING, subject, text, remedy)


def error(subject: str, text: str, remedy: str) -> Finding:
    """Return a finding on a set-up with which commands fail."""
    return Finding(FindingLevel.ERROR, subject, text, remedy)


def skipped(subject: str, text: str) -> Finding:
    """Return a finding on a check that this set-up does not allow."""
    return Finding(FindingLevel.SKIPPED, subject, text)


def warn(subject: str, text: str, remedy: str) -> Finding:
    """Return a finding on a deployment that its operator should look at."""
    return Finding(FindingLevel.WARN, subject, text, remedy)


def missing(subject: str, text: str, remedy: str) -> Finding:
    """Return a finding without which a deployment does not work, or is not safe."""
    return Finding(FindingLevel.MISSING, subject, text, remedy)


def unknown(subject: str, reason: str, remedy: str) -> Finding:
    """Return a finding on a part of a deployment that could not be looked at."""
    return Finding(FindingLevel.UNKNOWN, subject, f"could not look: {reason}", remedy)


def expect(
    subject: str,
    text: str,
    remedy: str,
    *,
    holds: bool,
    level: FindingLevel = FindingLevel.MISSING,
) -> Finding:
    """Return ok if the text holds of a deployment, else a finding of the level."""
    return ok(subject, text) if holds else Finding(level, subject, f"not so: {text}", remedy)
