"""CloudFormation by moto: templates without what moto cannot make."""

import json
from typing import Any

from moto.cloudformation import parsing

# What moto claims to make, and fails: names that are too long, references to buses and layers, calls
# of aliases, records of a zone that does not exist.
_BROKEN = {
    "AWS::Events::Archive",
    "AWS::Events::EventBus",
    "AWS::Events::Rule",
    "AWS::Lambda::EventSourceMapping",
    "AWS::Lambda::LayerVersion",
    "AWS::Lambda::Permission",
    "AWS::Route53::RecordSet",
}


def as_moto_knows(template: dict[str, Any]) -> dict[str, Any]:
    """Return the template without what moto cannot make; references to it become plain texts."""
    resources: dict[str, Any] = template["Resources"]
    unknown = {name for name, each in resources.items() if not _is_known(each["Type"])}
    kept = {
        name: _adapted(each, unknown) for name, each in resources.items() if name not in unknown
    }
    found: dict[str, Any] = _without({**template, "Resources": kept}, unknown)
    return found


def _is_known(kind: str) -> bool:
    return kind not in _BROKEN and parsing.resource_class_from_type(kind) is not None


def _adapted(resource: dict[str, Any], unknown: set[str]) -> dict[str, Any]:
    adapted = json.loads(json.dumps(resource))
    if resource["Type"] == "AWS::KMS::Key":
        del adapted["Properties"]["Tags"]  # moto expects them in another form
    if resource["Type"] == "AWS::Lambda::Function":
        adapted["Properties"].pop("Layers", None)
    if resource.get("DeletionPolicy") == "RetainExceptOnCreate":
        adapted["DeletionPolicy"] = "Retain"  # the same for a stack that was made
    needed = adapted.pop("DependsOn", [])
    needed = [needed] if isinstance(needed, str) else needed
    return {**adapted, "DependsOn": [name for name in needed if name not in unknown]}


def _without(value: Any, unknown: set[str]) -> Any:
    match value:
        case {"Ref": str(name)} if name in unknown:
            return name
        case {"Fn::GetAtt": [str(name), str(attribute)]} if name in unknown:
            return f"arn:aws:unknown:eu-west-1:123456789012:{name}.{attribute}"
        case dict():
            return {key: _without(each, unknown) for key, each in value.items()}
        case list():
            return [_without(each, unknown) for each in value]
        case str() if "{{resolve:" in value:
            return "resolved"
    return value
