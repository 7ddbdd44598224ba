"""One action file: its name, the events it runs at, and its hooks.

The checks are those of lakeFS, which refuses every operation with hooks while an action file is
malformed.
"""

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from graveler.actions.branch_patterns import matches
from graveler.actions.document import Value, read_document, typed
from graveler.errors import InvalidInputError
from graveler.times import duration_s

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
REQUIRED_PROPERTIES: Mapping[str, tuple[tuple[str, ...], ...]] = {
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

_TIMEOUT_S_DEFAULT = 60.0

# Raises for a fault; or keeps it and returns, to find the next one.
Refuse = Callable[[str], None]


def raise_fault(fault: str) -> None:
    """Raise an InvalidInputError for a fault."""
    raise InvalidInputError(fault)


class Hook(Struct, frozen=True):
    """A hook: condition is its `if:`, and properties are for its kind."""

    id: str
    kind: str
    condition: str = ""
    properties: Mapping[str, Value] = {}

    def timeout_s(self) -> float:
        """Return the hook's time-out in seconds.

        Raises:
            InvalidInputError: it is malformed.
        """
        text = typed(self.properties.get("timeout"))
        # lakeFS ignores a time-out that is not a text, such as 30.
        if not text or not isinstance(text, str):
            return _TIMEOUT_S_DEFAULT
        try:
            found_s = duration_s(text)
        except ValueError:
            found_s = 0.0
        if found_s <= 0:
            raise InvalidInputError(
                f"time: invalid duration {text!r}: write it as 30s, 5m or 1m30s"
            )
        return found_s


class ActionFile(Struct, frozen=True):
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


def parse_action(content: bytes, refuse: Refuse = raise_fault) -> ActionFile:
    """Return the action that the file describes.

    Args:
        content: the file.
        refuse: is called with each fault. If it returns, the action lacks the malformed part.

    Raises:
        InvalidInputError: the file is malformed; the message says how, without the file's name.
    """
    fields = mapping(read_document(content), "the document")
    name = _text(fields, "name", refuse)
    _text(fields, "description", refuse)
    if not _NAME.fullmatch(name):
        refuse(
            f"'name' is {repr(name[:300]) if name else 'required'}: it must have 2 to 256 letters, "
            "digits, spaces, '_', '-' or '.'"
        )
    events = mapping(fields.get("on"), "'on'", refuse)
    if not events:
        refuse("'on' is required: it names the events")
    return ActionFile(
        name,
        {event: _branches(event, value, refuse) for event, value in events.items()},
        _hooks(sequence(fields.get("hooks"), "'hooks'", refuse), refuse),
    )


def _branches(event: str, value: Value, refuse: Refuse) -> tuple[str, ...]:
    if event not in EVENTS:
        refuse(f"event {event!r} is not one of {', '.join(sorted(EVENTS))}")
    patterns = sequence(mapping(value, f"{event!r}", refuse).get("branches"), "'branches'", refuse)
    if patterns and event.endswith("-tag"):
        refuse(f"'branches' is not supported for event {event!r}")
    return tuple(as_text(pattern, "a pattern of 'branches'", refuse) for pattern in patterns)


def _hooks(hooks: list[Value], refuse: Refuse) -> tuple[Hook, ...]:
    found: list[Hook] = []
    for number, value in enumerate(hooks):
        place = f"hook[{number}]"
        if not isinstance(value, dict):
            refuse(f"{place} is not a mapping")
            found.append(Hook("", ""))  # keeps the numbers of the next ones
            continue
        hook_id, kind = _text(value, "id", refuse), _text(value, "type", refuse)
        _text(value, "description", refuse)
        condition = _text(value, "if", refuse)
        if not _HOOK_ID.fullmatch(hook_id):
            refuse(f"{place}: 'id' is missing or malformed")
        elif any(hook_id == other.id for other in found):
            refuse(f"{place}: 'id' {hook_id!r} is already used")
        if kind not in REQUIRED_PROPERTIES:
            refuse(f"{place}: 'type' {kind!r} is not one of {', '.join(REQUIRED_PROPERTIES)}")
        properties = mapping(value.get("properties"), f"{place}: 'properties'", refuse)
        for group in REQUIRED_PROPERTIES.get(kind, ()):
            if properties.keys().isdisjoint(group):
                needed = "' or '".join(group)
                refuse(f"{place}: 'properties' must have '{needed}'")
        found.append(Hook(hook_id, kind, condition, properties))
    return tuple(found)


def mapping(value: Value, name: str, refuse: Refuse = raise_fault) -> dict[str, Value]:
    """Return the value of that name as a mapping, empty for null; refuse other values."""
    if value is not None and not isinstance(value, dict):
        refuse(f"{name} is not a mapping")
        return {}
    return value or {}


def sequence(value: Value, name: str, refuse: Refuse = raise_fault) -> list[Value]:
    """Return the value of that name as a list without nulls, empty for null; refuse others."""
    if value is not None and not isinstance(value, list):
        refuse(f"{name} is not a list")
        return []
    # Nulls are ignored, as in lakeFS.
    return [each for each in value or [] if each is not None]


def _text(fields: dict[str, Value], name: str, refuse: Refuse) -> str:
    return as_text(fields.get(name), f"'{name}'", refuse)


def as_text(value: Value, name: str, refuse: Refuse = raise_fault) -> str:
    """Return the value of that name as a text, empty for null; refuse other values."""
    if value is not None and not isinstance(value, str):
        refuse(f"{name} is not a text")
        return ""
    return str(value or "")  # a plain text, without its type in YAML
