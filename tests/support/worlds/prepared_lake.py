"""A small lake with something of everything that requests can name."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any
from unittest.mock import patch
from urllib.parse import quote

from graveler.branches.lookup import read_repository
from graveler.identity import make_commit
from graveler.model import CommitID, MetaRangeID
from graveler.operations import pulls
from graveler.operations.pulls import NewPullRequest
from graveler.ports import Credential
from graveler.retention.files import run_folder
from graveler.retention.runs import LEASE
from graveler_functions.api.settings import ApiSettings
from tests.support.clients.api import SECRET, SETUP_TOKEN, ApiClient, Reply
from tests.support.fakes.identities import ROLE, SERVER, CheckingSts, token_of

CONTENT = b"content of an object"
SPARE_KEY_ID = "AKIAJSPARESPARESPAREQ"

_ACTION = b"""
name: quality
on: {pre-commit: }
hooks:
- {id: check, type: webhook, properties: {url: 'https://hooks.example.com/check'}}
"""


@dataclass(frozen=True)
class Lake:
    """A client of a lake, and what the requests name."""

    api: ApiClient
    commit_id: str
    described: Mapping[str, Any]  # a commit that CreateCommitRecord can store
    metarange_id: str
    range_id: str
    tasks: Mapping[str, str]  # the ID of a running task of each kind
    address: str  # that getPhysicalAddress gave for `linked`
    source: str  # the physical address of `a/1`
    upload: Mapping[str, str]  # of `parted`, with one part
    recorded: Mapping[str, str]  # of `recorded`, with one part, by its record
    dump: Mapping[str, str]
    pull_id: str  # from `dev` into `spare`
    pull_of_cy: str  # another one, whose author is the user `cy`
    comment_id: str  # on the first one
    run: Mapping[str, str]  # of a hook, in the repository `hooked`
    collection_run_id: str
    identity_token: str  # of ROLE, who is the user `cy`


@cache
def prepared() -> Lake:
    """Return the lake, of whose client tests use forks."""
    api = ApiClient(ApiSettings(setup_token=SETUP_TOKEN, iam_login_server_id=SERVER))
    api.identities = CheckingSts()
    api._begin()
    api.repository()
    for path in ("a/1", "a/2", "b"):
        api.upload(path, CONTENT, headers={"x-lakefs-meta-k": "v"})
    api.commit()
    for branch in ("dev", "exported", "spare"):
        api.branch(branch)
    api.upload("on-dev", branch="dev")
    commit_id = api.commit(branch="dev")["id"]
    api.repository("empty")
    api.world.objects.put("s3://raw/in/x", CONTENT, "text/plain")
    api.world.objects.put("s3://elsewhere/o", CONTENT, "text/plain")
    _ask(api, "POST", "/repositories/repo/tags", {"id": "v1", "ref": "main"})
    _ask(api, "PUT", "/repositories/repo/settings/branch_protection", [{"pattern": "release*"}])
    rules: dict[str, Any] = {
        "default_retention_days": 7,
        "branches": [{"branch_id": "dev", "retention_days": 3}],
    }
    _ask(api, "PUT", "/repositories/repo/settings/gc_rules", rules)
    export: dict[str, Any] = {"exportPath": "s3://exports/main"}
    _ask(api, "PUT", "/repositories/repo/branches/exported/continuous-export", export)
    dump = _ask(api, "PUT", "/repositories/repo/refs/dump").json
    bare = {"name": "bare", "storage_namespace": "s3://bucket/repo"}
    _ask(api, "POST", "/repositories?bare=true", bare)
    head = _ask(api, "GET", "/repositories/repo/refs/main/commits").json["results"][0]
    api.upload("staged", CONTENT)
    _grant_rights(api)
    _give_keys(api)
    return Lake(
        api,
        commit_id,
        _described(head),
        head["meta_range_id"],
        _range_id(api, head["meta_range_id"]),
        _tasks(api, dump),
        _backing(api, "linked"),
        _ask(api, "GET", "/repositories/repo/refs/main/objects/stat?path=a/1").json[
            "physical_address"
        ],
        _upload(api, "parted"),
        _recorded(api, "recorded"),
        dump,
        *_pulls(api),
        _run(api),
        _collection_run(api),
        _identity_token(api),
    )


def _ask(api: ApiClient, method: str, path: str, body: Any = None) -> Reply:
    path, _, query = path.partition("?")
    reply = api.ask(method, path, body, query=query)
    assert reply.status < 300, reply
    return reply


def _grant_rights(api: ApiClient) -> None:
    """Make a user in a group with a policy, and a spare group and policy for further ones."""
    statement = {"effect": "allow", "action": ["fs:ReadObject"], "resource": "*"}
    _ask(api, "POST", "/auth/users", {"id": "cy"})
    for group in ("g", "spare"):
        _ask(api, "POST", "/auth/groups", {"id": group})
    for policy in ("p", "spare"):
        _ask(api, "POST", "/auth/policies", {"id": policy, "statement": [statement]})
    _ask(api, "PUT", "/auth/groups/g/members/cy")
    _ask(api, "PUT", "/auth/users/cy/policies/p")
    _ask(api, "PUT", "/auth/groups/g/policies/p")


def _described(head: Mapping[str, Any]) -> dict[str, Any]:
    made = make_commit(
        committer="somebody",
        message="copied",
        metarange_id=MetaRangeID(head["meta_range_id"]),
        creation_date=1_500_000_000,
        metadata={"k": "v"},
        parents=(CommitID(head["id"]),),
        generation=head["generation"] + 1,
    )
    names = ("committer", "message", "metarange_id", "creation_date", "metadata", "generation")
    return {
        "commit_id": made.id,
        "version": made.version,
        "parents": list(made.parents),
        "force": True,
        **{name: getattr(made, name) for name in names},
    }


def _range_id(api: ApiClient, metarange_id: str) -> str:
    """Put the files of committed data where clients read them, and return the ID of a range."""
    for (namespace, file_id), content in api.world.files.files.items():
        api.world.objects.put(f"{namespace}/_lakefs/{file_id}", content, "")
    repo = read_repository(api.engine, "repo")
    [header] = repo.metarange(MetaRangeID(metarange_id)).headers()
    return header.id


def _tasks(api: ApiClient, dump: Mapping[str, str]) -> dict[str, str]:
    """Start a task of each kind, and run none."""
    repo, message = "/repositories/repo", {"message": "m"}
    source = {"type": "common_prefix", "path": "s3://raw/in/", "destination": "in/"}
    imported = {"paths": [source], "commit": message}
    started = {
        "commit": ("POST", f"{repo}/branches/main/commits/async", message),
        "merge": ("POST", f"{repo}/refs/dev/merge/main/async", message),
        "import": ("POST", f"{repo}/branches/spare/import", imported),
        "dump": ("POST", f"{repo}/dump", None),
        "restore": ("POST", "/repositories/bare/restore", dump),
        "prepare": ("POST", f"{repo}/gc/prepare_commits/async", None),
    }
    return {kind: _ask(api, *request).json["id"] for kind, request in started.items()}


def _backing(api: ApiClient, path: str) -> str:
    reply = _ask(api, "GET", f"/repositories/repo/branches/main/staging/backing?path={path}")
    address: str = reply.json["physical_address"]
    api.world.objects.put(address, CONTENT, "text/plain")
    return address


def _upload(api: ApiClient, path: str) -> dict[str, str]:
    uploads = "/repositories/repo/branches/main/staging/pmpu"
    upload = _ask(api, "POST", f"{uploads}?path={path}&parts=1").json
    etag = api.world.objects.request_presigned(upload["presigned_urls"][0], CONTENT)
    return {"id": upload["upload_id"], "address": upload["physical_address"], "etag": etag.decode()}


def _recorded(api: ApiClient, path: str) -> dict[str, str]:
    uploads = "/repositories/repo/branches/main/uploads"
    upload_id = _ask(api, "POST", f"{uploads}?path={path}", {}).json["upload_id"]
    part = _ask(api, "PUT", f"{uploads}/{upload_id}/parts/1?path={path}").json
    etag = api.world.objects.request_presigned(part["presigned_url"], CONTENT)
    return {"id": upload_id, "etag": etag.decode()}


def _pulls(api: ApiClient) -> tuple[str, str, str]:
    """Return the IDs of a pull request, of one of `cy`, and of a comment on the first."""
    root = "/repositories/repo/pulls"
    asked = {"title": "t", "source_branch": "dev", "destination_branch": "spare"}
    created = _ask(api, "POST", root, asked).json["id"]
    theirs = pulls.create(api.world.engine(), "repo", NewPullRequest("cy", "dev", "spare", "t"))
    comment = _ask(api, "POST", f"{root}/{created}/comments", {"text": "why?"}).json["id"]
    return created, theirs.id, comment


def _run(api: ApiClient) -> dict[str, str]:
    """Run a hook in a repository of its own, and return the IDs of the run and of the hook's."""
    api.repository("hooked")
    root = "/repositories/hooked"
    _ask(api, "POST", f"{root}/branches/main/objects?path=_lakefs_actions/quality.yaml", _ACTION)
    _ask(api, "POST", f"{root}/branches/main/commits", {"message": "m"})
    [run] = _ask(api, "GET", f"{root}/actions/runs").json["results"]
    [hook] = _ask(api, "GET", f"{root}/actions/runs/{run['run_id']}/hooks").json["results"]
    return {"run_id": run["run_id"], "hook_run_id": hook["hook_run_id"]}


def _give_keys(api: ApiClient) -> None:
    """Let the user `cy` log in, with a key pair and as a role of AWS."""
    api.accounts.create_key(Credential(SPARE_KEY_ID, SECRET, "cy", 1_600_000_000))
    _ask(api, "POST", f"/auth/users/cy/external/principals?principalId={quote(ROLE)}", {})


def _identity_token(api: ApiClient) -> str:
    """Return a token that is signed by the lake's clock, and is as good in each of its forks."""
    now = datetime.fromtimestamp(api.world.clock.peek_ns // 10**9, UTC)
    with patch("botocore.auth.get_current_datetime", lambda: now):
        return token_of(life_s=900)


def _collection_run(api: ApiClient) -> str:
    """Start a run that ends at once, and return its ID."""
    run_id = str(_ask(api, "POST", "/repositories/repo/gc/runs", {"dry_run": True}).json["run_id"])
    repository = api.world.refs.repository("repo")
    assert repository is not None
    summary = b'{"success": true, "start_time": "2026-01-02T03:04:05Z", "num_marked_objects": 1}'
    uri = f"s3://bucket/repo/{run_folder(run_id)}"
    api.world.objects.put(f"{uri}summary.json", summary, "application/json")
    api.world.objects.put(f"{uri}report.txt", b"a report", "text/plain")
    api.world.jobs.end_lease(repository, LEASE, run_id)
    return run_id
