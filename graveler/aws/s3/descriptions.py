"""What S3 stores of an object beside its content, as boto3's parameters.

S3 keeps user metadata in HTTP headers, 2 KB of them: names lose their case, and a text that a
header cannot carry travels as RFC 2047 has it, which S3 decodes and encodes again.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from graveler.errors import InvalidInputError
from graveler.ports import ObjectDescription

# What CopyObject takes over from the source, and a multipart upload only if it is told to.
_KEPT = (
    "CacheControl",
    "ContentDisposition",
    "ContentEncoding",
    "ContentLanguage",
    "ContentType",
    "Expires",
    "Metadata",
)

# What clients of S3 gateways leave in front of names of user metadata.
_PREFIX = re.compile("^x-amz-meta-", re.IGNORECASE)
# Of a header's name (RFC 9110), less the percent sign, which stands for all others.
_NAME_CHARACTERS = "!#$&'*+-.^_`|~"
# An encoded word has at most 75 characters and splits none of the text's, of up to 4 bytes each.
_PIECE_CHARACTERS = 11
_PLAIN = re.compile(r"(?! )[ -~]*(?<! )")


# What S3 has to know: its servers refuse longer headers, and types that are none. Entries hold the
# content type that readers get.
_SENT_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+[ \t]*(?:;.*)?", re.ASCII)
_SENT_TYPE_BYTES_MAX = 1024
# curl sends it with any body. Servers of S3's API may read such a body as a form, and lose it.
_FORM = "application/x-www-form-urlencoded"


def content_type_parameters(content_type: str) -> dict[str, object]:
    """The content type; S3 chooses where it is empty, malformed, too long or that of a form.

    Raises:
        InvalidInputError: no header can carry it.
    """
    if not (content_type.isascii() and content_type.isprintable()):
        raise InvalidInputError(f"{content_type!r} is no content type")
    is_form = content_type.partition(";")[0].strip().lower() == _FORM
    is_type = len(content_type) <= _SENT_TYPE_BYTES_MAX and _SENT_TYPE.fullmatch(content_type)
    return {"ContentType": content_type} if is_type and not is_form else {}


def description_parameters(description: ObjectDescription) -> dict[str, object]:
    """The content type and user metadata of the description; raises as the former does."""
    metadata = {_name(name): _text(text) for name, text in description.metadata.items()}
    return content_type_parameters(description.content_type) | {"Metadata": metadata}


def parameters_of_stored(answer: Mapping[str, Any]) -> dict[str, object]:
    """What describes another object the way the one is described that S3 answered of."""
    return {name: answer[name] for name in _KEPT if name in answer}


def _name(name: str) -> str:
    return quote(_PREFIX.sub("", name, count=1).lower(), safe=_NAME_CHARACTERS)


def _text(text: str) -> str:
    if _PLAIN.fullmatch(text) and "=?" not in text:
        return text
    pieces = (
        text[start : start + _PIECE_CHARACTERS] for start in range(0, len(text), _PIECE_CHARACTERS)
    )
    return " ".join(f"=?UTF-8?B?{b64encode(piece.encode()).decode()}?=" for piece in pieces)
