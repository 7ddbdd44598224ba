"""The actions of access control: lakeFS's, and one that lakeFS had when it exported branches."""

from enum import StrEnum


class Action(StrEnum):
    """What a statement allows or denies: `<service>:<Verb><Thing>`."""

    READ_REPOSITORY = "fs:ReadRepository"
    CREATE_REPOSITORY = "fs:CreateRepository"
    UPDATE_REPOSITORY = "fs:UpdateRepository"
    ATTACH_STORAGE_NAMESPACE = "fs:AttachStorageNamespace"
    IMPORT_FROM_STORAGE = "fs:ImportFromStorage"
    IMPORT_CANCEL = "fs:ImportCancel"
    DELETE_REPOSITORY = "fs:DeleteRepository"
    LIST_REPOSITORIES = "fs:ListRepositories"
    READ_OBJECT = "fs:ReadObject"
    WRITE_OBJECT = "fs:WriteObject"
    DELETE_OBJECT = "fs:DeleteObject"
    LIST_OBJECTS = "fs:ListObjects"
    CREATE_COMMIT = "fs:CreateCommit"
    READ_COMMIT = "fs:ReadCommit"
    LIST_COMMITS = "fs:ListCommits"
    CREATE_BRANCH = "fs:CreateBranch"
    DELETE_BRANCH = "fs:DeleteBranch"
    READ_BRANCH = "fs:ReadBranch"
    REVERT_BRANCH = "fs:RevertBranch"
    LIST_BRANCHES = "fs:ListBranches"
    CREATE_TAG = "fs:CreateTag"
    DELETE_TAG = "fs:DeleteTag"
    READ_TAG = "fs:ReadTag"
    LIST_TAGS = "fs:ListTags"
    READ_CONFIG = "fs:ReadConfig"

    READ_USER = "auth:ReadUser"
    CREATE_USER = "auth:CreateUser"
    DELETE_USER = "auth:DeleteUser"
    LIST_USERS = "auth:ListUsers"
    READ_GROUP = "auth:ReadGroup"
    CREATE_GROUP = "auth:CreateGroup"
    DELETE_GROUP = "auth:DeleteGroup"
    LIST_GROUPS = "auth:ListGroups"
    ADD_GROUP_MEMBER = "auth:AddGroupMember"
    REMOVE_GROUP_MEMBER = "auth:RemoveGroupMember"
    READ_POLICY = "auth:ReadPolicy"
    CREATE_POLICY = "auth:CreatePolicy"
    UPDATE_POLICY = "auth:UpdatePolicy"
    DELETE_POLICY = "auth:DeletePolicy"
    LIST_POLICIES = "auth:ListPolicies"
    ATTACH_POLICY = "auth:AttachPolicy"
    DETACH_POLICY = "auth:DetachPolicy"
    READ_CREDENTIALS = "auth:ReadCredentials"
    CREATE_CREDENTIALS = "auth:CreateCredentials"
    DELETE_CREDENTIALS = "auth:DeleteCredentials"
    LIST_CREDENTIALS = "auth:ListCredentials"
    CREATE_USER_EXTERNAL_PRINCIPAL = "auth:CreateUserExternalPrincipal"
    DELETE_USER_EXTERNAL_PRINCIPAL = "auth:DeleteUserExternalPrincipal"
    READ_EXTERNAL_PRINCIPAL = "auth:ReadExternalPrincipal"

    READ_ACTION = "ci:ReadAction"

    PREPARE_COMMITS = "retention:PrepareGarbageCollectionCommits"
    GET_COLLECTION_RULES = "retention:GetGarbageCollectionRules"
    SET_COLLECTION_RULES = "retention:SetGarbageCollectionRules"
    PREPARE_UNCOMMITTED = "retention:PrepareGarbageCollectionUncommitted"

    GET_PROTECTION_RULES = "branches:GetBranchProtectionRules"
    SET_PROTECTION_RULES = "branches:SetBranchProtectionRules"

    READ_PULL_REQUEST = "pr:ReadPullRequest"
    WRITE_PULL_REQUEST = "pr:WritePullRequest"
    LIST_PULL_REQUESTS = "pr:ListPullRequests"

    # Of the Iceberg catalog; those of views are lakeFS's, and no operation needs them.
    LIST_NAMESPACES = "catalog:ListNamespaces"
    GET_NAMESPACE = "catalog:GetNamespace"
    CREATE_NAMESPACE = "catalog:CreateNamespace"
    UPDATE_NAMESPACE = "catalog:UpdateNamespace"
    DELETE_NAMESPACE = "catalog:DeleteNamespace"
    LIST_TABLES = "catalog:ListTables"
    READ_TABLE = "catalog:ReadTable"
    CREATE_TABLE = "catalog:CreateTable"
    UPDATE_TABLE = "catalog:UpdateTable"
    DELETE_TABLE = "catalog:DeleteTable"
    LIST_VIEWS = "catalog:ListViews"
    READ_VIEW = "catalog:ReadView"
    CREATE_VIEW = "catalog:CreateView"
    UPDATE_VIEW = "catalog:UpdateView"
    DELETE_VIEW = "catalog:DeleteView"

    # lakeFS dropped it in 0.31 with continuous export itself.
    EXPORT_CONFIG = "fs:ExportConfig"


# The prefix of a whole service, as in `fs:*`.
SERVICES = tuple(dict.fromkeys(action.partition(":")[0] for action in Action))
