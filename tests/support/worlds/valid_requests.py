"""One valid request for each served operation, over a small lake; it uses every parameter.

Tests prove with them that operations read what they declare, and fuzzers start from them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

from graveler_functions.api.all_operations import OPERATIONS
from graveler_functions.api.app import API_PREFIX
from tests.support.clients.api import ACCESS_KEY_ID, SECRET, SETUP_TOKEN, ApiClient, Reply, event
from tests.support.fakes.identities import ARN, ROLE
from tests.support.worlds.prepared_lake import CONTENT, SPARE_KEY_ID, Lake, prepared

PATHS = {each.template.name: each.template.path for each in OPERATIONS}
METHODS = {each.template.name: each.template.method for each in OPERATIONS}


@dataclass(frozen=True)
class Sent:
    """A request of one operation.

    Attributes:
        names: the path's parameters, with the names of the template.
        status: that of the answer, if not the first that the operation declares.
    """

    operation: str
    names: Mapping[str, str]
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    status: int | None = None

    @property
    def method(self) -> str:
        return METHODS[self.operation]

    @property
    def path(self) -> str:
        """The whole path, percent-encoded."""
        path = PATHS[self.operation]
        for name, value in self.names.items():
            path = path.replace(f"<{name}>", quote(value, safe=""))
        return API_PREFIX + path

    @property
    def content(self) -> bytes | None:
        """The body's bytes; other bodies than bytes are JSON."""
        if self.body is None or isinstance(self.body, bytes):
            return self.body
        return json.dumps(self.body).encode()

    def without(self, parameter: str) -> "Sent":
        """Return the request without a parameter of the query."""
        query = {name: value for name, value in self.query.items() if name != parameter}
        return replace(self, query=query)

    def without_body(self) -> "Sent":
        return replace(self, body=None)


def send(api: ApiClient, sent: Sent) -> Reply:
    """Send the request with the client's credentials."""
    headers = {"authorization": api.authorization, **sent.headers}
    query = urlencode(list(sent.query.items()))
    return api.send(event(sent.method, sent.path, query=query, headers=headers, body=sent.content))


class _Table(dict[str, Sent]):
    """Requests by operation."""

    def add(
        self,
        operation: str,
        body: Any = None,
        /,
        *,
        names: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        status: int | None = None,
        **query: str,
    ) -> None:
        """Add a request; names of the path are those of `_NAMES` unless given."""
        path = PATHS[operation]
        used = {name: value for name, value in _NAMES.items() if f"<{name}>" in path}
        kind = {} if body is None else {"content-type": "application/json"}
        self[operation] = Sent(
            operation, {**used, **(names or {})}, query, {**kind, **(headers or {})}, body, status
        )


_NAMES = {
    "repository": "repo",
    "branch": "main",
    "ref": "main",
    "tag": "v1",
    "left_ref": "main",
    "right_ref": "dev",
    "source_ref": "dev",
    "destination_branch": "main",
    "part_number": "1",
    "type": "range",
    "user_id": "cy",
    "group_id": "g",
    "policy_id": "p",
}
_PAGE: dict[str, Any] = {"prefix": "", "after": "", "amount": "100"}
_MESSAGE: dict[str, Any] = {"message": "m", "metadata": {"k": "v"}}
_MERGE: dict[str, Any] = {
    **_MESSAGE,
    "strategy": "source-wins",
    "force": True,
    "allow_empty": True,
    "squash_merge": True,
    "resolutions": {},
    "source_commit_id": None,
}


@cache
def valid_requests() -> Mapping[str, Sent]:
    """Return a request for every served operation, by operationId."""
    lake, table = prepared(), _Table()
    _add_objects(lake, table)
    _add_uploads(lake, table)
    _add_recorded_uploads(lake, table)
    _add_commits(lake, table)
    _add_refs(lake, table)
    _add_repositories(table)
    _add_collection(lake, table)
    _add_tasks(lake, table)
    _add_accounts(table)
    _add_rights(table)
    _add_pulls(lake, table)
    _add_runs(lake, table)
    _add_prefixes(table)
    _add_keys_and_principals(lake, table)
    return table


def _add_objects(lake: Lake, table: _Table) -> None:
    stored: dict[str, Any] = {
        "physical_address": "s3://elsewhere/o",
        "checksum": "c",
        "size_bytes": 20,
    }
    details = {"mtime": 1_600_000_000, "content_type": "text/plain", "force": True}
    absent = {"if-none-match": "*"}
    table.add("statObject", path="a/1", user_metadata="true", presign="true")
    table.add("listObjects", **_PAGE, delimiter="/", user_metadata="true", presign="true")
    upload: dict[str, Any] = {"content-type": "text/plain", "x-lakefs-meta-k": "v", **absent}
    new: dict[str, Any] = {"path": "new", "force": "true", "storageClass": "STANDARD"}
    table.add("uploadObject", CONTENT, headers=upload, **new)
    present = {"if-match": "*"}
    table.add("deleteObject", headers=present, path="a/1", force="true")
    table.add("deleteObjects", {"paths": ["a/1", "nothing"]}, force="true")
    copied = {"src_path": "a/1", "src_ref": "dev", "force": True, "shallow": False}
    ours = {"src_repository": "repo", "content_type": "text/plain", "user_metadata": {"k": "w"}}
    named = {"src_physical_address": lake.source}
    table.add("copyObject", {**copied, **ours, **named}, headers=absent, dest_path="copy")
    described = {"set": {"k": "w"}}
    table.add("updateObjectUserMetadata", described, headers=present, path="a/1")
    staged: dict[str, Any] = {**stored, **details, "metadata": {"k": "v"}}
    table.add("stageObject", staged, headers=absent, path="put")
    table.add("uploadObjectPreflight", path="a/1")
    table.add("getUnderlyingProperties", path="a/1")
    table.add("getObject", headers={"range": "bytes=0-99"}, path="a/1", presign="false", status=206)
    table.add("headObject", headers={"range": "bytes=0-99"}, path="a/1", status=206)
    table.add("getPhysicalAddress", path="p", presign="true")
    linked: dict[str, Any] = {**stored, **details, "staging": {"physical_address": lake.address}}
    linked = {**linked, "user_metadata": {"k": "v"}}
    del linked["physical_address"]
    table.add("linkPhysicalAddress", linked, headers=absent, path="linked")
    table.add("getPhysicalAddresses", {"paths": ["p", "q"]}, presign="true")
    objects = [{**linked, "path": "linked"}]
    table.add("linkPhysicalAddresses", {"objects": objects}, force="true")


def _add_uploads(lake: Lake, table: _Table) -> None:
    names = {"upload_id": lake.upload["id"]}
    address = {"physical_address": lake.upload["address"]}
    table.add("createPresignMultipartUpload", path="parts", parts="3")
    table.add("uploadPart", address, names=names, path="parted")
    source = {"repository": "repo", "ref": "main", "path": "a/1", "range": "bytes=0-4"}
    table.add("uploadPartCopy", {**address, "copy_source": source}, names=names, path="parted")
    parts = [{"part_number": 1, "etag": lake.upload["etag"]}]
    done = {**address, "parts": parts, "user_metadata": {"k": "v"}, "content_type": "text/plain"}
    absent = {"if-none-match": "*"}
    completed: dict[str, Any] = {"path": "parted", "force": "true"}
    table.add("completePresignMultipartUpload", done, names=names, headers=absent, **completed)
    table.add("abortPresignMultipartUpload", address, names=names, path="parted")


def _add_recorded_uploads(lake: Lake, table: _Table) -> None:
    names = {"upload_id": lake.recorded["id"]}
    path: dict[str, Any] = {"path": "recorded"}
    described = {"content_type": "text/plain", "user_metadata": {"k": "v"}}
    table.add("createRecordedUpload", described, path="parts")
    table.add("listRecordedUploads", **_PAGE, delimiter="/", after_id="")
    table.add("presignRecordedPart", names=names, **path)
    source = {"repository": "repo", "ref": "main", "path": "a/1", "range": "bytes=0-4"}
    copied = {"copy_source": source, "src_physical_address": lake.source}
    table.add("copyRecordedPart", copied, names=names, **path)
    table.add("listRecordedParts", names=names, after="0", amount="10", **path)
    parts = {"parts": [{"part_number": 1, "etag": lake.recorded["etag"]}]}
    table.add("completeRecordedUpload", parts, names=names, headers={"if-none-match": "*"}, **path)
    table.add("abortRecordedUpload", names=names, **path)


def _add_commits(lake: Lake, table: _Table) -> None:
    commit = {**_MESSAGE, "date": 1_600_000_000, "allow_empty": True, "force": True}
    spare = {"branch": "spare"}
    table.add("commit", commit, names=spare, source_metarange=lake.metarange_id)
    table.add("commitAsync", commit, names=spare, source_metarange=lake.metarange_id)
    table.add("commitAsyncStatus", names={"task_id": lake.tasks["commit"]})
    table.add("CreateCommitRecord", dict(lake.described))
    table.add("getCommit", names={"commit_id": lake.commit_id})
    limits: dict[str, Any] = {"limit": "true", "first_parent": "true", "stop_at": lake.commit_id}
    log: dict[str, Any] = {
        "objects": "a/1",
        "prefixes": "a/",
        "since": "2001-02-03T04:05:06Z",
        "not_in": "dev",
        **limits,
    }
    table.add("logCommits", amount="10", after="", **log)


def _add_refs(lake: Lake, table: _Table) -> None:
    overrides = {"commit_overrides": _MESSAGE, "force": True}
    table.add("getBranch")
    table.add("listBranches", **_PAGE, show_hidden="true", with_commits="true")
    table.add("createBranch", {"name": "new", "source": "main", "force": True, "hidden": True})
    table.add("deleteBranch", names={"branch": "spare"}, force="true")
    table.add("resetBranch", {"type": "object", "path": "staged", "force": True})
    dev, spare, any_head = {"branch": "dev"}, {"branch": "spare"}, {"if-match": "*"}
    table.add("hardResetBranch", names=dev, headers=any_head, ref="main", force="true")
    replay = {"ref": lake.commit_id, "parent_number": 1, **overrides}
    table.add("revertBranch", {**replay, "allow_empty": True}, names=dev)
    table.add("cherryPick", replay, names=spare)
    table.add("diffBranch", **_PAGE, delimiter="/", include_right_stats="true")
    diff: dict[str, Any] = {
        **_PAGE,
        "delimiter": "/",
        "type": "two_dot",
        "include_right_stats": "true",
    }
    table.add("diffRefs", **diff)
    into = {"destination_branch": "spare"}
    table.add("mergeIntoBranch", _MERGE, names=into, headers=any_head)
    table.add("mergeIntoBranchAsync", _MERGE, names=into, headers=any_head)
    merge_task = {"task_id": lake.tasks["merge"]}
    table.add("mergeIntoBranchAsyncStatus", names=merge_task)
    table.add("findMergeBase", ahead_behind="true")
    table.add("createSymlinkFile", location="a/")
    table.add("getTag")
    table.add("listTags", **_PAGE)
    table.add("createTag", {"id": "v2", "ref": "dev", "force": True})
    table.add("deleteTag", force="true")


def _add_repositories(table: _Table) -> None:
    table.add("getRepository")
    table.add("listRepositories", **_PAGE, search="e")
    made = {"name": "made", "storage_namespace": "s3://bucket/made", "storage_id": ""}
    created = {**made, "default_branch": "trunk", "sample_data": True, "read_only": False}
    table.add("createRepository", created, bare="false")
    table.add("deleteRepository", names={"repository": "empty"}, force="true")
    table.add("getRepositoryMetadata")
    table.add("setRepositoryMetadata", {"metadata": {"k": "v"}})
    table.add("deleteRepositoryMetadata", {"keys": ["k"]})
    table.add("getBranchProtectionRules")
    rules = [{"pattern": "main", "required_approvals": 1}, {"pattern": "v*"}]
    table.add("setBranchProtectionRules", rules, names={"repository": "empty"})
    table.add("createBranchProtectionRulePreflight")
    table.add("internalGetBranchProtectionRules")
    table.add("internalCreateBranchProtectionRule", {"pattern": "v*"})
    table.add("internalDeleteBranchProtectionRule", {"pattern": "release*"})
    exported = {"branch": "exported"}
    export: dict[str, Any] = {
        "exportPath": "s3://exports/x",
        "exportStatusPath": "s3://exports/status",
    }
    export |= {"lastKeysInPrefixRegexp": ["^_SUCCESS$"], "isContinuous": True}
    table.add("getContinuousExport", names=exported)
    table.add("setContinuousExport", export, names={"branch": "dev"}, force="true")
    table.add("deleteContinuousExport", names=exported)
    table.add("runExport", names=exported)
    table.add("repairExport", names=exported, status=409)  # nothing has failed
    table.add("getExportStatus", names=exported)
    table.add("listExportRuns", names=exported)


def _add_collection(lake: Lake, table: _Table) -> None:
    rules: dict[str, Any] = {"default_retention_days": 1, "branches": []}
    for prefix in ("get", "set", "delete"):
        body = rules if prefix == "set" else None
        table.add(f"{prefix}GCRules", body)
        table.add(f"internal{prefix.title()}GarbageCollectionRules", body)
    table.add("setGarbageCollectionRulesPreflight")
    table.add("prepareGarbageCollectionCommits")
    table.add("prepareGarbageCollectionCommitsAsync")
    table.add("prepareGarbageCollectionCommitsStatus", id=lake.tasks["prepare"])
    table.add("prepareGarbageCollectionUncommitted", {"continuation_token": None})
    table.add("checkGCRules", rules)
    table.add("startCollectionRun", {"dry_run": False, "maximum_deletions": 1000})
    table.add("listCollectionRuns", after="", amount="10")
    table.add("getCollectionRun", names={"run_id": lake.collection_run_id})
    table.add("getMetaRange", names={"meta_range": lake.metarange_id})
    table.add("getRange", names={"range": lake.range_id})
    table.add("getMetadataObject", names={"object_id": lake.range_id}, presign="false")


def _add_tasks(lake: Lake, table: _Table) -> None:
    bare = {"repository": "bare"}
    table.add("dumpRefs")
    table.add("dumpSubmit")
    table.add("dumpStatus", task_id=lake.tasks["dump"])
    table.add("restoreRefs", {**lake.dump, "force": True}, names=bare)
    table.add("restoreSubmit", {**lake.dump, "force": True}, names=bare)
    table.add("restoreStatus", names=bare, task_id=lake.tasks["restore"])
    source = {"type": "object", "path": "s3://raw/in/x", "destination": "x"}
    imported = {"paths": [source], "commit": _MESSAGE, "force": True}
    table.add("importStart", imported, names={"branch": "exported"})
    table.add("importStatus", id=lake.tasks["import"])
    table.add("importCancel", id=lake.tasks["import"])
    table.add("listTasks", after="", amount="10", branch="main", state="open")
    table.add("getTask", names={"task_id": lake.tasks["dump"]})
    table.add("cancelTask", names={"task_id": lake.tasks["dump"]})


def _add_accounts(table: _Table) -> None:
    for name in ("getConfig", "getLakeFSVersion", "getStorageConfig", "healthCheck"):
        table.add(name)
    table.add("getGarbageCollectionConfig")
    table.add("postStatsEvents", {"events": [{"class": "c", "name": "n", "count": 1}]})
    table.add("getUsageReportSummary", headers={"accept": "application/json"})
    for name in ("getCurrentUser", "getSetupState", "getAuthCapabilities"):
        table.add(name)
    key = {"access_key_id": ACCESS_KEY_ID, "secret_access_key": SECRET}
    token = {"x-graveler-setup-token": SETUP_TOKEN}
    table.add("setup", {"username": "ann", "key": key}, headers=token, status=409)
    preferences = {"featureUpdates": True, "securityUpdates": False, "email": "a@example.com"}
    table.add("setupCommPrefs", preferences, status=409)
    table.add("login", key)


def _add_rights(table: _Table) -> None:
    statement = {
        "effect": "allow",
        "action": ["fs:ReadObject"],
        "resource": "*",
        "condition": {"IpAddress": {"SourceIp": ["127.0.0.1"]}},
    }
    policy: dict[str, Any] = {"id": "p", "statement": [statement]}
    table.add("listUsers", **_PAGE)
    which: dict[str, Any] = {"user": "ann", "operation": "login", "outcome": "succeeded"}
    which |= {"since": "2001-02-03T04:05:06Z", "until": "2101-02-03T04:05:06Z"}
    table.add("listAuditRecords", after="", amount="10", **which)
    table.add("createUser", {"id": "new", "invite_user": False})
    table.add("getUser")
    table.add("deleteUser")
    table.add("endSessions")
    table.add("endUserSessions")
    table.add("listUserGroups", **_PAGE)
    table.add("listUserPolicies", **_PAGE, effective="true")
    table.add("attachPolicyToUser", names={"policy_id": "spare"})
    table.add("detachPolicyFromUser")
    table.add("listGroups", **_PAGE)
    table.add("createGroup", {"id": "new", "description": "d"})
    table.add("getGroup")
    table.add("deleteGroup")
    table.add("listGroupMembers", **_PAGE)
    table.add("addGroupMembership", names={"group_id": "spare"})
    table.add("deleteGroupMembership")
    table.add("listGroupPolicies", **_PAGE)
    table.add("attachPolicyToGroup", names={"policy_id": "spare"})
    table.add("detachPolicyFromGroup")
    table.add("listPolicies", **_PAGE)
    table.add("createPolicy", {**policy, "id": "new"})
    table.add("getPolicy")
    table.add("updatePolicy", policy)
    table.add("deletePolicy")
    below = "arn:lakefs:fs:::repository/repo/object/a/*"
    table.add("explainAccess", action="fs:ReadObject", resource=below, source_ip="203.0.113.7")
    table.add("listAccess", resource=below, source_ip="203.0.113.7")
    table.add("listAccessActions")
    table.add("checkPolicy", policy)
    table.add("listPolicyAttachments", **_PAGE)


def _add_pulls(lake: Lake, table: _Table) -> None:
    names = {"pull_request": lake.pull_id}
    created = {"title": "t", "source_branch": "dev", "destination_branch": "main"}
    table.add("listPullRequests", **_PAGE)
    listing = table["listPullRequests"]  # its `status` is not that of the answer
    table["listPullRequests"] = replace(
        listing, query={**listing.query, "status": "open", "reviewer": "cy"}
    )
    table.add("createPullRequest", {**created, "description": "d", "reviewers": ["cy"]})
    table.add("getPullRequest", names=names)
    changed = {"title": "u", "description": "e", "status": "closed", "reviewers": ["cy"]}
    table.add("updatePullRequest", changed, names=names)
    table.add("mergePullRequest", _MERGE, names=names, headers={"if-match": "*"})
    verdict = {"verdict": "approved", "commit_id": lake.commit_id}
    table.add("reviewPullRequest", verdict, names={"pull_request": lake.pull_of_cy})
    table.add("listPullRequestComments", names=names, after="", amount="100")
    table.add("createPullRequestComment", {"text": "why?", "path": "a/1"}, names=names)
    table.add("deletePullRequestComment", names={**names, "comment": lake.comment_id})


def _add_runs(lake: Lake, table: _Table) -> None:
    hooked = {"repository": "hooked"}
    run = {**hooked, "run_id": lake.run["run_id"]}
    hook = {**run, "hook_run_id": lake.run["hook_run_id"]}
    page: dict[str, Any] = {"after": "", "amount": "10"}
    # Of a branch or of a commit: both are refused.
    table.add("listRepositoryRuns", names=hooked, **page, branch="main", commit="")
    table.add("getRun", names=run)
    table.add("listRunHooks", names=run, **page)
    table.add("getRunHookOutput", names=hook)


def _add_prefixes(table: _Table) -> None:
    move: dict[str, Any] = {"src_prefix": "a/", "if_exists": "skip", "force": True}
    table.add("copyPrefix", {**move, "src_ref": "dev"}, dest_prefix="copies/")
    table.add("movePrefix", move, dest_prefix="moved/")
    table.add("restorePrefix", {"prefix": "a/", "ref": "main", "force": True})
    table.add("deletePrefix", {"prefix": "a/", "force": True})
    table.add("getPrefixTotal", prefix="a/", after="")
    table.add("presignObjects", glob="a/*", after="", amount="10")
    table.add("listObjectHistory", path="a/1", after="", amount="10")
    table.add("listLastCommits", prefix="a/", after="", amount="10")


def _add_keys_and_principals(lake: Lake, table: _Table) -> None:
    pair = {"access_key_id": SPARE_KEY_ID}
    table.add("listUserCredentials", **_PAGE)
    table.add("createCredentials")
    table.add("getCredentials", names=pair)
    table.add("deleteCredentials", names=pair)
    table.add("createUserExternalPrincipal", {"settings": {"k": "v"}}, principalId=ARN)
    table.add("deleteUserExternalPrincipal", principalId=ROLE)
    table.add("listUserExternalPrincipals", **_PAGE)
    table.add("getExternalPrincipal", principalId=ROLE)
    signed = {"identity_token": lake.identity_token}
    login = {"identityRequest": signed, "token_expiration_duration": 3600}
    table.add("externalPrincipalLogin", login)
