"""CloudFormation templates as tests read them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

# Values of pseudo parameters in the texts that `flat` returns.
PSEUDO = {
    "AWS::Partition": "aws",
    "AWS::Region": "eu-west-1",
    "AWS::AccountId": "123456789012",
    "AWS::URLSuffix": "amazonaws.com",
    "AWS::StackId": "arn:aws:cloudformation:eu-west-1:123456789012:stack/name/0a1b2c3d-4e5f",
}


@dataclass(frozen=True)
class Deployment:
    """The output of a synth: the templates of its stacks."""

    folder: Path
    name: str

    @cached_property
    def storage(self) -> dict[str, Any]:
        return self._template(f"{self.name}-storage")

    @cached_property
    def service(self) -> dict[str, Any]:
        return self._template(self.name)

    @cached_property
    def gateway(self) -> dict[str, Any]:
        """The template of the S3 gateway; without resources if there is none."""
        name = f"{self.name}-gateway"
        is_made = (self.folder / f"{name}.template.json").exists()
        return self._template(name) if is_made else {"Resources": {}, "Outputs": {}}

    def _template(self, stack: str) -> dict[str, Any]:
        template: dict[str, Any] = json.loads((self.folder / f"{stack}.template.json").read_text())
        return template

    @property
    def template_files(self) -> list[Path]:
        return sorted(self.folder.glob("*.template.json"))

    def resources(self, kind: str) -> dict[str, dict[str, Any]]:
        """The properties of all resources of a kind, by logical ID."""
        return {
            logical_id: resource.get("Properties", {})
            for logical_id, resource in self.all_resources.items()
            if resource["Type"] == kind
        }

    def one(self, kind: str) -> dict[str, Any]:
        """The properties of the only resource of a kind."""
        (properties,) = self.resources(kind).values()
        return properties

    @cached_property
    def all_resources(self) -> dict[str, dict[str, Any]]:
        stacks = (self.storage, self.service, self.gateway)
        return {name: each for stack in stacks for name, each in stack["Resources"].items()}

    def flat(self, value: Any) -> str:  # noqa: PLR0911 - one for each form
        """A value as text; a resource is `<logical ID>`, an attribute `<logical ID.attribute>`."""
        match value:
            case str():
                return value
            case {"Ref": name}:
                return PSEUDO.get(str(name), f"<{name}>")
            case {"Fn::GetAtt": [name, attribute]}:
                return f"<{name}.{attribute}>"
            case {"Fn::ImportValue": name}:
                return self.flat(self._exports[name])
            case {"Fn::Join": [delimiter, parts]}:
                return str(delimiter).join(self.flat(part) for part in parts)
            case {"Fn::Select": [index, {"Fn::Split": [delimiter, whole]}]}:
                return self.flat(whole).split(str(delimiter))[int(index)]
            case {"Fn::Sub": str(text)}:
                for name, pseudo in PSEUDO.items():
                    text = text.replace(f"${{{name}}}", pseudo)
                return text
        raise AssertionError(value)

    @cached_property
    def _exports(self) -> Mapping[str, Any]:
        return {
            output["Export"]["Name"]: output["Value"]
            for stack in (self.storage, self.service)
            for output in stack["Outputs"].values()
            if "Export" in output
        }

    # Roles

    def statements(self, role: str) -> list[dict[str, Any]]:
        """The statements of a role, actions and resources as lists of texts."""
        (properties,) = (
            each
            for each in self.resources("AWS::IAM::Role").values()
            if self.flat(each.get("RoleName", "")) == f"{self.name}-{role}-eu-west-1"
        )
        return list(self.statements_of(properties))

    def statements_of(self, role: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        documents = [policy["PolicyDocument"] for policy in role.get("Policies", ())]
        managed = self.resources("AWS::IAM::ManagedPolicy")
        documents += [
            managed[each["Ref"]]["PolicyDocument"] for each in role.get("ManagedPolicyArns", ())
        ]
        for document in documents:
            for statement in document["Statement"]:
                yield {
                    **statement,
                    "Action": _listed(statement["Action"]),
                    "Resource": [self.flat(each) for each in _listed(statement["Resource"])],
                }


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
