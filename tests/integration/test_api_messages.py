"""What is refused is told in the words of lakeFS, by which scripts tell one failure from another."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from graveler.addresses import encode_xid, new_address, sign_address
from graveler.errors import AccessDeniedError
from graveler.messages import Refusal
from tests.support.checks.cases import for_each
from tests.support.clients.api import ApiClient, Reply, event

REPO = "/repositories/repo"
PULLS = f"{REPO}/pulls"
MAIN = f"{REPO}/branches/main"
DEV = f"{REPO}/branches/dev"
SAFE = f"{REPO}/branches/safe"
ONE = f"{REPO}/refs/main/objects"
RULES = f"{REPO}/settings/branch_protection"
TRANSCRIPT = Path(__file__).parent.parent / "golden" / "lakectl.txt"


@pytest.fixture(scope="module")
def api() -> ApiClient:
    """A repository whose branches `main` and `dev` disagree; `main` has a merge, `dirty` is dirty."""
    api = ApiClient()
    api.repository()
    _upload(api, "main", "a", b"1")
    _commit(api, "main")
    for branch in ("dev", "side", "safe", "dirty"):
        api.branch(branch)
    for branch in ("side", "dev"):
        _upload(api, branch, "a" if branch == "dev" else "b", branch.encode())
        _commit(api, branch)
    assert api.ask("POST", f"{REPO}/refs/side/merge/main", {}).status == 200
    _upload(api, "main", "a", b"2")
    _commit(api, "main")
    _upload(api, "dirty", "d", b"3")
    assert api.ask("POST", f"{REPO}/tags", {"id": "v1", "ref": "main"}).status == 201
    assert api.ask("PUT", RULES, [{"pattern": "safe"}]).status == 204
    frozen = {"name": "frozen", "storage_namespace": "s3://bucket/repo", "read_only": True}
    assert api.ask("POST", "/repositories", frozen).status == 201
    for source in ("dev", "side"):
        assert api.ask("POST", PULLS, _pull(source)).status == 201
    pulls = api.ask("GET", PULLS).json["results"]
    (closed,) = (pull["id"] for pull in pulls if pull["source_branch"] == "side")
    assert api.ask("PATCH", f"{PULLS}/{closed}", {"status": "closed"}).status == 204
    gone = api.ask("GET", f"{ONE}/stat", path="b").json["physical_address"]
    api.world.objects.delete(gone)
    api.world.objects.missing_buckets.add("missing")
    return api


def _upload(api: ApiClient, branch: str, path: str, content: bytes) -> None:
    target = f"{REPO}/branches/{branch}/objects"
    assert api.ask("POST", target, content, path=path).status == 201


def _commit(api: ApiClient, branch: str) -> None:
    reply = api.ask("POST", f"{REPO}/branches/{branch}/commits", {"message": "m"})
    assert reply.status == 201


def _repository(name: str, namespace: str, bucket: str = "bucket") -> dict[str, object]:
    return {"name": name, "storage_namespace": f"s3://{bucket}/{namespace}"}


def _import(*uris: str) -> dict[str, object]:
    paths = [{"type": "common_prefix", "path": uri, "destination": "to/"} for uri in uris]
    return {"paths": paths, "commit": {"message": "m"}}


def _link(address: str) -> dict[str, object]:
    uri = {"physical_address": f"s3://bucket/repo/{address}"}
    return {"staging": uri, "checksum": "c", "size_bytes": 1}


def _pull(source: str, destination: str = "main") -> dict[str, object]:
    return {"title": source, "source_branch": source, "destination_branch": destination}


R = Refusal
OF_NAMES = "invalid value: validation error"

# How each row of the table is provoked, and what the client gets: the texts stand here once more,
# because others compare them.
STATEMENT = {"effect": "allow", "action": ["fs:*"], "resource": "*"}

PROVOKED = [
    (R.REPOSITORY_NOT_FOUND, ("GET", "/repositories/none"), 404, "repository not found"),
    (R.BRANCH_NOT_FOUND, ("GET", f"{REPO}/branches/none"), 404, "branch not found"),
    (
        R.BRANCH_OF_UPLOAD_NOT_FOUND,
        ("POST", f"{REPO}/branches/none/objects?path=a", b"new"),
        404,
        "branch 'none' not found",
    ),
    (R.TAG_NOT_FOUND, ("GET", f"{REPO}/tags/none"), 404, "tag not found"),
    (R.COMMIT_NOT_FOUND, ("GET", f"{REPO}/commits/none"), 404, "commit not found"),
    (R.PULL_REQUEST_NOT_FOUND, ("GET", f"{PULLS}/{20 * '0'}"), 404, "pull request not found"),
    (R.NOT_FOUND, ("GET", f"{ONE}/stat?path=none"), 404, "not found"),
    (R.RUN_NOT_FOUND, ("GET", "/repositories/repo/actions/runs/x"), 404, "not found: not found"),
    (R.USER_NOT_FOUND, ("GET", "/auth/users/none"), 404, "user not found"),
    (R.GROUP_NOT_FOUND, ("GET", "/auth/groups/none"), 404, "group not found"),
    (R.POLICY_NOT_FOUND, ("GET", "/auth/policies/none"), 404, "policy not found"),
    (
        R.CREDENTIALS_NOT_FOUND,
        ("GET", "/auth/users/ann/credentials/none"),
        404,
        "credentials not found",
    ),
    (
        R.BAD_PARAMETER,
        ("GET", f"{ONE}/stat"),
        400,
        'parameter "path" in query has an error: value is required but missing',
    ),
    (
        R.BAD_PATH_PARAMETER,
        ("GET", "/repositories//branches"),
        400,
        'parameter "repository" in path has an error: value is required but missing',
    ),
    (
        R.BAD_HEADER,
        ("GET", f"{ONE}?path=a", None, {"if-none-match": ""}),
        400,
        'parameter "If-None-Match" in header has an error: empty value is not allowed',
    ),
    (
        R.BAD_BODY,
        ("POST", f"{MAIN}/commits", b"{"),
        400,
        "request body has an error: Input data was truncated",
    ),
    (
        R.BAD_REPOSITORY_NAME,
        ("GET", "/repositories/A"),
        400,
        f"argument repository: repository id: {OF_NAMES}",
    ),
    (
        R.BAD_BRANCH_NAME,
        ("GET", f"{REPO}/branches/a.b"),
        400,
        f"argument branch: branch id: {OF_NAMES}",
    ),
    (
        R.BAD_NAME_OF_NEW_BRANCH,
        ("POST", f"{REPO}/branches", {"name": "a.b", "source": "main"}),
        400,
        (
            f"argument branch: branch id: {OF_NAMES}: branch id must consist of letters, digits, "
            "underscores and dashes, and cannot start with a dash"
        ),
    ),
    (
        R.BAD_SOURCE_BRANCH_NAME,
        ("POST", PULLS, _pull("a.b")),
        400,
        f"argument src: branch id: {OF_NAMES}",
    ),
    (
        R.BAD_DESTINATION_BRANCH_NAME,
        ("POST", PULLS, _pull("dev", "a.b")),
        400,
        f"argument dest: branch id: {OF_NAMES}",
    ),
    (R.BAD_TAG_NAME, ("GET", f"{REPO}/tags/a..b"), 400, f"argument tagID: tag id: {OF_NAMES}"),
    (R.BAD_REF, ("GET", f"{REPO}/commits/main~1@"), 400, f"ref: {OF_NAMES}"),
    (
        R.BAD_MODIFIER,
        ("GET", f"{REPO}/commits/main~x"),
        400,
        f"could not parse modifier ~x: ref: {OF_NAMES}",
    ),
    (
        R.STAGING_IS_NO_COMMIT,
        ("GET", f"{REPO}/commits/main$"),
        400,
        "reference 'main$': reference to staging area with $ is not a commit",
    ),
    (
        R.NO_PATH,
        ("PUT", MAIN, {"type": "object"}),
        400,
        "argument path: missing path: required value: validation error",
    ),
    (
        R.LONG_PATH,
        ("GET", f"{ONE}/stat?path={'p' * 1025}"),
        400,
        f"argument path: {OF_NAMES}: 1025 is above maximum length (1024)",
    ),
    (
        R.TOO_MANY_PATHS,
        ("POST", f"{MAIN}/objects/delete", {"paths": ["p"] * 1001}),
        400,
        "request size exceeded, max paths is set to 1000",
    ),
    (
        R.TOO_MANY_PARTS,
        ("POST", f"{MAIN}/staging/pmpu?path=a&parts=10001"),
        400,
        "parts can be between 0 and 10000",
    ),
    (
        R.NO_PARTS,
        (
            "PUT",
            f"{MAIN}/staging/pmpu/u?path=a",
            {"physical_address": "s3://bucket/x", "parts": []},
        ),
        400,
        "parts are required",
    ),
    (
        R.FOREIGN_ADDRESS,
        ("DELETE", f"{MAIN}/staging/pmpu/u?path=a", {"physical_address": "s3://bucket/x"}),
        400,
        "physical address must be relative to the storage namespace",
    ),
    (
        R.UNSIGNED_ADDRESS,
        ("PUT", f"{MAIN}/staging/backing?path=a", _link("data/x/y")),
        400,
        "address is not signed: link address invalid",
    ),
    (
        R.ADDRESS_OF_ANOTHER_USE,
        ("PUT", f"{MAIN}/staging/backing?path=a", _link("data/x/y,signature")),
        400,
        "invalid address signature: invalid address",
    ),
    (
        R.EXPIRED_ADDRESS,
        ("PUT", f"{MAIN}/staging/backing?path=a", _link("data/x/y,signature")),
        400,
        "link address expired",
    ),
    (
        R.NAMESPACE_OF_ANOTHER_STORE,
        ("POST", "/repositories", {"name": "other", "storage_namespace": "gs://bucket/other"}),
        400,
        "failed to match required regex ^s3://: invalid namespace",
    ),
    (
        R.NAMESPACE_WITHOUT_ACCESS,
        ("POST", "/repositories", _repository("other", "other", "missing")),
        400,
        "failed to create repository: failed to access storage",
    ),
    (
        R.NAMESPACE_IN_USE,
        ("POST", "/repositories", _repository("other", "repo")),
        400,
        (
            "failed to create repository: found lakeFS objects in the storage (:s3://bucket/repo) "
            "key(_lakefs/dummy): storage namespace already in use"
        ),
    ),
    (
        R.IMPORT_FROM_NAMESPACE,
        ("POST", f"{MAIN}/import", _import("s3://bucket/repo/data/")),
        400,
        (
            "import path (s3://bucket/repo/data/) in repository namespace (s3://bucket/repo) is "
            "prohibited: invalid import source"
        ),
    ),
    (
        R.IMPORT_OVER_NAMESPACE,
        ("POST", f"{MAIN}/import", _import("s3://bucket/")),
        400,
        (
            "prefix (s3://bucket/) contains repository namespace: (s3://bucket/repo), "
            "invalid import source"
        ),
    ),
    (
        R.DIRTY_BRANCH,
        ("POST", f"{REPO}/refs/dev/merge/dirty", {}),
        400,
        "uncommitted changes (dirty branch)",
    ),
    (
        R.METARANGE_OVER_CHANGES,
        ("POST", f"{REPO}/branches/dirty/commits?source_metarange=", {"message": "m"}),
        400,
        "cannot use source MetaRange on a branch with uncommitted changes",
    ),
    (
        R.NOTHING_TO_COMMIT,
        ("POST", f"{MAIN}/commits", {"message": "m"}),
        400,
        "commit: no changes",
    ),
    (
        R.NOTHING_TO_MERGE,
        ("POST", f"{REPO}/refs/side/merge/main", {}),
        400,
        "update branch main: no changes",
    ),
    (
        R.NOTHING_TO_REPEAT,
        ("POST", f"{DEV}/revert", {"ref": "side", "parent_number": 0}),
        400,
        "update branch: no changes",
    ),
    (
        R.PERCENT_IN_NAME,
        ("POST", "/auth/users", {"id": "a%b"}),
        400,
        "User name cannot contain '%'",
    ),
    (R.EMPTY_NAME, ("POST", "/auth/users", {"id": ""}), 400, "empty name: validation error"),
    (
        R.DELIMITER_IN_NAME,
        ("POST", "/auth/groups", {"id": "a/b"}),
        400,
        "name contains delimiter /: validation error",
    ),
    (R.BAD_ACCOUNT_NAME, ("POST", "/auth/users", {"id": "a\n"}), 400, "validation error"),
    (
        R.POLICY_RENAMED,
        ("PUT", "/auth/policies/FSReadAll", {"id": "Other", "statement": [STATEMENT]}),
        400,
        "can't update policy id",
    ),
    (
        R.SAME_BRANCH,
        ("POST", PULLS, _pull("main")),
        400,
        "source and destination branches are the same: same branch validation error",
    ),
    (
        R.BAD_PULL_REQUEST_ID,
        ("GET", f"{PULLS}/none"),
        400,
        f"argument pullRequestID: pull request id: {OF_NAMES}",
    ),
    (
        R.BAD_PULL_REQUEST_STATUS,
        ("PATCH", f"{PULLS}/OPEN", {"status": "merged"}),
        400,
        "invalid pull request status: validation error",
    ),
    (R.PULL_REQUEST_NOT_OPEN, ("PUT", f"{PULLS}/CLOSED/merge"), 400, "bad pull request status"),
    (
        R.BAD_STRATEGY,
        ("POST", f"{REPO}/refs/dev/merge/main", {"strategy": "ours"}),
        400,
        f"argument strategy: {OF_NAMES}",
    ),
    (
        R.REVERT_BEYOND_PARENTS,
        ("POST", f"{MAIN}/revert", {"ref": "main", "parent_number": 7}),
        400,
        "given commit does not have the given parent number: parent 7",
    ),
    (
        R.PICK_BEYOND_PARENTS,
        ("POST", f"{MAIN}/cherry-pick", {"ref": "main", "parent_number": 7}),
        400,
        "parent 7: given commit does not have the given parent number",
    ),
    (
        R.PICK_WITHOUT_PARENT,
        ("POST", f"{DEV}/cherry-pick", {"ref": "main~1"}),
        400,
        "must specify 1-based parent number for cherry-picking merge commit",
    ),
    (
        R.REVERT_WITHOUT_PARENT,
        ("POST", f"{MAIN}/revert", {"ref": "main~1", "parent_number": 0}),
        409,
        "must specify 1-based parent number for reverting merge commit",
    ),
    (
        R.CONFLICT_FOUND,
        ("POST", f"{MAIN}/cherry-pick", {"ref": "dev"}),
        409,
        "update branch: conflict found",
    ),
    (
        R.MERGE_CONFLICT,
        ("PUT", f"{PULLS}/OPEN/merge"),
        409,
        "update branch main: conflict found",
    ),
    (
        R.PROTECTED_FROM_WRITES,
        ("DELETE", f"{SAFE}/objects?path=a"),
        403,
        "cannot write to protected branch",
    ),
    (
        R.PROTECTED_FROM_COMMITS,
        ("POST", f"{SAFE}/commits", {"message": "m"}),
        403,
        "cannot commit to protected branch",
    ),
    (R.PROTECTED_FROM_RESETS, ("PUT", f"{SAFE}/hard_reset?ref=main"), 403, "protected branch"),
    (R.PROTECTED_FROM_DELETION, ("DELETE", SAFE), 403, "cannot delete protected branch"),
    (R.READ_ONLY, ("DELETE", "/repositories/frozen"), 403, "read-only repository"),
    (R.DEFAULT_BRANCH, ("DELETE", MAIN), 403, "cannot delete repository default branch"),
    (R.IMPORT_ENDED, ("DELETE", f"{REPO}/branches/side/import?id="), 409, "conflict found"),
    (R.ACCOUNT_EXISTS, ("POST", "/auth/users", {"id": "ann"}), 409, "Already exists"),
    (
        R.REPOSITORY_EXISTS,
        ("POST", "/repositories", _repository("repo", "other")),
        409,
        "error creating repository: not unique",
    ),
    (
        R.BRANCH_EXISTS,
        ("POST", f"{REPO}/branches", {"name": "dev", "source": "main"}),
        409,
        "branch already exists: not unique",
    ),
    (
        R.TAG_EXISTS,
        ("POST", f"{REPO}/tags", {"id": "v1", "ref": "main"}),
        409,
        "tag already exists: not unique",
    ),
    (
        R.NAME_OF_BRANCH,
        ("POST", f"{REPO}/tags", {"id": "dev", "ref": "main"}),
        409,
        "branch name dev: conflict found",
    ),
    (
        R.NAME_OF_TAG,
        ("POST", f"{REPO}/branches", {"name": "v1", "source": "main"}),
        409,
        "tag ID v1: conflict found",
    ),
    (
        R.NAME_OF_COMMIT,
        ("POST", f"{REPO}/tags", {"id": "HEAD", "ref": "main"}),
        409,
        "commit ID HEAD: conflict found",
    ),
    (R.NO_DATA, ("GET", f"{ONE}?path=b"), 410, "No data"),
    (
        R.PATH_EXISTS,
        ("POST", f"{MAIN}/objects?path=a", b"new", {"if-none-match": "*"}),
        412,
        "path already exists",
    ),
    (
        R.CHANGED,
        ("PUT", RULES, [], {"if-match": '"other"'}),
        412,
        "Precondition failed",
    ),
    (R.NOT_SERVED, ("GET", "/auth/groups/Admins/acl"), 501, "Not Implemented"),
]


def _send(
    api: ApiClient,
    method: str,
    target: str,
    body: object = None,
    headers: dict[str, str] | None = None,
) -> Reply:
    """Ask for a target as it stands on the wire, percent-encoded."""
    path, _, query = target.partition("?")
    sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    given = {"authorization": api.authorization, **(headers or {})}
    return api.send(event(method, f"/api/v1{path}", query=query, headers=given, body=sent))


@for_each(
    ("row", "request_", "status", "message"),
    PROVOKED,
    ids=lambda case: case[0].name,
)
def test_a_refusal_has_exactly_the_message_of_lakefs(api, row, request_, status, message):
    head = api.ask("GET", MAIN).json["commit_id"]
    method, target, *more = request_
    if row is Refusal.NAME_OF_COMMIT:
        more, message = [{"id": head, "ref": "main"}], f"commit ID {head}: conflict found"
    if row is Refusal.METARANGE_OVER_CHANGES:
        target += api.ask("GET", f"{REPO}/commits/{head}").json["meta_range_id"]
    if row is Refusal.EXPIRED_ADDRESS:
        old = new_address(encode_xid(bytes(12)))
        more = [_link(sign_address(api.engine.signing_key, "repo", "main", b"a", old))]
    if row is Refusal.IMPORT_ENDED:
        target += api.ask("POST", f"{REPO}/branches/side/import", _import()).json["id"]
        api.run_tasks()
    for pull in api.ask("GET", PULLS).json["results"]:
        target = target.replace(pull["status"].upper(), pull["id"])
    reply = _send(api, method, target, *more)
    assert (reply.status, reply.json["message"]) == (status, message)
    assert api.ask("GET", MAIN).json["commit_id"] == head


def test_a_link_to_a_path_that_exists_has_the_message_of_lakefs(api):
    backing = f"{MAIN}/staging/backing?path=a"
    address = _send(api, "GET", backing).json["physical_address"]
    body = {"staging": {"physical_address": address}, "checksum": "c", "size_bytes": 1}
    reply = _send(api, "PUT", backing, body, {"if-none-match": "*"})
    assert (reply.status, reply.json["message"]) == (412, "Precondition failed")
    assert reply.json["details"] == "path already exists: 'a'"


def test_every_refusal_is_provoked():
    # tests/security/test_access_matrix.py provokes those of access control.
    others = [row for row in Refusal if row.kind is not AccessDeniedError]
    assert [row for row, *_ in PROVOKED] == others


def _steps() -> Iterator[tuple[str, str, str]]:
    """Each request of the transcript with its answer, and the command that they belong to."""
    command, asked = "", ""
    for line in TRANSCRIPT.read_text(encoding="utf-8").splitlines():
        if line.startswith("$ "):
            command = line
        elif line[:3].isdigit():
            yield command, asked, line
        elif line and not line.startswith("#"):
            asked = line


def test_lakectl_prints_what_it_printed():
    api, answer, different = ApiClient(), "", []
    for command, asked, expected in _steps():
        method, target, *body = asked.split(" ", 2)
        sent = body[0].replace("ANSWER", answer).encode() if body else None
        reply = _send(api, method, target, sent)
        answer = reply.content.decode()
        message = reply.json.get("message", "") if reply.status >= 400 else ""
        if f"{reply.status} {message}".rstrip() != expected:
            different.append((command, asked, expected, answer))
    assert different == []
