"""Makes roles, and distributes their statements over policies within IAM's quotas."""

from collections.abc import Iterable, Sequence

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.template_sizes import json_length_max

# The maximum of all inline policies of a role, and of one managed policy, in characters without
# white space. As of November 2026, from "IAM and AWS STS quotas".
INLINE_LENGTH_MAX = 10_240
MANAGED_LENGTH_MAX = 6_144

_EMPTY_DOCUMENT = len('{"Version":"2012-10-17","Statement":[]}')


def make_role(
    scope: Construct,
    construct_id: str,
    *,
    principal: iam.IPrincipal,
    statements: Iterable[iam.PolicyStatement],
    name: str | None = None,
    description: str | None = None,
) -> iam.Role:
    """Make a role with the statements, inline as far as they fit, else in managed policies."""
    inline, *managed = documents(Stack.of(scope), list(statements))
    return iam.Role(
        scope,
        construct_id,
        role_name=name,
        description=description,
        assumed_by=principal,
        inline_policies={"access": iam.PolicyDocument(statements=inline)},
        managed_policies=[
            iam.ManagedPolicy(scope, f"{construct_id}Access{number}", statements=document)
            for number, document in enumerate(managed, start=2)
        ]
        or None,
    )


def documents(
    stack: Stack, statements: Sequence[iam.PolicyStatement]
) -> list[list[iam.PolicyStatement]]:
    """Return the statements in order, as one inline document and as many managed ones as needed.

    A statement that does not fit into a document continues in the next one, with the remaining
    resources.
    """
    found: list[list[iam.PolicyStatement]] = [[]]
    free = INLINE_LENGTH_MAX - _EMPTY_DOCUMENT
    for statement in statements:
        resources = list(statement.resources)
        whole = json_length_max(stack.resolve(statement.to_statement_json()))
        lengths = [json_length_max(stack.resolve(each)) + 1 for each in resources]
        # A comma before it, and the brackets of a list, which a single resource does not have.
        frame = whole - sum(lengths) + 4
        while resources:
            fitting = _count_fitting(lengths, free - frame)
            if not fitting and found[-1]:
                found.append([])
                free = MANAGED_LENGTH_MAX - _EMPTY_DOCUMENT
                continue
            fitting = max(fitting, 1)  # one that fits nowhere: infra/aws_quotas.py reports it
            found[-1].append(
                statement
                if fitting == len(statement.resources)
                else statement.copy(resources=resources[:fitting])
            )
            free -= frame + sum(lengths[:fitting])
            del resources[:fitting], lengths[:fitting]
    return found


def _count_fitting(lengths: Sequence[int], free: int) -> int:
    """Return how many of the first lengths fit."""
    for count, length in enumerate(lengths):
        free -= length
        if free < 0:
            return count
    return len(lengths)
