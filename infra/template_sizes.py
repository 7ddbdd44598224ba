"""Upper bounds of the sizes of texts and documents whose parts are known only in a deployment."""

import json
import re
from typing import Any

# The longest value of each in any partition, as of November 2026, from botocore's
# list of endpoints.
_PSEUDO_PARAMETERS = {
    "AWS::AccountId": 12,
    "AWS::Partition": len("aws-us-gov"),
    "AWS::Region": len("us-isof-south-1"),
    "AWS::URLSuffix": len("amazonaws.com.cn"),
}
# A resource's name, URL or ARN; the longest are ARNs of log groups and of functions' aliases.
_REFERENCE = 140

_REFERENCES = frozenset({"Ref", "Fn::GetAtt", "Fn::ImportValue", "Fn::Select"})
_PLACEHOLDER = re.compile(r"\$\{([^}!]+)\}")


def filled(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a template's value with each reference replaced by a text of its maximum length."""
    match value:
        case {"Fn::Join": [delimiter, parts]}:
            return str(delimiter).join(str(filled(part)) for part in parts)
        case {"Fn::Sub": str(text)} | {"Fn::Sub": [str(text), _]}:
            return _PLACEHOLDER.sub(lambda found: _text_of(found[1]), text)
        case dict() if len(value) == 1 and _REFERENCES & value.keys():
            (name,) = value.values()
            return _text_of(name)
        case dict():
            return {key: filled(each) for key, each in value.items()}
        case list():
            return [filled(each) for each in value]
    return value


def text_length_max(value: Any) -> int:  # noqa: ANN401 - JSON
    """Return the maximum length of a text, in bytes; 0 for None."""
    return 0 if value is None else len(str(filled(value)).encode())


def json_length_max(value: Any) -> int:  # noqa: ANN401 - JSON
    """Return the maximum length of a document without white space, as IAM counts, in bytes."""
    return len(json.dumps(filled(value), separators=(",", ":"), ensure_ascii=False).encode())


def _text_of(name: object) -> str:
    length = _PSEUDO_PARAMETERS.get(name, _REFERENCE) if isinstance(name, str) else _REFERENCE
    return "x" * length
