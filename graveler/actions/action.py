"""One action file: its name, the events it runs at, and its hooks.

The checks are those of lakeFS, which refuses every operation with hooks while an action file is
malformed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from graveler.actions.branch_patterns import matches
from graveler.actions.document import Value, read_document
from graveler.errors import InvalidInputError

_SUBJECTS = (
    "commit",
    "merge",
    "create-tag",
    "delete-tag",
    "create-branch",
    "delete-branch",
    "revert",
    "cherry-pick",
)
EVENTS = frozenset(
    {"prepare-commit"} | {f"{when}-{subject}" for when in ("pre", "post") for subject in _SUBJECTS}
)

# The required properties of each type of hook: at least one of each group. lakeFS does not have
# the last two types.
_PROPERTIES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "webhook": (("url",),),
    "airflow": (("url",), ("dag_id",), ("username",), ("password",)),
    "lua": (("script", "script_path"),),
    "lambda": (("function",),),
    "eventbridge": (("bus",),),
}

# Scripts that any writer of a repository may write need a sandbox, and Python has none for Lua.
NOT_SERVED = {
    "lua": (
        "hooks of type 'lua' are not served, because there is no safe sandbox for scripts: use "
        "'webhook', 'airflow', 'lambda' or 'eventbridge'"
    )
}

# The record of a run holds the name with each hook. lakeFS has no limit.
_NAME = re.compile(r"\w[\w\-. ]{1,255}", re.ASCII)
_HOOK_ID = re.compile(r"[_a-zA-Z][-_a-zA-Z0-9]{1,255}")


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook: condition is its `if:`, and properties are for its kind."""

    id: str
    kind: str
    condition: str = ""
    properties: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ActionFile:
    """An action: its events, each with branch patterns (none: every branch), and its hooks."""

    name: str
    events: Mapping[str, tuple[str, ...]]
    hooks: tuple[Hook, ...]

    def runs_at(self, event: str, branch: str) -> bool:
        """Return whether lakeFS would run a hook of the action at the event.

        Raises:
            InvalidInputError: a branch pattern of the event is malformed.
        """
        patterns = self.events.get(event)
        if patterns is None:
            return False
        # Match first: lakeFS refuses a malformed pattern even if there are no hooks.
        is_matched = not patterns or any(matches(pattern, branch) for pattern in patterns)
        return is_matched and bool(self.hooks)


def parse_action(content: bytes) -> ActionFile:
    """Return the action that the file describes.

    Raises:
        InvalidInputError: the file is malformed; the message says how, without the file's name.
    """
    fields = mapping(read_document(content), "the document")
    name = _text(fields, "name")
    _text(fields, "description")
    if not _NAME.fullmatch(name):
        raise InvalidInputError(
            f"'name' is {name[:300]!r}: it must have 2 to 256 letters, digits, spaces, "
            "'_', '-' or '.'"
        )
    events = mapping(fields.get("on"), "'on'")
    if not events:
        raise InvalidInputError("'on' is required: it names the events")
    return ActionFile(
        name,
        {event: _branches(event, value) for event, value in events.items()},
        _hooks(sequence(fields.get("hooks"), "'hooks'")),
    )


def _branches(event: str, value: Value) -> tuple[str, ...]:
    if event not in EVENTS:
        raise InvalidInputError(f"event {event!r} is not one of {', '.join(sorted(EVENTS))}")
    patterns = sequence(mapping(value, f"{event!r}").get("branches"), "'branches'")
    if patterns and event.endswith("-tag"):
        raise InvalidInputError(f"'branches' is not supported for event {event!r}")
    return tuple(as_text(pattern, "a pattern of 'branches'") for pattern in patterns)


def _hooks(hooks: list[Value]) -> tuple[Hook, ...]:
    found: list[Hook] = []
    for number, value in enumerate(hooks):
        fields = mapping(value, f"hook[{number}]")
        hook_id, kind = _text(fields, "id"), _text(fields, "type")
        _text(fields, "description")
        _text(fields, "if")
        if not _HOOK_ID.fullmatch(hook_id):
            raise InvalidInputError(f"hook[{number}]: 'id' is missing or malformed")
        if any(hook_id == other.id for other in found):
            raise InvalidInputError(f"hook[{number}]: 'id' {hook_id!r} is already used")
        if kind not in _PROPERTIES:
            raise InvalidInputError(
                f"hook[{number}]: 'type' {kind!r} is not one of {', '.join(_PROPERTIES)}"
            )
        properties = mapping(fields.get("properties"), f"hook[{number}]: 'properties'")
        for group in _PROPERTIES[kind]:
            if properties.keys().isdisjoint(group):
                needed = "' or '".join(group)
                raise InvalidInputError(f"hook[{number}]: 'properties' must have '{needed}'")
        found.append(Hook(hook_id, kind, _text(fields, "if"), properties))
    return tuple(found)


def mapping(value: Value, name: str) -> dict[str, Value]:
    """Return the value of that name as a mapping, empty for null.

    Raises:
        InvalidInputError: it is something else.
    """
    if value is not None and not isinstance(value, dict):
        raise InvalidInputError(f"{name} is not a mapping")
    return value or {}


def sequence(value: Value, name: str) -> list[Value]:
    """Return the value of that name as a list without nulls, empty for null.

    Raises:
        InvalidInputError: it is something else.
    """
    if value is not None and not isinstance(value, list):
        raise InvalidInputError(f"{name} is not a list")
    # Nulls are ignored, as in lakeFS.
    return [each for each in value or [] if each is not None]


def _text(fields: dict[str, Value], name: str) -> str:
    return as_text(fields.get(name), f"'{name}'")


def as_text(value: Value, name: str) -> str:
    """Return the value of that name as a text, empty for null.

    Raises:
        InvalidInputError: it is something else.
    """
    if value is not None and not isinstance(value, str):
        raise InvalidInputError(f"{name} is not a text")
    return str(value or "")  # a plain text, without its type in YAML
