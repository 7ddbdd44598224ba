"""Converts the values of arguments and options without pydantic.

Typer builds a pydantic schema for each parameter. Importing pydantic takes as long as the rest of
a command (ADR 27), and our parameters do not need it.
"""

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer

Convert = Callable[[str], object]

_FLAGS = {
    **dict.fromkeys(("1", "t", "true", "y", "yes", "on"), True),
    **dict.fromkeys(("0", "f", "false", "n", "no", "off", ""), False),
}


class Conversion:
    """Converts a parameter's value for Typer, in place of a pydantic adapter."""

    def __init__(self, convert: Convert) -> None:
        self._convert = convert

    def coerce(self, value: Any, param: Any, ctx: Any) -> object:  # noqa: ANN401 - Typer's own
        """Return the value in the parameter's type.

        Raises:
            BadParameter: the text is not a value of the type.
        """
        has_many = param.multiple or param.nargs == -1
        if value is None:
            return () if has_many else None
        try:
            return [self._convert(each) for each in value] if has_many else self._convert(value)
        except ValueError as error:
            raise typer.BadParameter(str(error), ctx=ctx, param=param) from error


def simplified(parameters: list[Any]) -> list[Any]:
    """Return the parameters; those of simple types now convert their values with this module."""
    for parameter in parameters:
        # Typer's own attribute: None until the first value is converted. pydantic does the others.
        if getattr(parameter, "_runtime_param", parameter) is None:
            convert = _conversion(parameter.type_descriptor)
            parameter._runtime_param = Conversion(convert) if convert else None  # noqa: SLF001
        if getattr(parameter, "is_bool_flag", False):
            parameter.display_type_rich = _no_type  # the help calls it <bool> otherwise
    return parameters


def _no_type(ctx: Any) -> None:  # noqa: ANN401, ARG001 - Typer's own
    return None


def _conversion(described: Any) -> Convert | None:  # noqa: ANN401 - Typer's own
    """Return the converter of texts to the type, or None if the type is not simple."""
    info, kind = described.parameter_info, described.annotation
    if get_origin(kind) is list:
        (kind,) = get_args(kind)
    has_range = info.min is not None or info.max is not None
    if info.parser is not None or info.clamp or info.formats:
        return None
    if kind in {int, float}:
        return lambda value: _number(value, kind, info.min, info.max)
    if has_range or any((info.exists, info.resolve_path, info.path_type)):
        return None
    choices = _choices(kind)
    if choices:
        return lambda value: _choice(value, choices, is_exact=info.case_sensitive)
    simple: dict[object, Convert] = {str: str, bool: _flag, Path: Path}
    return simple.get(kind)


def _choices(kind: object) -> dict[str, object]:
    """Return the values of an enumeration or a Literal, by their spelling."""
    if get_origin(kind) is Literal:
        return {str(each): each for each in get_args(kind)}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {str(each.value): each for each in kind}
    return {}


def _choice(value: object, choices: dict[str, object], *, is_exact: bool) -> object:
    if isinstance(value, Enum):
        return value  # a default
    for written, meant in choices.items():
        if value == written or (not is_exact and str(value).lower() == written.lower()):
            return meant
    raise ValueError(f"{value!r} is not one of {', '.join(choices)}")


def _number(
    value: object, kind: type[int] | type[float], least: float | None, most: float | None
) -> float:
    try:
        number = kind(str(value))
    except ValueError:
        name = "a whole number" if kind is int else "a number"
        raise ValueError(f"{value!r} is not {name}") from None
    if least is not None and number < least:
        raise ValueError(f"{number} is less than {least}")
    if most is not None and number > most:
        raise ValueError(f"{number} is more than {most}")
    return number


def _flag(value: object) -> bool:
    known = _FLAGS.get(str(value).strip().lower())
    if known is None:
        raise ValueError(f"{value!r} is not true or false")
    return known
