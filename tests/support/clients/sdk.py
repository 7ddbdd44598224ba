"""What the official `lakefs_sdk` sends and expects, read from its generated code."""

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from lakefs_sdk import api as sdk_api
from lakefs_sdk import models as sdk_models


@dataclass(frozen=True)
class SdkField:
    """A field of a model; `models` are those that its value may hold."""

    is_required: bool
    models: tuple[type, ...]


@dataclass(frozen=True)
class SdkOperation:
    """One method of the SDK."""

    name: str
    method: str
    path: str
    # Whether each one is required.
    parameters: Mapping[str, bool]
    body: type | None
    # The model of each status; None for an empty or other answer.
    answers: Mapping[int, type | None]


def sdk_operations() -> Iterator[SdkOperation]:
    """Yield everything that the SDK can ask."""
    for kind in vars(sdk_api).values():
        if inspect.isclass(kind):
            for name, function in vars(kind).items():
                if name.endswith("_with_http_info"):
                    yield _operation(name.removesuffix("_with_http_info"), function)


def _operation(name: str, function: Any) -> SdkOperation:
    source = inspect.getsource(function)
    found = re.search(r"'(/[^']*)', '([A-Z]+)'", source)
    assert found, name
    # The generated method names a parameter as in Python, and sends it under the API's name.
    sent = dict(re.findall(r"_params\['(\w+)'\][^\n]*\n\s*_header_params\['([\w-]+)'\]", source))
    pairs = r"_params\.get\('(\w+)'\)[^\n]*\n(?:[^\n]*\n)?\s*_query_params\.append\(\('([\w-]+)'"
    sent |= dict(re.findall(pairs, source))
    arguments = inspect.signature(function).parameters
    return SdkOperation(
        name=name,
        method=found[2],
        path=found[1],
        parameters={theirs: _is_required(arguments[ours]) for ours, theirs in sent.items()},
        body=_body(source, arguments),
        answers={
            int(status): getattr(sdk_models, re.sub(r'"|List\[|\]', "", model), None)
            for status, model in re.findall(r"'(\d{3})': (\"[^\"]+\"|None)", source)
        },
    )


def _is_required(argument: inspect.Parameter) -> bool:
    return argument.default is inspect.Parameter.empty


def _body(source: str, arguments: Mapping[str, inspect.Parameter]) -> type | None:
    found = re.search(r"_body_params = _params\['(\w+)'\]", source)
    models = _models_in(arguments[found[1]].annotation) if found else ()
    return models[0] if models else None


def fields_of(model: Any) -> dict[str, SdkField]:
    """Return the fields of a model, by their names in JSON."""
    return {
        field.alias: SdkField(bool(field.required), _models_in(field.outer_type_))
        for field in model.__fields__.values()
    }


def _models_in(annotation: Any) -> tuple[type, ...]:
    """Return the models that a type names."""
    if inspect.isclass(annotation) and hasattr(annotation, "__fields__"):
        return (annotation,)
    if hasattr(annotation, "item_type"):  # pydantic's constrained lists
        return _models_in(annotation.item_type)
    if get_origin(annotation) in {Union, UnionType} or get_args(annotation):
        parts = [each for each in get_args(annotation) if each is not NoneType]
        return tuple(model for each in parts for model in _models_in(each))
    return ()
