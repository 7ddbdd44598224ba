"""A request of every operation of the API, with the rights that it takes.

The rights are written out here, as lakeFS's controller checks them, and not derived from the table
of the API: the authorization matrix compares both.
"""

from dataclasses import dataclass
from typing import Any

from tests.support.fakes.access import Right


@dataclass(frozen=True)
class Example:
    """A request of an operation, and the rights that it takes, as lakeFS checks them.

    target, and strings in the body, have names of the world's records in braces.
    """

    method: str
    target: str
    rights: tuple[Right, ...]
    body: Any = None


FS = "arn:lakefs:fs:::"
REPO = f"{FS}repository/repo"
MAIN = f"{REPO}/branch/main"
OBJECT = f"{REPO}/object/a/b"
AUTH = "arn:lakefs:auth:::"

_B = "/repositories/repo/branches/main"
_R = "/repositories/repo/refs/main"
_WRITE: tuple[Right, ...] = (("fs:WriteObject", OBJECT),)
_READ: tuple[Right, ...] = (("fs:ReadObject", OBJECT),)
_DUMP = (("fs:ListTags", REPO), ("fs:ListBranches", REPO), ("fs:ListCommits", REPO))
_RESTORE = (("fs:CreateTag", REPO), ("fs:CreateBranch", REPO), ("fs:CreateCommit", REPO))
_FILES = (("fs:ListObjects", REPO), ("fs:ReadRepository", REPO))
_PART = f"{_B}/staging/pmpu/{{upload}}/parts/1"
_RECORDED = f"{_B}/uploads/{{recorded}}"
_IDS = {"dump": "0" * 64}
_REFS = {
    "commits_meta_range_id": "0" * 64,
    "tags_meta_range_id": "0" * 64,
    "branches_meta_range_id": "0" * 64,
}
_POLICY = {
    "id": "p",
    "statement": [{"effect": "allow", "action": ["fs:ReadObject"], "resource": "*"}],
}


def _one(method: str, target: str, action: str, resource: str, body: Any = None) -> Example:
    return Example(method, target, ((action, resource),), body)


def _object(method: str, target: str, action: str, body: Any = None) -> Example:
    return _one(method, target, action, OBJECT, body)


def _repository(method: str, path: str, action: str, body: Any = None) -> Example:
    return _one(method, f"/repositories/repo{path}", action, REPO, body)


def _branch(method: str, path: str, action: str, body: Any = None) -> Example:
    return _one(method, f"{_B}{path}", action, MAIN, body)


def _auth(method: str, path: str, action: str, resource: str, body: Any = None) -> Example:
    return _one(method, f"/auth{path}", f"auth:{action}", f"{AUTH}{resource}", body)


_STAGED = {"checksum": "c", "size_bytes": 1}
_ELSEWHERE = "s3://elsewhere/x"

OF_OBJECTS = {
    "statObject": _object("GET", f"{_R}/objects/stat?path=a/b", "fs:ReadObject"),
    "getObject": _object("GET", f"{_R}/objects?path=a/b", "fs:ReadObject"),
    "headObject": _object("HEAD", f"{_R}/objects?path=a/b", "fs:ReadObject"),
    "getUnderlyingProperties": _object(
        "GET", f"{_R}/objects/underlyingProperties?path=a/b", "fs:ReadObject"
    ),
    "listObjects": _one("GET", f"{_R}/objects/ls", "fs:ListObjects", REPO),
    "uploadObject": _object("POST", f"{_B}/objects?path=a/b", "fs:WriteObject", b"x"),
    "uploadObjectPreflight": _object(
        "GET", f"{_B}/objects/stage_allowed?path=a/b", "fs:WriteObject"
    ),
    "updateObjectUserMetadata": _object(
        "PUT", f"{_B}/objects/stat/user_metadata?path=a/b", "fs:WriteObject", {"set": {}}
    ),
    "deleteObject": _object("DELETE", f"{_B}/objects?path=a/b", "fs:DeleteObject"),
    "deleteObjects": _object("POST", f"{_B}/objects/delete", "fs:DeleteObject", {"paths": ["a/b"]}),
    "copyObject": Example(
        "POST",
        f"{_B}/objects/copy?dest_path=c",
        (("fs:ReadObject", OBJECT), ("fs:WriteObject", f"{REPO}/object/c")),
        {"src_path": "a/b"},
    ),
    "createRecordedUpload": _object("POST", f"{_B}/uploads?path=a/b", "fs:WriteObject", {}),
    "presignRecordedPart": _object("PUT", f"{_RECORDED}/parts/1?path=a/b", "fs:WriteObject"),
    "copyRecordedPart": Example(
        "PUT",
        f"{_RECORDED}/parts/1/copy?path=a/b",
        (*_WRITE, ("fs:ReadObject", f"{REPO}/object/other")),
        {"copy_source": {"repository": "repo", "ref": "main", "path": "other"}},
    ),
    "listRecordedParts": _object("GET", f"{_RECORDED}/parts?path=a/b", "fs:WriteObject"),
    "completeRecordedUpload": _object(
        "PUT",
        f"{_RECORDED}?path=a/b",
        "fs:WriteObject",
        {"parts": [{"part_number": 1, "etag": "x"}]},
    ),
    "abortRecordedUpload": _object("DELETE", f"{_RECORDED}?path=a/b", "fs:WriteObject"),
    "listRecordedUploads": _repository("GET", "/uploads", "fs:ListObjects"),
    "copyPrefix": Example(
        "POST",
        f"{_B}/objects/copy_prefix?dest_prefix=c/",
        (("fs:WriteObject", f"{REPO}/object/c/*"), ("fs:ReadObject", f"{REPO}/object/a/*")),
        {"src_prefix": "a/"},
    ),
    "movePrefix": Example(
        "POST",
        f"{_B}/objects/move_prefix?dest_prefix=c/",
        (
            ("fs:WriteObject", f"{REPO}/object/c/*"),
            ("fs:ReadObject", f"{REPO}/object/a/*"),
            ("fs:DeleteObject", f"{REPO}/object/a/*"),
        ),
        {"src_prefix": "a/"},
    ),
    "restorePrefix": Example(
        "POST",
        f"{_B}/objects/restore_prefix",
        tuple((f"fs:{verb}Object", f"{REPO}/object/a/*") for verb in ("Write", "Delete", "Read")),
        {"prefix": "a/", "ref": "main"},
    ),
    "deletePrefix": Example(
        "POST",
        f"{_B}/objects/delete_prefix",
        (("fs:DeleteObject", f"{REPO}/object/a/*"),),
        {"prefix": "a/"},
    ),
    "getPrefixTotal": _repository("GET", "/refs/main/objects/total?prefix=a/", "fs:ListObjects"),
    "presignObjects": _one(
        "GET", f"{_R}/objects/presigned?glob=a/*.csv", "fs:ReadObject", f"{REPO}/object/a/*"
    ),
    "listObjectHistory": Example(
        "GET",
        f"{_R}/objects/history?path=a/b",
        (*_READ, ("fs:ReadBranch", MAIN)),
    ),
    "listLastCommits": Example(
        "GET",
        f"{_R}/objects/last_commits?prefix=a/",
        (("fs:ListObjects", REPO), ("fs:ReadBranch", MAIN)),
    ),
    "stageObject": Example(
        "PUT",
        f"{_B}/objects?path=a/b",
        (*_WRITE, ("fs:ImportFromStorage", f"{FS}namespace/{_ELSEWHERE}")),
        {"physical_address": _ELSEWHERE, **_STAGED},
    ),
    "getPhysicalAddress": _object("GET", f"{_B}/staging/backing?path=a/b", "fs:WriteObject"),
    "linkPhysicalAddress": Example(
        "PUT",
        f"{_B}/staging/backing?path=a/b",
        (*_WRITE, ("fs:ImportFromStorage", f"{FS}namespace/{_ELSEWHERE}")),
        {"staging": {"physical_address": _ELSEWHERE}, **_STAGED},
    ),
    "getPhysicalAddresses": _object(
        "POST", f"{_B}/staging/addresses", "fs:WriteObject", {"paths": ["a/b"]}
    ),
    "linkPhysicalAddresses": _object(
        "POST",
        f"{_B}/staging/links",
        "fs:WriteObject",
        {"objects": [{"path": "a/b", "staging": {"physical_address": _ELSEWHERE}, **_STAGED}]},
    ),
    "createPresignMultipartUpload": _object(
        "POST", f"{_B}/staging/pmpu?path=a/b", "fs:WriteObject"
    ),
    "uploadPart": _object(
        "PUT", f"{_PART}?path=a/b", "fs:WriteObject", {"physical_address": "{address}"}
    ),
    "uploadPartCopy": Example(
        "PUT",
        f"{_PART}/copy?path=a/b",
        (*_WRITE, ("fs:ReadObject", f"{REPO}/object/other")),
        {
            "physical_address": "{address}",
            "copy_source": {"repository": "repo", "ref": "main", "path": "other"},
        },
    ),
    "completePresignMultipartUpload": _object(
        "PUT",
        f"{_B}/staging/pmpu/{{upload}}?path=a/b",
        "fs:WriteObject",
        {"physical_address": "{address}", "parts": [{"part_number": 1, "etag": "x"}]},
    ),
    "abortPresignMultipartUpload": _object(
        "DELETE",
        f"{_B}/staging/pmpu/{{upload}}?path=a/b",
        "fs:WriteObject",
        {"physical_address": "{address}"},
    ),
}

_MERGE = "/repositories/repo/refs/dev/merge/main"

OF_REFS = {
    "commit": _branch("POST", "/commits", "fs:CreateCommit", {"message": "m"}),
    "commitAsync": _branch("POST", "/commits/async", "fs:CreateCommit", {"message": "m"}),
    "commitAsyncStatus": _branch("GET", "/commits/async/{commit task}/status", "fs:ReadBranch"),
    "CreateCommitRecord": _repository(
        "POST",
        "/commits",
        "fs:CreateCommit",
        {
            "commit_id": "0" * 64,
            "version": 1,
            "committer": "c",
            "message": "m",
            "metarange_id": "",
            "creation_date": 1,
            "parents": [],
            "generation": 1,
        },
    ),
    "getCommit": _repository("GET", "/commits/{head}", "fs:ReadCommit"),
    "logCommits": _one("GET", f"{_R}/commits", "fs:ReadBranch", MAIN),
    "diffBranch": _one("GET", f"{_B}/diff", "fs:ListObjects", REPO),
    "diffRefs": _repository("GET", "/refs/main/diff/dev", "fs:ListObjects"),
    "mergeIntoBranch": _one("POST", _MERGE, "fs:CreateCommit", MAIN, {}),
    "mergeIntoBranchAsync": _one("POST", f"{_MERGE}/async", "fs:CreateCommit", MAIN, {}),
    "mergeIntoBranchAsyncStatus": _one(
        "GET", f"{_MERGE}/async/{{merge task}}/status", "fs:ReadBranch", MAIN
    ),
    "findMergeBase": _one("GET", _MERGE, "fs:ListCommits", REPO),
    "createSymlinkFile": _one("POST", f"{_R}/symlink", "fs:WriteObject", f"{REPO}/object/main"),
    "getBranch": _branch("GET", "", "fs:ReadBranch"),
    "listBranches": Example(
        "GET",
        "/repositories/repo/branches?with_commits=true",
        (("fs:ListBranches", REPO), ("fs:ReadCommit", REPO)),
    ),
    "createBranch": _one(
        "POST",
        "/repositories/repo/branches",
        "fs:CreateBranch",
        f"{REPO}/branch/new",
        {"name": "new", "source": "main"},
    ),
    "deleteBranch": _one(
        "DELETE", "/repositories/repo/branches/dev", "fs:DeleteBranch", f"{REPO}/branch/dev"
    ),
    "resetBranch": _branch("PUT", "", "fs:RevertBranch", {"type": "reset"}),
    "hardResetBranch": _branch("PUT", "/hard_reset?ref=dev", "fs:RevertBranch"),
    "revertBranch": _branch(
        "POST", "/revert", "fs:RevertBranch", {"ref": "main", "parent_number": 0}
    ),
    "cherryPick": Example(
        "POST",
        f"{_B}/cherry-pick",
        (("fs:CreateCommit", MAIN), ("fs:ReadCommit", REPO)),
        {"ref": "dev"},
    ),
    "getTag": _one("GET", "/repositories/repo/tags/v1", "fs:ReadTag", f"{REPO}/tag/v1"),
    "listTags": _repository("GET", "/tags", "fs:ListTags"),
    "createTag": _one(
        "POST",
        "/repositories/repo/tags",
        "fs:CreateTag",
        f"{REPO}/tag/v2",
        {"id": "v2", "ref": "main"},
    ),
    "deleteTag": _one("DELETE", "/repositories/repo/tags/v1", "fs:DeleteTag", f"{REPO}/tag/v1"),
}

_GC_RULES = {"default_retention_days": 7, "branches": []}
_PROTECTION = ("branches:GetBranchProtectionRules", "branches:SetBranchProtectionRules")
_COLLECTION = (
    "retention:GetGarbageCollectionRules",
    "retention:SetGarbageCollectionRules",
    "retention:PrepareGarbageCollectionCommits",
)

OF_REPOSITORIES = {
    "getRepository": _repository("GET", "", "fs:ReadRepository"),
    "listRepositories": _one("GET", "/repositories", "fs:ListRepositories", REPO),
    "createRepository": Example(
        "POST",
        "/repositories",
        (
            ("fs:CreateRepository", f"{FS}repository/new"),
            ("fs:AttachStorageNamespace", f"{FS}namespace/s3://bucket/new"),
        ),
        {"name": "new", "storage_namespace": "s3://bucket/new"},
    ),
    "deleteRepository": _repository("DELETE", "", "fs:DeleteRepository"),
    "getRepositoryMetadata": _repository("GET", "/metadata", "fs:ReadRepository"),
    "setRepositoryMetadata": _repository(
        "POST", "/metadata", "fs:UpdateRepository", {"metadata": {}}
    ),
    "deleteRepositoryMetadata": _repository(
        "DELETE", "/metadata", "fs:UpdateRepository", {"keys": []}
    ),
    "getBranchProtectionRules": _repository("GET", "/settings/branch_protection", _PROTECTION[0]),
    "setBranchProtectionRules": _repository(
        "PUT", "/settings/branch_protection", _PROTECTION[1], []
    ),
    "createBranchProtectionRulePreflight": _repository(
        "GET", "/branch_protection/set_allowed", _PROTECTION[1]
    ),
    "internalGetBranchProtectionRules": _repository("GET", "/branch_protection", _PROTECTION[0]),
    "internalCreateBranchProtectionRule": _repository(
        "POST", "/branch_protection", _PROTECTION[1], {"pattern": "x"}
    ),
    "internalDeleteBranchProtectionRule": _repository(
        "DELETE", "/branch_protection", _PROTECTION[1], {"pattern": "x"}
    ),
    "getMetaRange": Example("GET", "/repositories/repo/metadata/meta_range/{metarange}", _FILES),
    "getRange": Example("GET", "/repositories/repo/metadata/range/{metarange}", _FILES),
    "getMetadataObject": Example(
        "GET", "/repositories/repo/metadata/object/range/{metarange}", _FILES
    ),
    "dumpRefs": Example("PUT", "/repositories/repo/refs/dump", _DUMP),
    "dumpSubmit": Example("POST", "/repositories/repo/dump", _DUMP),
    "dumpStatus": Example("GET", "/repositories/repo/dump?task_id=x", _DUMP),
    "restoreRefs": Example("PUT", "/repositories/repo/refs/restore", _RESTORE, _REFS),
    "restoreSubmit": Example("POST", "/repositories/repo/restore", _RESTORE, _REFS),
    "restoreStatus": Example("GET", "/repositories/repo/restore?task_id=x", _RESTORE),
    "importStart": Example(
        "POST",
        f"{_B}/import",
        (
            ("fs:WriteObject", MAIN),
            ("fs:CreateCommit", MAIN),
            ("fs:ImportFromStorage", f"{FS}namespace/s3://raw/in/*"),
            ("fs:WriteObject", f"{REPO}/object/in/*"),
        ),
        {
            "paths": [{"type": "common_prefix", "path": "s3://raw/in/", "destination": "in"}],
            "commit": {"message": "m"},
        },
    ),
    "importStatus": _branch("GET", "/import?id={import task}", "fs:ReadBranch"),
    "importCancel": _branch("DELETE", "/import?id={import task}", "fs:ImportCancel"),
    "getGCRules": _repository("GET", "/settings/gc_rules", _COLLECTION[0]),
    "setGCRules": _repository("PUT", "/settings/gc_rules", _COLLECTION[1], _GC_RULES),
    "deleteGCRules": _repository("DELETE", "/settings/gc_rules", _COLLECTION[1]),
    "internalGetGarbageCollectionRules": _repository("GET", "/gc/rules", _COLLECTION[0]),
    "internalSetGarbageCollectionRules": _repository(
        "POST", "/gc/rules", _COLLECTION[1], _GC_RULES
    ),
    "internalDeleteGarbageCollectionRules": _repository("DELETE", "/gc/rules", _COLLECTION[1]),
    "setGarbageCollectionRulesPreflight": _repository(
        "GET", "/gc/rules/set_allowed", _COLLECTION[1]
    ),
    "prepareGarbageCollectionCommits": _repository("POST", "/gc/prepare_commits", _COLLECTION[2]),
    "prepareGarbageCollectionCommitsAsync": _repository(
        "POST", "/gc/prepare_commits/async", _COLLECTION[2]
    ),
    "prepareGarbageCollectionCommitsStatus": _repository(
        "GET", "/gc/prepare_commits/status?id=x", _COLLECTION[2]
    ),
    "prepareGarbageCollectionUncommitted": _repository(
        "POST", "/gc/prepare_uncommited", "retention:PrepareGarbageCollectionUncommitted"
    ),
    "checkGCRules": _repository("POST", "/settings/gc_rules/check", _COLLECTION[1], _GC_RULES),
    "listCollectionRuns": _repository("GET", "/gc/runs", _COLLECTION[0]),
    "getCollectionRun": _repository("GET", "/gc/runs/x", _COLLECTION[0]),
    "startCollectionRun": Example(
        "POST",
        "/repositories/repo/gc/runs",
        (
            (_COLLECTION[2], REPO),
            ("retention:PrepareGarbageCollectionUncommitted", REPO),
            (_COLLECTION[1], REPO),
        ),
        {"dry_run": False},
    ),
    "listRepositoryRuns": _repository("GET", "/actions/runs", "ci:ReadAction"),
    "getRun": _repository("GET", "/actions/runs/x", "ci:ReadAction"),
    "listRunHooks": _repository("GET", "/actions/runs/x/hooks", "ci:ReadAction"),
    "getRunHookOutput": _repository("GET", "/actions/runs/x/hooks/y/output", "ci:ReadAction"),
    "listPullRequests": _repository("GET", "/pulls", "pr:ListPullRequests"),
    "getPullRequest": _repository("GET", "/pulls/{pull}", "pr:ReadPullRequest"),
    "createPullRequest": _repository(
        "POST",
        "/pulls",
        "pr:WritePullRequest",
        {"title": "t", "source_branch": "dev", "destination_branch": "main"},
    ),
    "updatePullRequest": _repository("PATCH", "/pulls/{pull}", "pr:WritePullRequest", {}),
    "mergePullRequest": Example(
        "PUT",
        "/repositories/repo/pulls/{pull}/merge",
        (("pr:WritePullRequest", REPO), ("fs:CreateCommit", MAIN)),
    ),
    "reviewPullRequest": _repository(
        "PUT",
        "/pulls/{pull}/review",
        "pr:WritePullRequest",
        {"verdict": "approved", "commit_id": "{head}"},
    ),
    "listPullRequestComments": _repository("GET", "/pulls/{pull}/comments", "pr:ReadPullRequest"),
    "createPullRequestComment": _repository(
        "POST", "/pulls/{pull}/comments", "pr:WritePullRequest", {"text": "x"}
    ),
    "deletePullRequestComment": Example(
        "DELETE",
        "/repositories/repo/pulls/{pull}/comments/{comment}",
        (("pr:WritePullRequest", REPO), ("fs:UpdateRepository", REPO)),
    ),
    "getContinuousExport": _branch("GET", "/continuous-export", "fs:ReadBranch"),
    "getExportStatus": _branch("GET", "/export-status", "fs:ReadBranch"),
    "listExportRuns": _branch("GET", "/export-runs", "fs:ReadBranch"),
    "setContinuousExport": Example(
        "PUT",
        f"{_B}/continuous-export",
        (
            ("fs:ExportConfig", MAIN),
            ("fs:AttachStorageNamespace", f"{FS}namespace/s3://exports/x/*"),
            ("fs:AttachStorageNamespace", f"{FS}namespace/s3://exports/status/*"),
        ),
        {"exportPath": "s3://exports/x", "exportStatusPath": "s3://exports/status/"},
    ),
    "deleteContinuousExport": _branch("DELETE", "/continuous-export", "fs:ExportConfig"),
    "runExport": _branch("POST", "/export-hook", "fs:CreateCommit"),
    "repairExport": _branch("POST", "/repair-export", "fs:CreateCommit"),
    "listTasks": _repository("GET", "/tasks", "fs:ReadRepository"),
    "getTask": Example(
        "GET",
        "/repositories/repo/tasks/{commit task}",
        (("fs:ReadRepository", REPO), ("fs:ReadBranch", MAIN)),
    ),
    "cancelTask": Example(
        "DELETE",
        "/repositories/repo/tasks/{commit task}",
        (("fs:ReadRepository", REPO), ("fs:CreateCommit", MAIN)),
    ),
}

OF_ACCOUNTS = {
    "listUsers": _one("GET", "/auth/users", "auth:ListUsers", "*"),
    "createUser": _auth("POST", "/users", "CreateUser", "user/cy", {"id": "cy"}),
    "getUser": _auth("GET", "/users/cy", "ReadUser", "user/cy"),
    "deleteUser": _auth("DELETE", "/users/cy", "DeleteUser", "user/cy"),
    "listUserGroups": _auth("GET", "/users/cy/groups", "ReadUser", "user/cy"),
    "listUserPolicies": _auth("GET", "/users/cy/policies", "ReadUser", "user/cy"),
    "attachPolicyToUser": _auth("PUT", "/users/cy/policies/p", "AttachPolicy", "user/cy"),
    "detachPolicyFromUser": _auth("DELETE", "/users/cy/policies/p", "DetachPolicy", "user/cy"),
    "listUserCredentials": _auth("GET", "/users/cy/credentials", "ListCredentials", "user/cy"),
    "createCredentials": _auth("POST", "/users/cy/credentials", "CreateCredentials", "user/cy"),
    "getCredentials": _auth("GET", "/users/cy/credentials/k", "ReadCredentials", "user/cy"),
    "deleteCredentials": _auth("DELETE", "/users/cy/credentials/k", "DeleteCredentials", "user/cy"),
    "listGroups": _one("GET", "/auth/groups", "auth:ListGroups", "*"),
    "createGroup": _auth("POST", "/groups", "CreateGroup", "group/g", {"id": "g"}),
    "getGroup": _auth("GET", "/groups/g", "ReadGroup", "group/g"),
    "deleteGroup": _auth("DELETE", "/groups/g", "DeleteGroup", "group/g"),
    "listGroupMembers": _auth("GET", "/groups/g/members", "ReadGroup", "group/g"),
    "addGroupMembership": _auth("PUT", "/groups/g/members/cy", "AddGroupMember", "group/g"),
    "deleteGroupMembership": _auth(
        "DELETE", "/groups/g/members/cy", "RemoveGroupMember", "group/g"
    ),
    "listGroupPolicies": _auth("GET", "/groups/g/policies", "ReadGroup", "group/g"),
    "attachPolicyToGroup": _auth("PUT", "/groups/g/policies/p", "AttachPolicy", "group/g"),
    "detachPolicyFromGroup": _auth("DELETE", "/groups/g/policies/p", "DetachPolicy", "group/g"),
    "getGroupACL": Example(
        "GET",
        "/auth/groups/g/acl",
        (("auth:ReadGroup", f"{AUTH}group/g"), ("auth:ReadPolicy", f"{AUTH}policy/ACL(_-_)g")),
    ),
    "setGroupACL": Example(
        "POST",
        "/auth/groups/g/acl",
        (
            ("auth:ReadGroup", f"{AUTH}group/g"),
            ("auth:AttachPolicy", f"{AUTH}policy/ACL(_-_)g"),
            ("auth:UpdatePolicy", f"{AUTH}policy/ACL(_-_)g"),
        ),
        {"permission": "Read"},
    ),
    "listPolicies": _one("GET", "/auth/policies", "auth:ListPolicies", "*"),
    "createPolicy": _auth("POST", "/policies", "CreatePolicy", "policy/p", _POLICY),
    "getPolicy": _auth("GET", "/policies/p", "ReadPolicy", "policy/p"),
    "updatePolicy": _auth("PUT", "/policies/p", "UpdatePolicy", "policy/p", _POLICY),
    "deletePolicy": _auth("DELETE", "/policies/p", "DeletePolicy", "policy/p"),
    "endUserSessions": _auth("DELETE", "/users/cy/sessions", "DeleteCredentials", "user/cy"),
    "endSessions": Example("DELETE", "/user/sessions", ()),
    "createUserExternalPrincipal": _auth(
        "POST",
        "/users/cy/external/principals?principalId=arn",
        "CreateUserExternalPrincipal",
        "user/cy",
        {},
    ),
    "deleteUserExternalPrincipal": _auth(
        "DELETE",
        "/users/cy/external/principals?principalId=arn",
        "DeleteUserExternalPrincipal",
        "user/cy",
    ),
    "listUserExternalPrincipals": _auth(
        "GET", "/users/cy/external/principals/ls", "ReadUser", "user/cy"
    ),
    "getExternalPrincipal": _auth(
        "GET",
        "/external/principals?principalId=arn",
        "ReadExternalPrincipal",
        "externalPrincipal/arn",
    ),
}

_EXPLAINED = "action=fs:ReadObject&resource=*"

OF_RIGHTS = {
    "explainAccess": Example(
        "GET",
        f"/auth/users/cy/access?{_EXPLAINED}",
        (("auth:ReadUser", f"{AUTH}user/cy"), ("auth:ListPolicies", "*")),
    ),
    "listAccess": Example(
        "GET",
        "/auth/users/cy/access/actions?resource=*",
        (("auth:ReadUser", f"{AUTH}user/cy"), ("auth:ListPolicies", "*")),
    ),
    "listAuditRecords": Example(
        "GET", "/auth/audit", (("auth:ListUsers", "*"), ("auth:ListPolicies", "*"))
    ),
    "listAccessActions": Example("GET", "/auth/actions", ()),
    "checkPolicy": Example("POST", "/auth/check_policy", (), _POLICY),
    "listPolicyAttachments": Example(
        "GET",
        "/auth/policies/p/attachments",
        (("auth:ReadPolicy", f"{AUTH}policy/p"), ("auth:ListGroups", "*"), ("auth:ListUsers", "*")),
    ),
}

OF_THE_INSTALLATION = {
    "getStorageConfig": _one("GET", "/config/storage", "fs:ReadConfig", "*"),
    "getConfig": Example("GET", "/config", ()),
    "getLakeFSVersion": Example("GET", "/config/version", ()),
    "getGarbageCollectionConfig": Example("GET", "/config/garbage-collection", ()),
    "getUsageReportSummary": Example("GET", "/usage-report/summary", ()),
    "postStatsEvents": Example("POST", "/statistics", (), {"events": []}),
}

# Every operation that needs a credential.
EXAMPLES = {
    **OF_OBJECTS,
    **OF_REFS,
    **OF_REPOSITORIES,
    **OF_ACCOUNTS,
    **OF_RIGHTS,
    **OF_THE_INSTALLATION,
}
