"""All faults of an action file at once, by the server's own checks."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from graveler.actions.action import NOT_SERVED, REQUIRED_PROPERTIES, Hook, as_text, parse_action
from graveler.actions.branch_patterns import parts_of
from graveler.actions.condition import holds
from graveler.actions.document import typed
from graveler.errors import InvalidInputError
from graveler.limits import ACTION_FILE_BYTES_MAX, HOOKS_MAX


@dataclass(frozen=True)
class ActionFileCheck:
    """The faults of a file; and warnings, with which the server accepts the file."""

    faults: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @contextmanager
    def collecting(self, place: str) -> Iterator[None]:
        """Add the fault that the block raises."""
        try:
            yield
        except InvalidInputError as error:
            self.faults.append(f"{place}: {error.message}")


def check(content: bytes) -> ActionFileCheck:
    """Return every fault of an action file; without faults, the server accepts the file.

    The server finds malformed patterns, conditions, time-outs and properties only when it needs
    them.
    """
    found = ActionFileCheck()
    if len(content) > ACTION_FILE_BYTES_MAX:
        found.faults.append(f"has {len(content)} bytes: the server reads {ACTION_FILE_BYTES_MAX}")
        return found
    try:
        action = parse_action(content, found.faults.append)
    except InvalidInputError as error:
        found.faults.append(error.message)
        return found
    for event, patterns in action.events.items():
        for pattern in patterns:
            with found.collecting(f"event {event!r}"):
                list(parts_of(pattern))
    if len(action.hooks) > HOOKS_MAX:
        found.faults.append(
            f"has {len(action.hooks)} hooks: the server runs {HOOKS_MAX} at an event"
        )
    for number, hook in enumerate(action.hooks):
        _check_hook(f"hook[{number}]", hook, found)
    return found


def _check_hook(place: str, hook: Hook, found: ActionFileCheck) -> None:
    if hook.kind in NOT_SERVED:
        found.warnings.append(f"{place}: {NOT_SERVED[hook.kind]}")
    with found.collecting(place):
        holds(hook.condition, failed=False)
    with found.collecting(f"{place}: 'timeout'"):
        hook.timeout_s()
    timeout = typed(hook.properties.get("timeout"))
    if timeout is not None and not isinstance(timeout, str):
        found.warnings.append(f"{place}: 'timeout' {timeout!r} is ignored: write it as 30s or 5m")
    for group in REQUIRED_PROPERTIES.get(hook.kind, ()):
        given = [name for name in group if name in hook.properties]
        if given and not any(hook.properties[name] for name in given):
            found.faults.append(f"{place}: '{given[0]}' is empty")
        for name in given:
            with found.collecting(place):
                as_text(hook.properties[name], f"'{name}'")
