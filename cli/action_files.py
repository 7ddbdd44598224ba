"""The syntax of action files: what the server refuses in them, found before they are committed."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

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
EVENTS = ("prepare-commit", *(f"{at}-{subject}" for subject in _SUBJECTS for at in ("pre", "post")))

# The properties that each type of hook needs: one of each group. lakeFS lacks the last two types.
_NEEDED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "webhook": (("url",),),
    "airflow": (("url",), ("dag_id",), ("username",), ("password",)),
    "lua": (("script", "script_path"),),
    "lambda": (("function",),),
    "eventbridge": (("bus",),),
}

SIZE_MAX_BYTES = 256 * 1024
_DEPTH_MAX = 100
_HOOKS_MAX = 64

_NAME = re.compile(r"\w[\w\-. ]{1,255}", re.ASCII)
_HOOK_ID = re.compile(r"[_a-zA-Z][-_a-zA-Z0-9]{1,255}")
_DURATION = re.compile(r"((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+")
_PATTERN = re.compile(r"(\[\^?((\\.|[^\\\]-])(-(\\.|[^\\\]-]))?)+\]|[^\[\\]|\\.)*", re.DOTALL)

# The parts of an `if:`: what has a value, what is before one, and what is between two.
_TOKEN = re.compile(
    r"\s*(?:(?P<value>(?:success|failure)\s*\(\s*\)|(?:true|false)\b)"
    r"|(?P<between>(?:and|or)\b|&&|\|\||==|!=)|(?P<before>not\b|!)|(?P<paren>[()]))"
)


@dataclass
class Checked:
    """What is wrong with a file, and what is only doubtful."""

    faults: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def check(content: bytes) -> Checked:
    """Return every fault of an action file; without one, the server accepts the file."""
    checked = Checked()
    if len(content) > SIZE_MAX_BYTES:
        checked.faults.append(f"has {len(content)} bytes: the server reads {SIZE_MAX_BYTES}")
        return checked
    try:
        document = _read(content)
    except ValueError as error:
        checked.faults.append(str(error))
        return checked
    if not isinstance(document, dict):
        checked.faults.append("the file is not a mapping with name, on and hooks")
        return checked
    checked.faults += _of_head(document)
    hooks = document.get("hooks") or []
    if not isinstance(hooks, list):
        checked.faults.append("'hooks' is not a list")
        return checked
    _check_hooks(hooks, checked)
    return checked


def _of_head(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the faults of name, description and events."""
    name = document.get("name")
    if not name:
        yield "'name' is required"
    elif not isinstance(name, str) or not _NAME.fullmatch(name):
        yield (
            f"'name' is {str(name)[:60]!r}: it must have 2 to 256 letters, digits, spaces, "
            "'_', '-' or '.'"
        )
    yield from _not_texts(document, ("description",), "")
    events = document.get("on")
    if not events:
        yield "'on' is required: it names the events"
    elif not isinstance(events, dict):
        yield "'on' is not a mapping"
    else:
        for event, value in events.items():
            yield from _of_event(event, value)


def _of_event(event: str, value: Any) -> Iterator[str]:  # noqa: ANN401 - any YAML
    if event not in EVENTS:
        yield f"event {event!r} is not one of {', '.join(sorted(EVENTS))}"
        return
    if value is not None and not isinstance(value, dict):
        yield f"{event!r} is not a mapping"
        return
    patterns = (value or {}).get("branches") or []
    if not isinstance(patterns, list):
        yield f"'branches' of {event!r} is not a list"
    elif patterns and event.endswith("-tag"):
        yield f"'branches' is not supported for event {event!r}"
    else:
        for pattern in patterns:
            if pattern is not None and not (
                isinstance(pattern, str) and _PATTERN.fullmatch(pattern)
            ):
                yield f"branch pattern {pattern!r} of {event!r} is malformed"


def _check_hooks(hooks: list[Any], checked: Checked) -> None:
    taken: set[str] = set()
    if len(hooks) > _HOOKS_MAX:
        checked.faults.append(f"has {len(hooks)} hooks: the server runs {_HOOKS_MAX} at an event")
    for number, hook in enumerate(hooks):
        place = f"hook[{number}]"
        if hook is None:
            continue
        if not isinstance(hook, dict):
            checked.faults.append(f"{place} is not a mapping")
            continue
        hook_id = hook.get("id")
        if not isinstance(hook_id, str) or not _HOOK_ID.fullmatch(hook_id):
            checked.faults.append(f"{place}: 'id' is missing or malformed")
        elif hook_id in taken:
            checked.faults.append(f"{place}: 'id' {hook_id!r} is already used")
        else:
            taken.add(hook_id)
        checked.faults += _of_hook(hook, place)
        if hook.get("type") == "lua":
            checked.warnings.append(
                f"{place}: Graveler does not run hooks of type 'lua': it refuses commits with them"
            )


def _of_hook(hook: Mapping[str, Any], place: str) -> Iterator[str]:
    """Yield the faults of a hook's type, condition and properties."""
    yield from _not_texts(hook, ("description", "if"), f"{place}: ")
    condition = hook.get("if")
    if isinstance(condition, str) and condition.strip() and not _is_condition(condition):
        yield (
            f"{place}: 'if' is {condition!r}: write success(), failure(), true, false, not, and, "
            "or, == and != with parentheses"
        )
    kind = hook.get("type")
    if not isinstance(kind, str) or kind not in _NEEDED:
        yield f"{place}: 'type' {kind!r} is not one of {', '.join(_NEEDED)}"
        return
    properties = hook.get("properties") or {}
    if not isinstance(properties, dict):
        yield f"{place}: 'properties' is not a mapping"
        return
    for group in _NEEDED[kind]:
        given = [properties[name] for name in group if properties.get(name)]
        if not given:
            needed = "' or '".join(group)
            yield f"{place}: 'properties' must have '{needed}'"
        elif not isinstance(given[0], str):
            yield f"{place}: '{group[0]}' is not a text"
    yield from _of_timeout(properties.get("timeout"), place)


def _of_timeout(timeout: Any, place: str) -> Iterator[str]:  # noqa: ANN401 - any YAML
    # A number alone is ignored, as in lakeFS.
    if timeout is None or (isinstance(timeout, str) and re.fullmatch(r"[\d.]+", timeout)):
        return
    if not isinstance(timeout, str) or not _DURATION.fullmatch(timeout):
        yield f"{place}: 'timeout' is {timeout!r}: write it as 30s, 5m or 1m30s"


def _not_texts(fields: Mapping[str, Any], names: tuple[str, ...], place: str) -> Iterator[str]:
    for name in names:
        if not isinstance(fields.get(name), str | None):
            yield f"{place}'{name}' is not a text"


def _is_condition(text: str) -> bool:
    """Return whether values and operators take turns, and parentheses are in pairs."""
    position, depth, wants_value = 0, 0, True
    text = text.rstrip()
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            return False
        position = found.end()
        kind, part = found.lastgroup, found[0].strip()
        if kind == "before" or part == "(":
            fits, depth = wants_value, depth + (part == "(")
        elif part == ")":
            fits, depth = not wants_value and depth > 0, depth - 1
        else:
            fits = wants_value == (kind == "value")
            wants_value = not wants_value
        if not fits:
            return False
    return not wants_value and depth == 0


def _read(content: bytes) -> Any:  # noqa: ANN401 - any YAML
    """Return the first document: every scalar is a text, whatever its type in YAML, or None.

    Raises:
        ValueError: it is not YAML, is nested too deeply, or has a key twice.
    """
    # Imported late, because no other command of this group needs it.
    import yaml  # noqa: PLC0415

    try:
        _check_depth(yaml.parse(content, Loader=yaml.SafeLoader))
        node = yaml.compose(content.decode(), Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        raise ValueError("is not UTF-8") from error
    except yaml.YAMLError as error:
        raise ValueError(f"is not YAML: {' '.join(str(error).split())}") from error
    return None if node is None else _value(node, frozenset())


def _check_depth(events: Any) -> None:  # noqa: ANN401 - PyYAML has no types
    depth = 0
    for event in events:
        kind = type(event).__name__
        depth += kind in {"MappingStartEvent", "SequenceStartEvent"}
        depth -= kind in {"MappingEndEvent", "SequenceEndEvent"}
        if depth > _DEPTH_MAX:
            raise ValueError(f"is nested deeper than {_DEPTH_MAX} levels")


def _value(node: Any, outer: frozenset[int]) -> Any:  # noqa: ANN401 - PyYAML has no types
    if node.id == "scalar":
        return None if node.tag == "tag:yaml.org,2002:null" else node.value
    line = node.start_mark.line + 1
    if id(node) in outer:
        raise ValueError(f"line {line}: the value contains itself")
    outer |= {id(node)}
    if node.id == "sequence":
        return [_value(each, outer) for each in node.value]
    values: dict[str, Any] = {}
    merged: dict[str, Any] = {}
    for key, value in node.value:
        if key.id != "scalar":
            raise ValueError(f"line {key.start_mark.line + 1}: the key is not a text")
        if key.tag == "tag:yaml.org,2002:merge":
            found = _value(value, outer)
            for each in found if isinstance(found, list) else [found]:
                if not isinstance(each, dict):
                    raise ValueError(  # noqa: TRY004 - as every fault of a file
                        f"line {line}: only mappings can be merged"
                    )
                merged = each | merged
        elif key.value in values:
            at = key.start_mark.line + 1
            raise ValueError(f"line {at}: key {key.value!r} is already defined")
        else:
            values[key.value] = _value(value, outer)
    return merged | values
