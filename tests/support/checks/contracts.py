"""Compares answers with what their operations declare: status, content type and body."""

import gzip
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from graveler_functions.api import openapi
from graveler_functions.api.all_operations import OPERATIONS
from graveler_functions.api.app import API_PREFIX
from graveler_functions.api.contract import RawContent, Shape
from graveler_functions.api.routing import ApiOperation

DOCUMENT = openapi.document(OPERATIONS, API_PREFIX, "tests")


def operation_of(method: str, path: str) -> ApiOperation | None:
    """Return the served operation of a request, whose path is percent-encoded as routes see it."""
    segments = path.removeprefix(API_PREFIX).split("/")
    for operation in OPERATIONS:
        template = operation.template
        if template.method == method and template.matches(segments):
            return operation if template.missing_parameter(segments) is None else None
    return None


def check_answer(
    method: str, path: str, status: int, headers: Mapping[str, str], content: bytes
) -> None:
    """Fail unless the answer is one that its operation declares.

    Below /api/v1, an answer of no served operation must be an error in lakeFS's shape.
    """
    if not path.startswith(f"{API_PREFIX}/") or headers.get("Content-Type") == "application/xml":
        return
    if headers.get("Content-Encoding") == "gzip":
        content = gzip.decompress(content)
    operation = operation_of(method, path)
    place = f"{method} {path}: {status} {content[:500]!r}"
    if method == "HEAD":
        assert content == b"", place
    elif operation is None:
        assert status >= 400, place
        _check_json("error", headers, content, place)
    elif status in operation.contract.answers:
        shape = operation.contract.answers[status]
        if shape is None:
            assert content == b"", place
        elif kinds := _media_types(shape, headers["Content-Type"]):
            assert kinds == ("*/*",) or headers["Content-Type"].partition(";")[0] in kinds, place
        else:
            _check_json(f"{operation.template.name} {status}", headers, content, place)
    else:
        assert _declares(operation, status), f"{place}: {operation.template.name} lacks the status"
        _check_json("error", headers, content, place)


def _media_types(shape: Shape, content_type: str) -> tuple[str, ...]:
    """Return the types of content that is not JSON; none for JSON."""
    if isinstance(shape, tuple) and content_type != "application/json":
        return tuple(kind for each in shape for kind in _media_types(each, content_type))
    return shape.media_types if isinstance(shape, RawContent) else ()


def _declares(operation: ApiOperation, status: int) -> bool:
    template = operation.template
    path = openapi.path_of(template)
    return str(status) in DOCUMENT["paths"][path][template.method.lower()]["responses"]


def _check_json(name: str, headers: Mapping[str, str], content: bytes, place: str) -> None:
    assert headers["Content-Type"] == "application/json", place
    problems = [error.message for error in _validators()[name].iter_errors(json.loads(content))]
    assert not problems, f"{place}: {problems}"


@cache
def _validators() -> Mapping[str, Draft202012Validator]:
    """Return the validators of all JSON answers, by operation and status."""
    error = {"$ref": "#/components/schemas/ErrorBody"}
    found = {"error": _validator(error)}
    for methods in DOCUMENT["paths"].values():
        for described in methods.values():
            for status, answer in described["responses"].items():
                if schema := answer.get("content", {}).get("application/json", {}).get("schema"):
                    found[f"{described['operationId']} {status}"] = _validator(schema)
    return found


def _validator(schema: Mapping[str, Any]) -> Draft202012Validator:
    components = {"schemas": _closed(DOCUMENT["components"]["schemas"])}
    return Draft202012Validator({**_closed(dict(schema)), "components": components})


def _closed(schema: Any) -> Any:
    """Return the schema without room for fields that it does not name."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(each) for name, each in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        closed["additionalProperties"] = False
    return closed
