"""The groups and policies that every installation begins with; they are lakeFS's."""

from collections.abc import Mapping

from graveler.access.actions import Action
from graveler.access.policy import Effect, Policy, Statement
from graveler.access.resources import ALL, USER_VARIABLE, user_arn

# The group of people who may do everything; the first user is its first member.
ADMINISTRATORS = "Admins"

_ACTIONS: Mapping[str, tuple[str, ...]] = {
    "FSFullAccess": ("fs:*",),
    "FSReadWriteAll": (
        "fs:Read*",
        "fs:List*",
        Action.WRITE_OBJECT,
        Action.DELETE_OBJECT,
        Action.REVERT_BRANCH,
        Action.CREATE_BRANCH,
        Action.CREATE_TAG,
        Action.DELETE_BRANCH,
        Action.DELETE_TAG,
        Action.CREATE_COMMIT,
    ),
    "FSReadAll": ("fs:List*", "fs:Read*"),
    "RepoManagementFullAccess": (
        "ci:*",
        "retention:*",
        "branches:*",
        "pr:*",
        Action.READ_CONFIG,
    ),
    "RepoManagementReadAll": (
        "ci:Read*",
        "retention:Get*",
        "branches:Get*",
        "pr:Read*",
        "pr:List*",
        Action.READ_CONFIG,
    ),
    "PRReadWriteAll": ("pr:*",),
    "CatalogReadAll": (
        Action.LIST_NAMESPACES,
        Action.GET_NAMESPACE,
        Action.LIST_TABLES,
        Action.READ_TABLE,
        Action.LIST_VIEWS,
        Action.READ_VIEW,
    ),
    "CatalogReadWriteAll": ("catalog:*",),
    "AuthFullAccess": ("auth:*",),
    "AuthManageOwnCredentials": (
        Action.CREATE_CREDENTIALS,
        Action.DELETE_CREDENTIALS,
        Action.LIST_CREDENTIALS,
        Action.READ_CREDENTIALS,
    ),
}
_RESOURCES = {"AuthManageOwnCredentials": user_arn(USER_VARIABLE)}

# Each standard policy's statements.
POLICIES: Mapping[str, tuple[Statement, ...]] = {
    name: (Statement(Effect.ALLOW, tuple(map(str, actions)), _RESOURCES.get(name, ALL)),)
    for name, actions in _ACTIONS.items()
}

# Each standard group's policies.
GROUPS: Mapping[str, tuple[str, ...]] = {
    ADMINISTRATORS: (
        "FSFullAccess",
        "CatalogReadWriteAll",
        "AuthFullAccess",
        "RepoManagementFullAccess",
    ),
    "SuperUsers": (
        "FSFullAccess",
        "CatalogReadWriteAll",
        "AuthManageOwnCredentials",
        "RepoManagementReadAll",
    ),
    "Developers": (
        "FSReadWriteAll",
        "PRReadWriteAll",
        "CatalogReadWriteAll",
        "AuthManageOwnCredentials",
        "RepoManagementReadAll",
    ),
    "Viewers": ("FSReadAll", "CatalogReadAll", "AuthManageOwnCredentials"),
}


def policies_of(group: str, creation_date: int) -> tuple[Policy, ...]:
    """Return the policies of a standard group, as created at that time, in Unix seconds."""
    return tuple(Policy(name, POLICIES[name], creation_date) for name in GROUPS[group])
