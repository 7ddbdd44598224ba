"""Reads untrusted XML: no document types, no entities, bounded depth and size."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from graveler_gateway.protocol.errors import Code, S3ResponseError

# S3's deepest request document has four levels.
_DEPTH_MAX = 16
# A completion of 10,000 parts has about 100,000. One takes 120 bytes here, but 4 in a document.
_ELEMENTS_MAX = 200_000


@dataclass(slots=True)
class Element:
    """An element without its namespace and attributes; S3 needs neither."""

    name: str
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    def named(self, name: str) -> Iterator["Element"]:
        """Iterate over the children of this name."""
        return (child for child in self.children if child.name == name)

    def value(self, name: str) -> str | None:
        """Return the text of the only child of this name, None if there is none.

        Raises:
            S3ResponseError: MALFORMED_XML, if there are several.
        """
        values = [child.text for child in self.named(name)]
        if len(values) > 1:
            raise malformed()
        return values[0] if values else None

    def required(self, name: str) -> str:
        """Return the text of the only child of this name, which is not empty.

        Raises:
            S3ResponseError: MALFORMED_XML, if there is none, or several.
        """
        value = self.value(name)
        if not value:
            raise malformed()
        return value


def malformed() -> S3ResponseError:
    """Return the error of a document that is no XML or not the expected one."""
    return S3ResponseError(Code.MALFORMED_XML)


def root_of(body: bytes, name: str) -> Element:
    """Return the root element, which has this name.

    Raises:
        S3ResponseError: MALFORMED_XML.
    """
    _require_plain(body)
    builder = _Builder()
    # With namespaces, a name arrives as "uri name".
    parser = expat.ParserCreate(encoding="UTF-8", namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    try:
        parser.Parse(body, True)  # noqa: FBT003 - the parser's own signature
    except (expat.ExpatError, ValueError) as error:
        raise malformed() from error
    root = builder.root()
    if root.name != name:
        raise malformed()
    return root


def _require_plain(body: bytes) -> None:
    """Refuse document types before the parser sees them: only they declare entities.

    A document in UTF-16 could hide one, but has NULs or is no UTF-8.
    """
    try:
        body.decode()
    except UnicodeDecodeError as error:
        raise malformed() from error
    if b"\0" in body or b"<!DOCTYPE" in body:
        raise malformed()


class _Builder:
    def __init__(self) -> None:
        # The first element is no element of the document: it receives the root as its child.
        self._open = [Element("")]
        self._amount = 0

    def root(self) -> Element:
        return self._open[0].children[0]

    def start(self, name: str, _attributes: dict[str, str]) -> None:
        self._amount += 1
        if len(self._open) > _DEPTH_MAX or self._amount > _ELEMENTS_MAX:
            raise malformed()
        element = Element(name.rpartition(" ")[2])
        self._open[-1].children.append(element)
        self._open.append(element)

    def end(self, _name: str) -> None:
        self._open.pop()

    def text(self, text: str) -> None:
        self._open[-1].text += text
