"""Reads settings from environment variables; every rule about their texts is here.

A settings class is a frozen dataclass that derives from `FromEnvironment`. Each field has a
variable, `GRAVELER_<FIELD>`. Its metadata may name other `variables` instead; the first one that is
set counts. The field's type decides the parser. Its default is the value of an unset variable.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import StrEnum
from importlib import import_module
from typing import Any, Self

_Value = str | bool | int | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FromEnvironment:
    """Base of the settings classes."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Return the settings that the environment gives. An empty variable counts as unset.

        Raises:
            ValueError: a variable without a default is unset, or a text does not fit its field's
                type. The message names the variable.
        """
        values: dict[str, Any] = {}
        unset: list[str] = []
        for field in fields(cls):
            variables = field.metadata.get("variables", (f"GRAVELER_{field.name.upper()}",))
            variable = next((name for name in variables if environment.get(name)), None)
            if variable is not None:
                values[field.name] = _parse(variable, environment[variable], field.type)
            elif field.default is MISSING:
                unset.append(variables[0])
        if unset:
            raise ValueError(f"environment variables are not set: {', '.join(unset)}")
        return cls(**values)


def _parse(variable: str, text: str, kind: object) -> _Value:
    if kind is bool:
        if text.lower() not in ("true", "false"):
            raise ValueError(f"{variable} is {text!r}: set it to true or false")
        return text.lower() == "true"
    if kind is int:
        if not (text.isascii() and text.isdigit()):
            raise ValueError(f"{variable} is {text!r}: set it to a whole number, 0 or more")
        return int(text)
    if kind == tuple[str, ...]:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        if text not in list(kind):
            raise ValueError(f"{variable} is {text!r}: set it to one of {', '.join(kind)}")
        return kind(text)
    return text


def import_function(setting: str) -> Callable[..., Any]:
    """Return the function that a setting names as `module:function`.

    Raises:
        ValueError: the setting has another form.
        ImportError: there is no such module.
        AttributeError: the module has no such function.
    """
    module, colon, name = setting.partition(":")
    if not (module and colon and name):
        raise ValueError(f"{setting!r} is not a function: write it as module:function")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
