"""What the checks of a client's set-up find."""

from typing import Literal

from msgspec import Struct

Level = Literal["ok", "warning", "error", "skipped"]


class Finding(Struct, frozen=True):
    """One fact about the set-up, and what to do about it."""

    level: Level
    subject: str
    text: str
    remedy: str = ""


def ok(subject: str, text: str) -> Finding:
    """Return a finding that is as it should be."""
    return Finding("ok", subject, text)


def warning(subject: str, text: str, remedy: str) -> Finding:
    """Return a finding that may become a problem, or explain one."""
    return Finding("warning", subject, text, remedy)


def error(subject: str, text: str, remedy: str) -> Finding:
    """Return a finding with which commands fail."""
    return Finding("error", subject, text, remedy)


def skipped(subject: str, text: str) -> Finding:
    """Return a check that could not be made here."""
    return Finding("skipped", subject, text)
