"""The stacks of a deployment, and the resources in them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graveler_cli.deployment.account import Account

# CloudFormation's states in which a stack matches its template.
_WHOLE = {
    "CREATE_COMPLETE",
    "UPDATE_COMPLETE",
    "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
    "UPDATE_ROLLBACK_COMPLETE",
    "IMPORT_COMPLETE",
}


@dataclass(frozen=True)
class Resource:
    """A resource of a stack; `is_off` if the template switches it off."""

    stack: str
    logical_id: str
    physical_id: str
    kind: str
    is_off: bool = False


@dataclass(frozen=True)
class DeployedStack:
    """A stack as CloudFormation has it."""

    name: str
    status: str
    outputs: dict[str, str]
    parameters: dict[str, str]
    resources: tuple[Resource, ...]

    @property
    def is_whole(self) -> bool:
        """Whether the last deployment succeeded, or was undone."""
        return self.status in _WHOLE


def read_stack(account: Account, name: str) -> DeployedStack | None:
    """Return the stack, or None if there is none of that name.

    Raises:
        CannotLookError: CloudFormation refused the request.
    """
    # CloudFormation has no code of its own for an unknown stack.
    found = account.find("cloudformation", "describe_stacks", ("ValidationError",), StackName=name)
    if not found.get("Stacks"):
        return None
    stack = found["Stacks"][0]
    rows = account.pages(
        "cloudformation", "list_stack_resources", "StackResourceSummaries", StackName=name
    )
    # Without this right, what is switched off on purpose is reported as missing.
    template = account.find("cloudformation", "get_template", ("AccessDenied",), StackName=name)
    made = template.get("TemplateBody", {}).get("Resources", {})
    return DeployedStack(
        name,
        stack["StackStatus"],
        {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", [])},
        {each["ParameterKey"]: each["ParameterValue"] for each in stack.get("Parameters", [])},
        tuple(
            Resource(
                name,
                row["LogicalResourceId"],
                row.get("PhysicalResourceId", ""),
                row["ResourceType"],
                _is_off(made.get(row["LogicalResourceId"], {}).get("Properties", {})),
            )
            for row in rows
        ),
    )


def _is_off(properties: Mapping[str, Any]) -> bool:
    """Whether the template disables the event source mapping or the rule: nothing may use it."""
    return properties.get("Enabled") is False or properties.get("State") == "DISABLED"
