"""The OpenAPI document of the API, made from the declarations of its operations.

Answers always have the fields of structs that do not omit defaults, so their schemas require them.
"""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, TypeAlias

import msgspec

from graveler.http.auth import SESSION_COOKIE
from graveler.http.errors import STATUSES, ErrorBody
from graveler_functions.api.contract import Contract, Parameter, RawContent, Shape
from graveler_functions.api.routing import ApiOperation, Template

PATH = "/openapi.json"

Schema: TypeAlias = dict[str, Any]

_JSON = "application/json"
_REFERENCES = "#/components/schemas/{name}"
# The statuses of all errors.
_STATUSES = sorted(set(STATUSES.values()))
# The three ways of docs/api.md, "Credentials".
_SECURITY_SCHEMES: Mapping[str, Schema] = {
    "basic_auth": {"type": "http", "scheme": "basic"},
    "jwt_token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "cookie_auth": {"type": "apiKey", "in": "cookie", "name": SESSION_COOKIE},
}


def document(operations: tuple[ApiOperation, ...], server: str, version: str) -> Schema:
    """Return the document of the operations, whose paths are relative to the server's URL."""
    paths: dict[str, Schema] = {}
    shapes = _Shapes(operations)
    for operation in operations:
        path = path_of(operation.template)
        method = operation.template.method.lower()
        paths.setdefault(path, {})[method] = _described(operation, shapes)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Graveler",
            "version": version,
            "description": "lakeFS's API, served by Graveler.",
        },
        "servers": [{"url": server}],
        "security": [{name: []} for name in _SECURITY_SCHEMES],
        "paths": paths,
        "components": {
            "schemas": shapes.components,
            "responses": {_name_of(each): _answer(each, ErrorBody, shapes) for each in _STATUSES},
            "securitySchemes": dict(_SECURITY_SCHEMES),
        },
    }


class _Shapes:
    """The schemas of all JSON bodies."""

    def __init__(self, operations: Iterable[ApiOperation]) -> None:
        contracts = [each.contract for each in operations]
        answered = [shape for each in contracts for shape in each.answers.values()]
        asked = [each.body for each in contracts]
        self._references: dict[Shape, Schema] = {}
        # A struct of requests and answers has the schema of requests, which is the wider one.
        self.components = self._add([ErrorBody, *answered], of_answers=True)
        self.components |= self._add(asked, of_answers=False)

    def content(self, shape: Shape) -> Schema:
        """Return the media types of a body."""
        if isinstance(shape, tuple):
            return {kind: schema for each in shape for kind, schema in self.content(each).items()}
        if isinstance(shape, RawContent):
            return {each: {"schema": _of_content(each, shape)} for each in shape.media_types}
        return {_JSON: {"schema": self._references[shape]}}

    def _add(self, shapes: Iterable[Shape], *, of_answers: bool) -> dict[str, Schema]:
        types = _json_types(shapes)
        references, components = msgspec.json.schema_components(types, ref_template=_REFERENCES)
        for shape, reference in zip(types, references, strict=True):
            self._references[shape] = _with_formats(reference)
        if of_answers:
            for struct in _structs_in(types):
                name = _component_name(struct)
                components[name] = _as_answered(struct, components[name])
        return {name: _with_formats(schema) for name, schema in components.items()}


def _is_json(shape: Shape) -> bool:
    return shape is not None and not isinstance(shape, RawContent)


def _json_types(shapes: Iterable[Shape]) -> list[Shape]:
    """Return the distinct types, in order, whose values are JSON."""
    flat = [each for shape in shapes for each in (shape if isinstance(shape, tuple) else [shape])]
    return list(dict.fromkeys(each for each in flat if _is_json(each)))


def _structs_in(types: Iterable[Shape]) -> set[type[msgspec.Struct]]:
    """Return all structs that values of the types hold."""
    found: set[type[msgspec.Struct]] = set()
    pending: list[object] = list(msgspec.inspect.multi_type_info(types))
    while pending:
        each = pending.pop()
        if isinstance(each, msgspec.inspect.StructType):
            found.add(each.cls)
        if isinstance(each, tuple):
            pending += each
        elif isinstance(each, msgspec.inspect.Type | msgspec.inspect.Field):
            pending += [getattr(each, name) for name in each.__struct_fields__]
    return found


def _component_name(struct: type[msgspec.Struct]) -> str:
    (reference,), _ = msgspec.json.schema_components([struct], ref_template="{name}")
    name: str = reference["$ref"]
    return name


def _as_answered(struct: type[msgspec.Struct], schema: Schema) -> Schema:
    """Return the schema of a struct in an answer: which fields it always has, and their values."""
    # A generic struct's configuration is its origin's.
    omits = getattr(struct, "__origin__", struct).__struct_config__.omit_defaults
    if not omits:
        properties = {
            name: {key: value for key, value in each.items() if key != "default"}
            for name, each in schema["properties"].items()
        }
        return {**schema, "properties": properties, "required": list(properties)}
    # A field that is null by default is left out instead.
    properties = {
        name: each["anyOf"][0] if each.get("default", 0) is None else each
        for name, each in schema["properties"].items()
    }
    return {**schema, "properties": properties}


def _with_formats(schema: Any) -> Any:  # noqa: ANN401 - JSON
    """Return the schema with the width of its integers, else generated clients take 32 bits."""
    if isinstance(schema, dict):
        wide = {"format": "int64"} if schema.get("type") == "integer" else {}
        return {key: _with_formats(value) for key, value in schema.items()} | wide
    if isinstance(schema, list):
        return [_with_formats(each) for each in schema]
    return schema


def path_of(template: Template) -> str:
    path = template.path
    for name, lakefs_name in template.path_parameters.items():
        path = path.replace(f"<{name}>", f"{{{lakefs_name}}}")
    return path


def _described(operation: ApiOperation, shapes: _Shapes) -> Schema:
    template, contract = operation.template, operation.contract
    described: Schema = {
        "operationId": template.name,
        "tags": [operation.route.__module__.rpartition(".")[2]],
        "parameters": [
            *(_path_parameter(name) for name in template.path_parameters.values()),
            *map(_parameter, contract.parameters),
        ],
        "responses": _answers(template, contract, shapes),
    }
    if contract.body is not None:
        content = shapes.content(contract.body)
        described["requestBody"] = {"required": not contract.is_body_optional, "content": content}
    if template.public:
        described["security"] = []
    return described


def _answers(template: Template, contract: Contract, shapes: _Shapes) -> Schema:
    errors = contract.error_statuses(
        public=template.public,
        is_change=template.method not in {"GET", "HEAD"},
        has_path_parameters=bool(template.path_parameters),
    )
    if template.method == "HEAD":  # no answer to it has a body
        return {str(each): _answer(each, None, shapes) for each in {*contract.answers, *errors}}
    described = {
        status: _answer(status, shape, shapes) for status, shape in contract.answers.items()
    }
    described |= {each: {"$ref": f"#/components/responses/{_name_of(each)}"} for each in errors}
    return {str(status): described[status] for status in sorted(described)}


def _answer(status: int, shape: Shape, shapes: _Shapes) -> Schema:
    content = {} if shape is None else {"content": shapes.content(shape)}
    return {"description": HTTPStatus(status).phrase, **content}


def _name_of(status: int) -> str:
    return HTTPStatus(status).phrase.replace(" ", "")


def _path_parameter(name: str) -> Schema:
    schema = {"type": "string", "minLength": 1}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _parameter(parameter: Parameter) -> Schema:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.is_required,
        "schema": _with_formats(parameter.schema),
    }


def _of_content(media_type: str, content: RawContent) -> Schema:
    """Return the schema of content; a form has it in its part named `content`."""
    schema = {"type": "string", **({"format": "binary"} if content.is_binary else {})}
    if media_type == "multipart/form-data":
        return {"type": "object", "properties": {"content": schema}, "required": ["content"]}
    return schema
