"""The table of what each operation needs: its rows are the checks of lakeFS's controller.

`app.py` checks an operation's row after authentication and before its route. An operation that
lakeFS does not have needs the nearest action that lakeFS has. Where a row says `then`, the route
checks more, with a function of `late.py`.
"""

from collections.abc import Mapping

from functions.api.access import places
from functions.api.access.places import Place
from functions.api.access.rows import (
    Needs,
    NeedsOfOthers,
    NeedsOneOf,
    NeedsSomewhere,
    On,
    Public,
    Row,
    SignedIn,
)
from graveler.access.actions import Action


def _on(action: Action, place: Place) -> Needs:
    return Needs(On(action, place))


_LISTED_COMMITTED_FILES = Needs(
    On(Action.LIST_OBJECTS, places.REPOSITORY), On(Action.READ_REPOSITORY, places.REPOSITORY)
)
_DUMP = Needs(
    On(Action.LIST_TAGS, places.REPOSITORY),
    On(Action.LIST_BRANCHES, places.REPOSITORY),
    On(Action.LIST_COMMITS, places.REPOSITORY),
)
_RESTORE = Needs(
    On(Action.CREATE_TAG, places.REPOSITORY),
    On(Action.CREATE_BRANCH, places.REPOSITORY),
    On(Action.CREATE_COMMIT, places.REPOSITORY),
)
_OF_ITS_TASK = "the same on the task's own branch"

# Each operation's needs. An operation without a row is not served.
NEEDS: Mapping[str, Row] = {
    # Objects
    "statObject": _on(Action.READ_OBJECT, places.OBJECT),
    "getObject": _on(Action.READ_OBJECT, places.OBJECT),
    "headObject": _on(Action.READ_OBJECT, places.OBJECT),
    "getUnderlyingProperties": _on(Action.READ_OBJECT, places.OBJECT),
    "listObjects": Needs(
        On(Action.LIST_OBJECTS, places.REPOSITORY),
        then=f"for each presigned URL {On(Action.READ_OBJECT, places.OBJECT)}",
    ),
    "uploadObject": _on(Action.WRITE_OBJECT, places.OBJECT),
    "uploadObjectPreflight": _on(Action.WRITE_OBJECT, places.OBJECT),
    "updateObjectUserMetadata": _on(Action.WRITE_OBJECT, places.OBJECT),
    "deleteObject": _on(Action.DELETE_OBJECT, places.OBJECT),
    "deleteObjects": NeedsOneOf(On(Action.DELETE_OBJECT, places.DELETED_OBJECTS)),
    "copyObject": Needs(
        On(Action.WRITE_OBJECT, places.DESTINATION_OBJECT),
        On(Action.READ_OBJECT, places.SOURCE_OBJECT),
    ),
    "copyPrefix": Needs(
        On(Action.WRITE_OBJECT, places.DESTINATION_PREFIX),
        On(Action.READ_OBJECT, places.SOURCE_PREFIX),
    ),
    "movePrefix": Needs(
        On(Action.WRITE_OBJECT, places.DESTINATION_PREFIX),
        On(Action.READ_OBJECT, places.SOURCE_PREFIX),
        On(Action.DELETE_OBJECT, places.SOURCE_PREFIX),
    ),
    "stageObject": Needs(
        On(Action.WRITE_OBJECT, places.OBJECT),
        then=f"`{Action.IMPORT_FROM_STORAGE}` on `arn:lakefs:fs:::namespace/{{physical address}}`, "
        "if the address was not issued for the path",
    ),
    "getPhysicalAddress": _on(Action.WRITE_OBJECT, places.OBJECT),
    "linkPhysicalAddress": Needs(
        On(Action.WRITE_OBJECT, places.OBJECT),
        then=f"`{Action.IMPORT_FROM_STORAGE}` on `arn:lakefs:fs:::namespace/{{physical address}}`, "
        "if the address is outside of the repository's data",
    ),
    "createPresignMultipartUpload": _on(Action.WRITE_OBJECT, places.OBJECT),
    "uploadPart": _on(Action.WRITE_OBJECT, places.OBJECT),
    "uploadPartCopy": Needs(
        On(Action.WRITE_OBJECT, places.OBJECT), On(Action.READ_OBJECT, places.SOURCE_OF_PART)
    ),
    "completePresignMultipartUpload": _on(Action.WRITE_OBJECT, places.OBJECT),
    "abortPresignMultipartUpload": _on(Action.WRITE_OBJECT, places.OBJECT),
    # Ours: recorded multipart uploads
    "createRecordedUpload": _on(Action.WRITE_OBJECT, places.OBJECT),
    "presignRecordedPart": _on(Action.WRITE_OBJECT, places.OBJECT),
    "copyRecordedPart": Needs(
        On(Action.WRITE_OBJECT, places.OBJECT),
        On(Action.READ_OBJECT, places.SOURCE_OF_RECORDED_PART),
    ),
    "listRecordedParts": _on(Action.WRITE_OBJECT, places.OBJECT),
    "completeRecordedUpload": _on(Action.WRITE_OBJECT, places.OBJECT),
    "abortRecordedUpload": _on(Action.WRITE_OBJECT, places.OBJECT),
    "listRecordedUploads": _on(Action.LIST_OBJECTS, places.REPOSITORY),
    # Commits and refs
    "commit": _on(Action.CREATE_COMMIT, places.BRANCH),
    "commitAsync": _on(Action.CREATE_COMMIT, places.BRANCH),
    "commitAsyncStatus": Needs(On(Action.READ_BRANCH, places.BRANCH), then=_OF_ITS_TASK),
    "CreateCommitRecord": _on(Action.CREATE_COMMIT, places.REPOSITORY),
    "getCommit": _on(Action.READ_COMMIT, places.REPOSITORY),
    "logCommits": _on(Action.READ_BRANCH, places.REF),
    "diffBranch": _on(Action.LIST_OBJECTS, places.REPOSITORY),
    "diffRefs": _on(Action.LIST_OBJECTS, places.REPOSITORY),
    "mergeIntoBranch": _on(Action.CREATE_COMMIT, places.DESTINATION_BRANCH),
    "mergeIntoBranchAsync": _on(Action.CREATE_COMMIT, places.DESTINATION_BRANCH),
    "mergeIntoBranchAsyncStatus": Needs(
        On(Action.READ_BRANCH, places.DESTINATION_BRANCH), then=_OF_ITS_TASK
    ),
    "findMergeBase": _on(Action.LIST_COMMITS, places.REPOSITORY),
    "createSymlinkFile": _on(Action.WRITE_OBJECT, places.OBJECT_OF_BRANCH),
    # Branches and tags
    "getBranch": _on(Action.READ_BRANCH, places.BRANCH),
    "listBranches": _on(Action.LIST_BRANCHES, places.REPOSITORY),
    "createBranch": _on(Action.CREATE_BRANCH, places.NEW_BRANCH),
    "deleteBranch": _on(Action.DELETE_BRANCH, places.BRANCH),
    "resetBranch": _on(Action.REVERT_BRANCH, places.BRANCH),
    "hardResetBranch": _on(Action.REVERT_BRANCH, places.BRANCH),
    "revertBranch": _on(Action.REVERT_BRANCH, places.BRANCH),
    "cherryPick": Needs(
        On(Action.CREATE_COMMIT, places.BRANCH), On(Action.READ_COMMIT, places.REPOSITORY)
    ),
    "getTag": _on(Action.READ_TAG, places.TAG),
    "listTags": _on(Action.LIST_TAGS, places.REPOSITORY),
    "createTag": _on(Action.CREATE_TAG, places.NEW_TAG),
    "deleteTag": _on(Action.DELETE_TAG, places.TAG),
    # Repositories
    "getRepository": _on(Action.READ_REPOSITORY, places.REPOSITORY),
    "listRepositories": NeedsSomewhere(Action.LIST_REPOSITORIES),
    "createRepository": Needs(
        On(Action.CREATE_REPOSITORY, places.NEW_REPOSITORY),
        On(Action.ATTACH_STORAGE_NAMESPACE, places.NAMESPACE),
    ),
    "deleteRepository": _on(Action.DELETE_REPOSITORY, places.REPOSITORY),
    "getRepositoryMetadata": _on(Action.READ_REPOSITORY, places.REPOSITORY),
    "setRepositoryMetadata": _on(Action.UPDATE_REPOSITORY, places.REPOSITORY),
    "deleteRepositoryMetadata": _on(Action.UPDATE_REPOSITORY, places.REPOSITORY),
    "getBranchProtectionRules": _on(Action.GET_PROTECTION_RULES, places.REPOSITORY),
    "setBranchProtectionRules": _on(Action.SET_PROTECTION_RULES, places.REPOSITORY),
    "createBranchProtectionRulePreflight": _on(Action.SET_PROTECTION_RULES, places.REPOSITORY),
    "internalGetBranchProtectionRules": _on(Action.GET_PROTECTION_RULES, places.REPOSITORY),
    "internalCreateBranchProtectionRule": _on(Action.SET_PROTECTION_RULES, places.REPOSITORY),
    "internalDeleteBranchProtectionRule": _on(Action.SET_PROTECTION_RULES, places.REPOSITORY),
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
        On(Action.WRITE_OBJECT, places.BRANCH),
        On(Action.CREATE_COMMIT, places.BRANCH),
        On(Action.IMPORT_FROM_STORAGE, places.IMPORT_SOURCES),
        On(Action.WRITE_OBJECT, places.IMPORT_DESTINATIONS),
    ),
    "importStatus": Needs(On(Action.READ_BRANCH, places.BRANCH), then=_OF_ITS_TASK),
    "importCancel": Needs(On(Action.IMPORT_CANCEL, places.BRANCH), then=_OF_ITS_TASK),
    # Garbage collection
    "getGCRules": _on(Action.GET_COLLECTION_RULES, places.REPOSITORY),
    "internalGetGarbageCollectionRules": _on(Action.GET_COLLECTION_RULES, places.REPOSITORY),
    "setGCRules": _on(Action.SET_COLLECTION_RULES, places.REPOSITORY),
    "internalSetGarbageCollectionRules": _on(Action.SET_COLLECTION_RULES, places.REPOSITORY),
    "deleteGCRules": _on(Action.SET_COLLECTION_RULES, places.REPOSITORY),
    "internalDeleteGarbageCollectionRules": _on(Action.SET_COLLECTION_RULES, places.REPOSITORY),
    "setGarbageCollectionRulesPreflight": _on(Action.SET_COLLECTION_RULES, places.REPOSITORY),
    "prepareGarbageCollectionCommits": _on(Action.PREPARE_COMMITS, places.REPOSITORY),
    "prepareGarbageCollectionCommitsAsync": _on(Action.PREPARE_COMMITS, places.REPOSITORY),
    "prepareGarbageCollectionCommitsStatus": _on(Action.PREPARE_COMMITS, places.REPOSITORY),
    "prepareGarbageCollectionUncommitted": _on(Action.PREPARE_UNCOMMITTED, places.REPOSITORY),
    # Hooks and pull requests
    # Ours: runs of garbage collection
    "checkGCRules": _on(Action.SET_COLLECTION_RULES, places.REPOSITORY),
    "listCollectionRuns": _on(Action.GET_COLLECTION_RULES, places.REPOSITORY),
    "getCollectionRun": _on(Action.GET_COLLECTION_RULES, places.REPOSITORY),
    "startCollectionRun": Needs(
        On(Action.PREPARE_COMMITS, places.REPOSITORY),
        On(Action.PREPARE_UNCOMMITTED, places.REPOSITORY),
        then=f"{On(Action.SET_COLLECTION_RULES, places.REPOSITORY)}, unless it is a dry run",
    ),
    "listRepositoryRuns": _on(Action.READ_ACTION, places.REPOSITORY),
    "getRun": _on(Action.READ_ACTION, places.REPOSITORY),
    "listRunHooks": _on(Action.READ_ACTION, places.REPOSITORY),
    "getRunHookOutput": _on(Action.READ_ACTION, places.REPOSITORY),
    "listPullRequests": _on(Action.LIST_PULL_REQUESTS, places.REPOSITORY),
    "getPullRequest": _on(Action.READ_PULL_REQUEST, places.REPOSITORY),
    "createPullRequest": _on(Action.WRITE_PULL_REQUEST, places.REPOSITORY),
    "updatePullRequest": _on(Action.WRITE_PULL_REQUEST, places.REPOSITORY),
    "mergePullRequest": Needs(
        On(Action.WRITE_PULL_REQUEST, places.REPOSITORY),
        then=f"{On(Action.CREATE_COMMIT, places.DESTINATION_BRANCH)}",
    ),
    # Ours: continuous export, as in the versions of lakeFS that had it, and tasks
    "getContinuousExport": _on(Action.READ_BRANCH, places.BRANCH),
    "getExportStatus": _on(Action.READ_BRANCH, places.BRANCH),
    "listExportRuns": _on(Action.READ_BRANCH, places.BRANCH),
    # An export gets a place to write in, as a new repository does: createRepository needs this too.
    "setContinuousExport": Needs(
        On(Action.EXPORT_CONFIG, places.BRANCH),
        On(Action.ATTACH_STORAGE_NAMESPACE, places.EXPORT_PLACES),
    ),
    "deleteContinuousExport": _on(Action.EXPORT_CONFIG, places.BRANCH),
    "runExport": _on(Action.CREATE_COMMIT, places.BRANCH),
    "repairExport": _on(Action.CREATE_COMMIT, places.BRANCH),
    "listTasks": Needs(
        On(Action.READ_REPOSITORY, places.REPOSITORY),
        then="for each task what getTask needs; others are left out",
    ),
    "getTask": Needs(
        On(Action.READ_REPOSITORY, places.REPOSITORY), then="[what its kind needs](#tasks)"
    ),
    "cancelTask": Needs(
        On(Action.READ_REPOSITORY, places.REPOSITORY), then="[what its kind needs](#tasks)"
    ),
    # Users, groups, policies and credentials
    "listUsers": _on(Action.LIST_USERS, places.EVERYTHING),
    "createUser": _on(Action.CREATE_USER, places.NEW_USER),
    "getUser": _on(Action.READ_USER, places.USER),
    "deleteUser": _on(Action.DELETE_USER, places.USER),
    "listUserGroups": _on(Action.READ_USER, places.USER),
    "listUserPolicies": _on(Action.READ_USER, places.USER),
    "attachPolicyToUser": _on(Action.ATTACH_POLICY, places.USER),
    "detachPolicyFromUser": _on(Action.DETACH_POLICY, places.USER),
    "listUserCredentials": _on(Action.LIST_CREDENTIALS, places.USER),
    "createCredentials": _on(Action.CREATE_CREDENTIALS, places.USER),
    "getCredentials": _on(Action.READ_CREDENTIALS, places.USER),
    "deleteCredentials": _on(Action.DELETE_CREDENTIALS, places.USER),
    "listGroups": _on(Action.LIST_GROUPS, places.EVERYTHING),
    "createGroup": _on(Action.CREATE_GROUP, places.NEW_GROUP),
    "getGroup": _on(Action.READ_GROUP, places.GROUP),
    "deleteGroup": _on(Action.DELETE_GROUP, places.GROUP),
    "listGroupMembers": _on(Action.READ_GROUP, places.GROUP),
    "addGroupMembership": _on(Action.ADD_GROUP_MEMBER, places.GROUP),
    "deleteGroupMembership": _on(Action.REMOVE_GROUP_MEMBER, places.GROUP),
    "listGroupPolicies": _on(Action.READ_GROUP, places.GROUP),
    "attachPolicyToGroup": _on(Action.ATTACH_POLICY, places.GROUP),
    "detachPolicyFromGroup": _on(Action.DETACH_POLICY, places.GROUP),
    "getGroupACL": Needs(
        On(Action.READ_GROUP, places.GROUP), On(Action.READ_POLICY, places.POLICY_OF_ACL)
    ),
    "setGroupACL": Needs(
        On(Action.READ_GROUP, places.GROUP),
        On(Action.ATTACH_POLICY, places.POLICY_OF_ACL),
        On(Action.UPDATE_POLICY, places.POLICY_OF_ACL),
    ),
    "listPolicies": _on(Action.LIST_POLICIES, places.EVERYTHING),
    "createPolicy": _on(Action.CREATE_POLICY, places.NEW_POLICY),
    "getPolicy": _on(Action.READ_POLICY, places.POLICY),
    "updatePolicy": _on(Action.UPDATE_POLICY, places.POLICY),
    "deletePolicy": _on(Action.DELETE_POLICY, places.POLICY),
    # Who takes a key pair away ends its sessions; here the key pairs stay.
    "endUserSessions": _on(Action.DELETE_CREDENTIALS, places.USER),
    "endSessions": SignedIn(),
    "createUserExternalPrincipal": _on(Action.CREATE_USER_EXTERNAL_PRINCIPAL, places.USER),
    "deleteUserExternalPrincipal": _on(Action.DELETE_USER_EXTERNAL_PRINCIPAL, places.USER),
    "listUserExternalPrincipals": _on(Action.READ_USER, places.USER),
    "getExternalPrincipal": _on(Action.READ_EXTERNAL_PRINCIPAL, places.PRINCIPAL),
    # Ours: what users may do
    "explainAccess": NeedsOfOthers(
        Needs(On(Action.READ_USER, places.USER), On(Action.LIST_POLICIES, places.EVERYTHING))
    ),
    "listAccessActions": SignedIn(),
    # The installation
    "getStorageConfig": _on(Action.READ_CONFIG, places.EVERYTHING),
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
