"""Content types and user metadata of objects, as boto3's parameters.

S3 keeps user metadata in HTTP headers, up to 2 KB. Names lose their case. A text that is not valid
in a header is encoded as in RFC 2047. S3 decodes it and encodes it again.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from graveler.aws.s3.direct_client import HEADERS
from graveler.aws.s3.responses import headers_of
from graveler.data_headers import DataHeaders, kept_in_store
from graveler.errors import InvalidInputError
from graveler.ports import ObjectDescription
from graveler.user_metadata import s3_metadata

# The characters of a header's name (RFC 9110) except the percent sign, which escapes all others.
_NAME_CHARACTERS = "!#$&'*+-.^_`|~"
# An encoded word has at most 75 characters. A character has up to 4 bytes and is not split.
_PIECE_CHARACTERS = 11
_PLAIN = re.compile(r"(?! )[ -~]*(?<! )")


# The content types sent to S3: its servers refuse longer headers and malformed types. Entries hold
# the content type that readers get.
_SENT_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+[ \t]*(?:;.*)?", re.ASCII)
_SENT_TYPE_BYTES_MAX = 1024
# curl sends it with any body. S3-compatible servers may read such a body as a form, and lose it.
_FORM = "application/x-www-form-urlencoded"


def content_type_parameters(content_type: str) -> dict[str, object]:
    """Return the content type as a parameter, or no parameter.

    S3 chooses the content type in place of one that is empty, malformed, too long or a form's.

    Raises:
        InvalidInputError: the content type is not valid in a header.
    """
    if not (content_type.isascii() and content_type.isprintable()):
        raise InvalidInputError(f"{content_type!r} is not a content type")
    is_form = content_type.partition(";")[0].strip().lower() == _FORM
    is_type = len(content_type) <= _SENT_TYPE_BYTES_MAX and _SENT_TYPE.fullmatch(content_type)
    return {"ContentType": content_type} if is_type and not is_form else {}


def description_parameters(description: ObjectDescription) -> dict[str, object]:
    """Return the description's content type and user metadata as parameters.

    Raises:
        InvalidInputError: the content type is not valid in a header.
    """
    named = s3_metadata(description.metadata)
    metadata = {_name(name): _text(text) for name, text in named.items()}
    return content_type_parameters(description.content_type) | {"Metadata": metadata}


def parameters_of_copy(
    source: Callable[[], Mapping[str, Any]],
    description: ObjectDescription | None,
    headers: DataHeaders,
) -> dict[str, object]:
    """Return the parameters that describe a copy.

    Args:
        source: returns S3's response to HEAD of the source; called only if needed.
        description: that of the copy; None to keep the source's.
        headers: the headers to keep and to set.

    Raises:
        InvalidInputError: the content type is not valid in a header.
    """
    if description is not None:
        about = description_parameters(description)
    else:
        about = {name: source()[name] for name in ("ContentType", "Metadata") if name in source()}
    kept = kept_in_store(headers_of(source())) if headers.kept is None else headers.kept
    return about | {HEADERS: {**kept, **headers.chosen}}


def _name(name: str) -> str:
    return quote(name, safe=_NAME_CHARACTERS)


def _text(text: str) -> str:
    if _PLAIN.fullmatch(text) and "=?" not in text:
        return text
    pieces = (
        text[start : start + _PIECE_CHARACTERS] for start in range(0, len(text), _PIECE_CHARACTERS)
    )
    return " ".join(f"=?UTF-8?B?{b64encode(piece.encode()).decode()}?=" for piece in pieces)
