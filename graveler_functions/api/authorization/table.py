"""The table of what each operation needs: its rows are the checks of lakeFS's controller.

`app.py` checks an operation's row after authentication and before its route. An operation that
lakeFS does not have needs the nearest action that lakeFS has. Where a row says `then`, the route
checks more, with a function of `deferred_checks.py`.
"""

from collections.abc import Mapping

from graveler.access.actions import Action
from graveler_functions.api.authorization import named_resources as named
from graveler_functions.api.authorization.checks import (
    Check,
    Needs,
    NeedsOfOthers,
    NeedsOneOf,
    NeedsSomewhere,
    On,
    Public,
    SignedIn,
)
from graveler_functions.api.authorization.named_resources import NamedResources


def _on(action: Action, resources: NamedResources) -> Needs:
    return Needs(On(action, resources))


_LISTED_COMMITTED_FILES = Needs(
    On(Action.LIST_OBJECTS, named.REPOSITORY), On(Action.READ_REPOSITORY, named.REPOSITORY)
)
_DUMP = Needs(
    On(Action.LIST_TAGS, named.REPOSITORY),
    On(Action.LIST_BRANCHES, named.REPOSITORY),
    On(Action.LIST_COMMITS, named.REPOSITORY),
)
_RESTORE = Needs(
    On(Action.CREATE_TAG, named.REPOSITORY),
    On(Action.CREATE_BRANCH, named.REPOSITORY),
    On(Action.CREATE_COMMIT, named.REPOSITORY),
)
_OF_ITS_TASK = "the same on the task's own branch"

# Each operation's needs. An operation without a row is not served.
NEEDS: Mapping[str, Check] = {
    # Objects
    "statObject": _on(Action.READ_OBJECT, named.OBJECT),
    "getObject": _on(Action.READ_OBJECT, named.OBJECT),
    "headObject": _on(Action.READ_OBJECT, named.OBJECT),
    "getUnderlyingProperties": _on(Action.READ_OBJECT, named.OBJECT),
    "listObjects": Needs(
        On(Action.LIST_OBJECTS, named.REPOSITORY),
        then=f"for each presigned URL {On(Action.READ_OBJECT, named.OBJECT)}",
    ),
    "uploadObject": _on(Action.WRITE_OBJECT, named.OBJECT),
    "uploadObjectPreflight": _on(Action.WRITE_OBJECT, named.OBJECT),
    "updateObjectUserMetadata": _on(Action.WRITE_OBJECT, named.OBJECT),
    "deleteObject": _on(Action.DELETE_OBJECT, named.OBJECT),
    "deleteObjects": NeedsOneOf(On(Action.DELETE_OBJECT, named.DELETED_OBJECTS)),
    "copyObject": Needs(
        On(Action.WRITE_OBJECT, named.DESTINATION_OBJECT),
        On(Action.READ_OBJECT, named.SOURCE_OBJECT),
    ),
    "copyPrefix": Needs(
        On(Action.WRITE_OBJECT, named.DESTINATION_PREFIX),
        On(Action.READ_OBJECT, named.SOURCE_PREFIX),
    ),
    "movePrefix": Needs(
        On(Action.WRITE_OBJECT, named.DESTINATION_PREFIX),
        On(Action.READ_OBJECT, named.SOURCE_PREFIX),
        On(Action.DELETE_OBJECT, named.SOURCE_PREFIX),
    ),
    "stageObject": Needs(
        On(Action.WRITE_OBJECT, named.OBJECT),
        then=f"`{Action.IMPORT_FROM_STORAGE}` on `arn:lakefs:fs:::namespace/{{physical address}}`, "
        "if the address was not issued for the path",
    ),
    "getPhysicalAddress": _on(Action.WRITE_OBJECT, named.OBJECT),
    "linkPhysicalAddress": Needs(
        On(Action.WRITE_OBJECT, named.OBJECT),
        then=f"`{Action.IMPORT_FROM_STORAGE}` on `arn:lakefs:fs:::namespace/{{physical address}}`, "
        "if the address is outside of the repository's data",
    ),
    "createPresignMultipartUpload": _on(Action.WRITE_OBJECT, named.OBJECT),
    "uploadPart": _on(Action.WRITE_OBJECT, named.OBJECT),
    "uploadPartCopy": Needs(
        On(Action.WRITE_OBJECT, named.OBJECT), On(Action.READ_OBJECT, named.SOURCE_OF_PART)
    ),
    "completePresignMultipartUpload": _on(Action.WRITE_OBJECT, named.OBJECT),
    "abortPresignMultipartUpload": _on(Action.WRITE_OBJECT, named.OBJECT),
    # Ours: recorded multipart uploads
    "createRecordedUpload": _on(Action.WRITE_OBJECT, named.OBJECT),
    "presignRecordedPart": _on(Action.WRITE_OBJECT, named.OBJECT),
    "copyRecordedPart": Needs(
        On(Action.WRITE_OBJECT, named.OBJECT),
        On(Action.READ_OBJECT, named.SOURCE_OF_RECORDED_PART),
    ),
    "listRecordedParts": _on(Action.WRITE_OBJECT, named.OBJECT),
    "completeRecordedUpload": _on(Action.WRITE_OBJECT, named.OBJECT),
    "abortRecordedUpload": _on(Action.WRITE_OBJECT, named.OBJECT),
    "listRecordedUploads": _on(Action.LIST_OBJECTS, named.REPOSITORY),
    # Commits and refs
    "commit": _on(Action.CREATE_COMMIT, named.BRANCH),
    "commitAsync": _on(Action.CREATE_COMMIT, named.BRANCH),
    "commitAsyncStatus": Needs(On(Action.READ_BRANCH, named.BRANCH), then=_OF_ITS_TASK),
    "CreateCommitRecord": _on(Action.CREATE_COMMIT, named.REPOSITORY),
    "getCommit": _on(Action.READ_COMMIT, named.REPOSITORY),
    "logCommits": _on(Action.READ_BRANCH, named.REF),
    "diffBranch": _on(Action.LIST_OBJECTS, named.REPOSITORY),
    "diffRefs": _on(Action.LIST_OBJECTS, named.REPOSITORY),
    "mergeIntoBranch": _on(Action.CREATE_COMMIT, named.DESTINATION_BRANCH),
    "mergeIntoBranchAsync": _on(Action.CREATE_COMMIT, named.DESTINATION_BRANCH),
    "mergeIntoBranchAsyncStatus": Needs(
        On(Action.READ_BRANCH, named.DESTINATION_BRANCH), then=_OF_ITS_TASK
    ),
    "findMergeBase": _on(Action.LIST_COMMITS, named.REPOSITORY),
    "createSymlinkFile": _on(Action.WRITE_OBJECT, named.OBJECT_OF_BRANCH),
    # Branches and tags
    "getBranch": _on(Action.READ_BRANCH, named.BRANCH),
    "listBranches": _on(Action.LIST_BRANCHES, named.REPOSITORY),
    "createBranch": _on(Action.CREATE_BRANCH, named.NEW_BRANCH),
    "deleteBranch": _on(Action.DELETE_BRANCH, named.BRANCH),
    "resetBranch": _on(Action.REVERT_BRANCH, named.BRANCH),
    "hardResetBranch": _on(Action.REVERT_BRANCH, named.BRANCH),
    "revertBranch": _on(Action.REVERT_BRANCH, named.BRANCH),
    "cherryPick": Needs(
        On(Action.CREATE_COMMIT, named.BRANCH), On(Action.READ_COMMIT, named.REPOSITORY)
    ),
    "getTag": _on(Action.READ_TAG, named.TAG),
    "listTags": _on(Action.LIST_TAGS, named.REPOSITORY),
    "createTag": _on(Action.CREATE_TAG, named.NEW_TAG),
    "deleteTag": _on(Action.DELETE_TAG, named.TAG),
    # Repositories
    "getRepository": _on(Action.READ_REPOSITORY, named.REPOSITORY),
    "listRepositories": NeedsSomewhere(Action.LIST_REPOSITORIES),
    "createRepository": Needs(
        On(Action.CREATE_REPOSITORY, named.NEW_REPOSITORY),
        On(Action.ATTACH_STORAGE_NAMESPACE, named.NAMESPACE),
    ),
    "deleteRepository": _on(Action.DELETE_REPOSITORY, named.REPOSITORY),
    "getRepositoryMetadata": _on(Action.READ_REPOSITORY, named.REPOSITORY),
    "setRepositoryMetadata": _on(Action.UPDATE_REPOSITORY, named.REPOSITORY),
    "deleteRepositoryMetadata": _on(Action.UPDATE_REPOSITORY, named.REPOSITORY),
    "getBranchProtectionRules": _on(Action.GET_PROTECTION_RULES, named.REPOSITORY),
    "setBranchProtectionRules": _on(Action.SET_PROTECTION_RULES, named.REPOSITORY),
    "createBranchProtectionRulePreflight": _on(Action.SET_PROTECTION_RULES, named.REPOSITORY),
    "internalGetBranchProtectionRules": _on(Action.GET_PROTECTION_RULES, named.REPOSITORY),
    "internalCreateBranchProtectionRule": _on(Action.SET_PROTECTION_RULES, named.REPOSITORY),
    "internalDeleteBranchProtectionRule": _on(Action.SET_PROTECTION_RULES, named.REPOSITORY),
    "getMetaRange": _LISTED_COMMITTED_FILES,
    "getRange": _LISTED_COMMITTED_FILES,
    "getMetadataObject": _LISTED_COMMITTED_FILES,
    "dumpRefs": _DUMP,
    "dumpSubmit": _DUMP,
    "dumpStatus": _DUMP,
    "restoreRefs": _RESTORE,
    "restoreSubmit": _RESTORE,
    "restoreStatus": _RESTORE,
    "importStart": Needs(
        On(Action.WRITE_OBJECT, named.BRANCH),
        On(Action.CREATE_COMMIT, named.BRANCH),
        On(Action.IMPORT_FROM_STORAGE, named.IMPORT_SOURCES),
        On(Action.WRITE_OBJECT, named.IMPORT_DESTINATIONS),
    ),
    "importStatus": Needs(On(Action.READ_BRANCH, named.BRANCH), then=_OF_ITS_TASK),
    "importCancel": Needs(On(Action.IMPORT_CANCEL, named.BRANCH), then=_OF_ITS_TASK),
    # Garbage collection
    "getGCRules": _on(Action.GET_COLLECTION_RULES, named.REPOSITORY),
    "internalGetGarbageCollectionRules": _on(Action.GET_COLLECTION_RULES, named.REPOSITORY),
    "setGCRules": _on(Action.SET_COLLECTION_RULES, named.REPOSITORY),
    "internalSetGarbageCollectionRules": _on(Action.SET_COLLECTION_RULES, named.REPOSITORY),
    "deleteGCRules": _on(Action.SET_COLLECTION_RULES, named.REPOSITORY),
    "internalDeleteGarbageCollectionRules": _on(Action.SET_COLLECTION_RULES, named.REPOSITORY),
    "setGarbageCollectionRulesPreflight": _on(Action.SET_COLLECTION_RULES, named.REPOSITORY),
    "prepareGarbageCollectionCommits": _on(Action.PREPARE_COMMITS, named.REPOSITORY),
    "prepareGarbageCollectionCommitsAsync": _on(Action.PREPARE_COMMITS, named.REPOSITORY),
    "prepareGarbageCollectionCommitsStatus": _on(Action.PREPARE_COMMITS, named.REPOSITORY),
    "prepareGarbageCollectionUncommitted": _on(Action.PREPARE_UNCOMMITTED, named.REPOSITORY),
    # Ours: runs of garbage collection
    "checkGCRules": _on(Action.SET_COLLECTION_RULES, named.REPOSITORY),
    "listCollectionRuns": _on(Action.GET_COLLECTION_RULES, named.REPOSITORY),
    "getCollectionRun": _on(Action.GET_COLLECTION_RULES, named.REPOSITORY),
    "startCollectionRun": Needs(
        On(Action.PREPARE_COMMITS, named.REPOSITORY),
        On(Action.PREPARE_UNCOMMITTED, named.REPOSITORY),
        then=f"{On(Action.SET_COLLECTION_RULES, named.REPOSITORY)}, unless it is a dry run",
    ),
    # Hooks and pull requests
    "listRepositoryRuns": _on(Action.READ_ACTION, named.REPOSITORY),
    "getRun": _on(Action.READ_ACTION, named.REPOSITORY),
    "listRunHooks": _on(Action.READ_ACTION, named.REPOSITORY),
    "getRunHookOutput": _on(Action.READ_ACTION, named.REPOSITORY),
    "listPullRequests": _on(Action.LIST_PULL_REQUESTS, named.REPOSITORY),
    "getPullRequest": _on(Action.READ_PULL_REQUEST, named.REPOSITORY),
    "createPullRequest": _on(Action.WRITE_PULL_REQUEST, named.REPOSITORY),
    "updatePullRequest": _on(Action.WRITE_PULL_REQUEST, named.REPOSITORY),
    "mergePullRequest": Needs(
        On(Action.WRITE_PULL_REQUEST, named.REPOSITORY),
        then=f"{On(Action.CREATE_COMMIT, named.DESTINATION_BRANCH)}",
    ),
    # Ours: continuous export, as in the versions of lakeFS that had it, and tasks
    "getContinuousExport": _on(Action.READ_BRANCH, named.BRANCH),
    "getExportStatus": _on(Action.READ_BRANCH, named.BRANCH),
    "listExportRuns": _on(Action.READ_BRANCH, named.BRANCH),
    # An export gets an address to write to, as a new repository does: it needs the same.
    "setContinuousExport": Needs(
        On(Action.EXPORT_CONFIG, named.BRANCH),
        On(Action.ATTACH_STORAGE_NAMESPACE, named.EXPORT_PATHS),
    ),
    "deleteContinuousExport": _on(Action.EXPORT_CONFIG, named.BRANCH),
    "runExport": _on(Action.CREATE_COMMIT, named.BRANCH),
    "repairExport": _on(Action.CREATE_COMMIT, named.BRANCH),
    "listTasks": Needs(
        On(Action.READ_REPOSITORY, named.REPOSITORY),
        then="for each task what getTask needs; others are left out",
    ),
    "getTask": Needs(
        On(Action.READ_REPOSITORY, named.REPOSITORY), then="[what its kind needs](#tasks)"
    ),
    "cancelTask": Needs(
        On(Action.READ_REPOSITORY, named.REPOSITORY), then="[what its kind needs](#tasks)"
    ),
    # Users, groups, policies and credentials
    "listUsers": _on(Action.LIST_USERS, named.EVERYTHING),
    "createUser": _on(Action.CREATE_USER, named.NEW_USER),
    "getUser": _on(Action.READ_USER, named.USER),
    "deleteUser": _on(Action.DELETE_USER, named.USER),
    "listUserGroups": _on(Action.READ_USER, named.USER),
    "listUserPolicies": _on(Action.READ_USER, named.USER),
    "attachPolicyToUser": _on(Action.ATTACH_POLICY, named.USER),
    "detachPolicyFromUser": _on(Action.DETACH_POLICY, named.USER),
    "listUserCredentials": _on(Action.LIST_CREDENTIALS, named.USER),
    "createCredentials": _on(Action.CREATE_CREDENTIALS, named.USER),
    "getCredentials": _on(Action.READ_CREDENTIALS, named.USER),
    "deleteCredentials": _on(Action.DELETE_CREDENTIALS, named.USER),
    "listGroups": _on(Action.LIST_GROUPS, named.EVERYTHING),
    "createGroup": _on(Action.CREATE_GROUP, named.NEW_GROUP),
    "getGroup": _on(Action.READ_GROUP, named.GROUP),
    "deleteGroup": _on(Action.DELETE_GROUP, named.GROUP),
    "listGroupMembers": _on(Action.READ_GROUP, named.GROUP),
    "addGroupMembership": _on(Action.ADD_GROUP_MEMBER, named.GROUP),
    "deleteGroupMembership": _on(Action.REMOVE_GROUP_MEMBER, named.GROUP),
    "listGroupPolicies": _on(Action.READ_GROUP, named.GROUP),
    "attachPolicyToGroup": _on(Action.ATTACH_POLICY, named.GROUP),
    "detachPolicyFromGroup": _on(Action.DETACH_POLICY, named.GROUP),
    "getGroupACL": Needs(
        On(Action.READ_GROUP, named.GROUP), On(Action.READ_POLICY, named.POLICY_OF_ACL)
    ),
    "setGroupACL": Needs(
        On(Action.READ_GROUP, named.GROUP),
        On(Action.ATTACH_POLICY, named.POLICY_OF_ACL),
        On(Action.UPDATE_POLICY, named.POLICY_OF_ACL),
    ),
    "listPolicies": _on(Action.LIST_POLICIES, named.EVERYTHING),
    "createPolicy": _on(Action.CREATE_POLICY, named.NEW_POLICY),
    "getPolicy": _on(Action.READ_POLICY, named.POLICY),
    "updatePolicy": _on(Action.UPDATE_POLICY, named.POLICY),
    "deletePolicy": _on(Action.DELETE_POLICY, named.POLICY),
    # The deletion of a key pair ends its sessions. This ends them and keeps the key pairs.
    "endUserSessions": _on(Action.DELETE_CREDENTIALS, named.USER),
    "endSessions": SignedIn(),
    "createUserExternalPrincipal": _on(Action.CREATE_USER_EXTERNAL_PRINCIPAL, named.USER),
    "deleteUserExternalPrincipal": _on(Action.DELETE_USER_EXTERNAL_PRINCIPAL, named.USER),
    "listUserExternalPrincipals": _on(Action.READ_USER, named.USER),
    "getExternalPrincipal": _on(Action.READ_EXTERNAL_PRINCIPAL, named.PRINCIPAL),
    # Ours: what users may do
    "explainAccess": NeedsOfOthers(
        Needs(On(Action.READ_USER, named.USER), On(Action.LIST_POLICIES, named.EVERYTHING))
    ),
    "listAccessActions": SignedIn(),
    # The installation
    "getStorageConfig": _on(Action.READ_CONFIG, named.EVERYTHING),
    "getConfig": SignedIn(),
    "getLakeFSVersion": SignedIn(),
    "getGarbageCollectionConfig": SignedIn(),
    "getUsageReportSummary": SignedIn(),
    "postStatsEvents": SignedIn(),
    "getCurrentUser": Public(),
    "getAuthCapabilities": Public(),
    "getSetupState": Public(),
    "setup": Public(),
    "setupCommPrefs": Public(),
    "login": Public(),
    "externalPrincipalLogin": Public(),
    "stsLogin": Public(),
    "oauthCallback": Public(),
    "healthCheck": Public(),
}
