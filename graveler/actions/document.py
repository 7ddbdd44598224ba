"""Read a YAML document as plain values: unconverted texts, lists, and dicts by text.

Any writer of a repository chooses these bytes, so everything is bounded. A first pass over the
parser's events checks the depth. The parser builds its tree by recursion in C, so a deeply nested
document would crash the process. An aliased value is made once and shared. JSON repeats it at each
alias, so its size counts as often.
"""

from contextlib import suppress
from math import isfinite
from typing import Any, Self

from graveler.errors import InvalidInputError

Value = str | list["Value"] | dict[str, "Value"] | None

# What a text of the document becomes where its type counts.
Typed = str | int | float | bool | list["Typed"] | dict[str, "Typed"] | None

_DEPTH_MAX = 100
# Each merge key copies the fields of what it names.
_ALIASES_MAX = 100
# Of the document with each alias written out: few aliases can mean any number of copies.
_WRITTEN_OUT_CHARACTERS_MAX = 1024**2

_NULL = "tag:yaml.org,2002:null"
_MERGE = "tag:yaml.org,2002:merge"
_BINARY = "tag:yaml.org,2002:binary"
_BOOLEAN = "tag:yaml.org,2002:bool"
_INTEGER = "tag:yaml.org,2002:int"
_REAL = "tag:yaml.org,2002:float"

# Longer ones are texts: Python converts them slowly.
_DIGITS_MAX = 300


class _Scalar(str):  # noqa: SLOT000 - a str can have no further slots
    """A text that remembers how YAML would read it."""

    tag: str

    def __new__(cls, text: str, tag: str) -> Self:
        made = super().__new__(cls, text)
        made.tag = tag
        return made


def read_document(content: bytes) -> Value:
    """Return the first document; every scalar is a text, whatever its YAML type, and null None.

    Raises:
        InvalidInputError: it is not YAML, repeats a key, or is nested or aliased too much.
    """
    import yaml  # noqa: PLC0415 - few repositories have action files, and the import is slow

    loader_class = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # a client may lack libyaml
    try:
        _check_bounds(yaml.parse(content, Loader=loader_class))
        loader = loader_class(content)
        node = loader.get_node() if loader.check_node() else None
    except yaml.YAMLError as error:
        raise InvalidInputError(f"is not YAML: {' '.join(str(error).split())}") from error
    return None if node is None else _Values().value_of(node)


def _check_bounds(events: Any) -> None:  # noqa: ANN401 - PyYAML has no types
    depth = aliases = 0
    for event in events:
        kind = type(event).__name__
        depth += kind.endswith(("MappingStartEvent", "SequenceStartEvent"))
        depth -= kind.endswith(("MappingEndEvent", "SequenceEndEvent"))
        aliases += kind == "AliasEvent"
        if depth > _DEPTH_MAX or aliases > _ALIASES_MAX:
            raise InvalidInputError(
                f"is nested deeper than {_DEPTH_MAX} levels or has more than {_ALIASES_MAX} aliases"
            )
        if kind == "DocumentEndEvent":  # later documents are ignored, as lakeFS does
            return


class _Values:
    """Makes the value of each node once."""

    def __init__(self) -> None:
        self._made: dict[int, Value] = {}
        self._begun: set[int] = set()
        self._sizes: dict[int, int] = {}

    def value_of(self, node: Any) -> Value:  # noqa: ANN401 - PyYAML has no types
        if id(node) not in self._made:
            if id(node) in self._begun:
                raise InvalidInputError(f"line {_line(node)}: the value contains itself")
            self._begun.add(id(node))
            self._made[id(node)] = self._make(node)
            self._sizes[id(node)] = self._size_of(node)
        return self._made[id(node)]

    def _size_of(self, node: Any) -> int:  # noqa: ANN401
        """Return the characters of the node, whose parts are made, with its aliases written out.

        Raises:
            InvalidInputError: there are too many.
        """
        if node.id == "scalar":
            return 1 + len(node.value)
        parts = (
            node.value if node.id == "sequence" else (each for pair in node.value for each in pair)
        )
        # A key is the only part that is not made.
        size = 1 + sum(self._sizes.get(id(part)) or self._size_of(part) for part in parts)
        if size > _WRITTEN_OUT_CHARACTERS_MAX:
            raise InvalidInputError(
                f"line {_line(node)}: with its aliases written out, the value has more than "
                f"{_WRITTEN_OUT_CHARACTERS_MAX} characters"
            )
        return size

    def _make(self, node: Any) -> Value:  # noqa: ANN401
        if node.id == "scalar":
            if node.tag == _BINARY:  # base64, not the value's text
                raise InvalidInputError(f"line {_line(node)}: binary values are not supported")
            return None if node.tag == _NULL else _Scalar(node.value, node.tag)
        if node.id == "sequence":
            return [self.value_of(each) for each in node.value]
        own: dict[str, Value] = {}
        merged: dict[str, Value] = {}
        for key, value in node.value:
            if key.id != "scalar":
                raise InvalidInputError(f"line {_line(key)}: the key is not a text")
            if key.tag == _MERGE:
                self._merge(merged, value)
            elif key.value in own:
                raise InvalidInputError(f"line {_line(key)}: key {key.value!r} is already defined")
            else:
                own[key.value] = self.value_of(value)
        return merged | own

    def _merge(self, merged: dict[str, Value], node: Any) -> None:  # noqa: ANN401
        """Add the value of `<<`: a mapping, or several, of which the first wins."""
        found = self.value_of(node)
        for each in found if isinstance(found, list) else [found]:
            if not isinstance(each, dict):
                raise InvalidInputError(f"line {_line(node)}: only mappings can be merged")
            for name, value in each.items():
                merged.setdefault(name, value)


def _line(node: Any) -> int:  # noqa: ANN401
    return int(node.start_mark.line) + 1


def typed(value: Value) -> Typed:
    """Return the value with its booleans and numbers as such, where Go's YAML reads them so."""
    if isinstance(value, list):
        return [typed(each) for each in value]
    if isinstance(value, dict):
        return {name: typed(each) for name, each in value.items()}
    return _typed_scalar(value) if isinstance(value, _Scalar) else value


def _typed_scalar(scalar: _Scalar) -> str | int | float | bool:
    text = str(scalar)
    if scalar.tag == _BOOLEAN and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if len(text) <= _DIGITS_MAX and scalar.tag in (_INTEGER, _REAL):
        with suppress(ValueError):
            number = int(text) if scalar.tag == _INTEGER else float(text)
            return number if isfinite(number) else text
    return text
