"""What the checks find."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How good a finding is."""

    OK = "ok"
    WARN = "warn"
    MISSING = "missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Finding:
    """One fact about the deployment, and what to do about it."""

    level: Level
    subject: str
    text: str
    remedy: str = ""

    def lines(self) -> list[str]:
        """Return the finding for a terminal."""
        first = f"{self.level:<8} {self.subject}: {self.text}"
        return [first, f"         {self.remedy}"] if self.remedy else [first]

    def as_json(self) -> dict[str, str]:
        """Return the finding for programs."""
        return {
            "level": str(self.level),
            "subject": self.subject,
            "text": self.text,
            "remedy": self.remedy,
        }


def ok(subject: str, text: str) -> Finding:
    """Return a finding that is as it should be."""
    return Finding(Level.OK, subject, text)


def warn(subject: str, text: str, remedy: str) -> Finding:
    """Return a finding that somebody should look at."""
    return Finding(Level.WARN, subject, text, remedy)


def missing(subject: str, text: str, remedy: str) -> Finding:
    """Return a finding without which the deployment does not work, or is not safe."""
    return Finding(Level.MISSING, subject, text, remedy)


def unknown(subject: str, reason: str, remedy: str) -> Finding:
    """Return a finding on something that could not be looked at."""
    return Finding(Level.UNKNOWN, subject, f"could not look: {reason}", remedy)


def expect(
    subject: str, text: str, remedy: str, *, holds: bool, level: Level = Level.MISSING
) -> Finding:
    """Return ok if it holds, else a finding of the level; the text says what should hold."""
    return ok(subject, text) if holds else Finding(level, subject, f"not so: {text}", remedy)
