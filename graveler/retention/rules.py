"""Retention rules: for how many days the commits of a branch keep their objects.

They are stored in lakeFS's format, a GarbageCollectionRules message (`graveler/proto`), so each
system can collect by the other's rules. An absent or empty file means that there are no rules. In
this format, rules of zero days without any branch encode to nothing and so are no rules either.
Without rules no committed object is deleted.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from graveler.errors import CorruptDataError, InvalidInputError
from graveler.names import check_branch_name
from graveler.proto import stored_pb2 as messages

_Message = messages.GarbageCollectionRules

# They are stored as int32.
RETENTION_DAYS_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class RetentionRules:
    """Days of retention: by branch, and for branches without a rule of their own."""

    default_days: int
    branch_days: Mapping[str, int]  # in the order in which they were set

    def days_of(self, branch: str) -> int:
        """Return for how many days the branch retains."""
        return self.branch_days.get(branch, self.default_days)


def make_rules(default_days: int, branch_days: Iterable[tuple[str, int]]) -> RetentionRules:
    """Return a user's rules; each branch may have one rule, of 0 to RETENTION_DAYS_MAX days.

    Raises:
        InvalidInputError: the message names the invalid rule.
    """
    _check_days("default_retention_days", default_days)
    by_branch: dict[str, int] = {}
    for branch, days in branch_days:
        check_branch_name(branch)
        if branch in by_branch:
            raise InvalidInputError(f"branch {branch!r} has more than one retention rule: keep one")
        _check_days(f"retention_days of branch {branch!r}", days)
        by_branch[branch] = days
    return RetentionRules(default_days, by_branch)


def is_stored_as_none(rules: RetentionRules) -> bool:
    """Whether the rules are stored as no rules, by which no committed object is collected."""
    return not encode_rules(rules)


def _check_days(name: str, days: int) -> None:
    if not 0 <= days <= RETENTION_DAYS_MAX:
        raise InvalidInputError(f"{name} must be 0 to {RETENTION_DAYS_MAX}, not {days}")


def encode_rules(rules: RetentionRules) -> bytes:
    """Return the content of the rules file."""
    # The branches are a map, which is written in any order: messages side by side are one message.
    parts = [_Message(default_retention_days=rules.default_days)]
    parts += [_Message(branch_retention_days=dict([each])) for each in rules.branch_days.items()]
    return b"".join(part.SerializeToString() for part in parts)


def decode_rules(content: bytes, uri: str) -> RetentionRules | None:
    """Return the rules in the content of the file at uri; None if it is empty.

    Raises:
        CorruptDataError: the content is no rules. Unknown fields might retain something, so they
            are refused as well.
    """
    if not content:
        return None
    try:
        message = _Message.FromString(content)
    except DecodeError as error:
        raise CorruptDataError(f"{uri} holds no retention rules: {error}") from error
    if len(UnknownFieldSet(message)) > 0:
        raise CorruptDataError(f"{uri} holds retention rules with fields that are not known")
    rules = RetentionRules(message.default_retention_days, _branch_days_in(content))
    if min([rules.default_days, *rules.branch_days.values()]) < 0:
        raise CorruptDataError(f"{uri} holds a negative number of retention days")
    return rules


def _branch_days_in(content: bytes) -> dict[str, int]:
    """Return the map of a valid message in the order of its entries, which the message forgets."""
    fields = UnknownFieldSet(Empty.FromString(content))
    entries = (
        _Message.BranchRetentionDaysEntry.FromString(fields[at].data)
        for at in range(len(fields))
        if fields[at].field_number == _Message.BRANCH_RETENTION_DAYS_FIELD_NUMBER
    )
    return {entry.key: entry.value for entry in entries}
