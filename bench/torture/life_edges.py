"""Scenarios on branches of one client each: refused commits, uploads, and restores of dumps."""

from collections.abc import Callable, Mapping

from bench.torture import gateway, life_requests
from bench.torture.client import Client
from bench.torture.history import Record
from bench.torture.http_client import put_presigned
from bench.torture.ledger import md5
from bench.torture.life_requests import DoubtError, scenario
from bench.torture.lives import OWN, Life
from graveler_embedded.stores import BUCKET

_SEALED_MAX = 8
_REFUSALS = 11
_REFUSE = "_lakefs_actions/refuse.yaml"
_RESTORES = 8


@scenario
def life_refused(client: Client) -> None:
    """Have commits refused by a hook, with writes between, and then commit everything."""
    world = client.world
    life = life_requests.begin(client, world.first_commit)
    life_requests.write(client, life, _REFUSE, world.hooks.action("pre-commit", "refuse"))
    for _ in range(client.chance.choice((2, _REFUSALS))):
        life_requests.write(client, life)
        record = client.record("life_refused_commit", "", life.branch, "")
        url, body = f"/branches/{life.branch}/commits", {"message": f"#{record.id}"}
        reply = client.ask(record, "POST", url, body=body, timeout_s=life_requests.PATIENCE_S)
        if not reply.is_unknown and reply.status != 412:
            world.ledger.problem(f"{record} was answered {reply.status} {reply.message}")
        sealed = world.sealed_tokens(life.branch)
        if sealed > _SEALED_MAX:
            world.ledger.problem(f"{life.branch} has {sealed} sealed tokens")
            break
    record = client.record("life_unhook", "", life.branch, "")
    url, query = f"/branches/{life.branch}/objects", {"path": _REFUSE}
    life_requests.sure(client, life, record, "DELETE", url, (204,), query=query)
    life_requests.commit(client, life)


@scenario
def life_uploads(client: Client) -> None:
    """Upload to a branch that is replaced before the upload is complete.

    An upload of parts belongs to its branch. An address to link belongs to none.
    """
    use = client.chance.choice((_by_parts, _by_link))
    use(client, life_requests.begin(client, client.world.first_commit))


def _by_parts(client: Client, life: Life) -> None:
    record, data = client.record("life_complete", "", life.branch, ""), client.unique()
    key = f"{life.branch}/{OWN}{record.id}"
    created = client.record("life_create_upload", "", life.branch, "")
    reply = gateway.ask(client, created, "POST", key, {"uploads": ""})
    if created.outcome != "ok":
        raise DoubtError
    upload = {"uploadId": gateway.found_in(reply.body, "UploadId")}
    part = client.record("life_upload_part", "", life.branch, "")
    if gateway.ask(client, part, "PUT", key, {"partNumber": "1", **upload}, data).status != 200:
        raise DoubtError
    other = life_requests.replaced(client, life)
    text = f"<Part><PartNumber>1</PartNumber><ETag>{md5(data)}</ETag></Part>"
    document = f"<CompleteMultipartUpload>{text}</CompleteMultipartUpload>".encode()
    gateway.ask(client, record, "POST", key, upload, document)
    if record.outcome == "ok":
        text = f"{record} has changed the branch of birth {other.birth}, not {life.birth}"
        client.world.ledger.problem(text)
    _note(other, record, "")


def _by_link(client: Client, life: Life) -> None:
    record, data = client.record("life_link", "", life.branch, ""), client.unique()
    record.paths = (f"{OWN}{record.id}",)
    query = {"path": record.paths[0], "presign": "true"}
    url = f"/branches/{life.branch}/staging/backing"
    got = client.record("life_address", "", life.branch, "")
    answer = life_requests.sure(client, life, got, "GET", url, (200,), query=query).json
    if not put_presigned(answer["presigned_url"], data):
        raise DoubtError
    other = life_requests.replaced(client, life)
    body = {
        "checksum": md5(data),
        "size_bytes": len(data),
        "staging": {"physical_address": answer["physical_address"]},
    }
    reply = client.ask(record, "PUT", url, {"path": record.paths[0]}, body)
    _note(other, record, md5(data) if reply.status == 200 else "")


def _note(other: Life, record: Record, checksum: str) -> None:
    """Note whether the branch must have the upload; a lost answer leaves the branch in doubt."""
    if record.outcome == "unknown":
        other.state = "in doubt"
    elif checksum:
        other.objects[f"{OWN}{record.id}"] = checksum


@scenario
def restored(client: Client) -> None:
    """Restore a dump, again after each lost answer, and delete some of its names."""
    world = client.world
    record = client.record("dump", "")
    dump = client.ask(record, "PUT", "/refs/dump")
    if record.outcome != "ok":
        raise DoubtError
    name = f"restored-{record.id.replace('.', '-')}"
    namespace = f"s3://{BUCKET}/{world.repository}"
    body = {"name": name, "storage_namespace": namespace}
    place = Life(name)
    made = client.record("create_bare", "", name, "")
    life_requests.sure(client, place, made, "POST", "/repositories", (201,), body, {"bare": "true"})
    world.lives.restored.append(name)
    at = f"/repositories/{name}"
    if not _is_restored(client, name, dump.json):
        raise DoubtError
    for what in ("tags/first", "branches/dev", f"branches/{world.held}"):
        gone = client.record("delete_restored", "", name, "")
        reply = client.ask(gone, "DELETE", f"{at}/{what}")
        if reply.status == 204:
            world.lives.gone.append(f"{at}/{what}")


def _is_restored(client: Client, name: str, dump: dict[str, str]) -> bool:
    """Restore the dump; return whether an answer confirms it."""
    for attempt in range(_RESTORES):
        record = client.record("restore", "", name, "")
        reply = client.ask(record, "PUT", f"/repositories/{name}/refs/restore", body=dump)
        if reply.status == 200:
            return True
        if not reply.is_unknown:
            # After a lost answer, the repository may be restored and so not be bare.
            if not attempt:
                text = f"{record} was answered {reply.status} {reply.message}"
                client.world.ledger.problem(text)
            return reply.status == 400
    return False


ACTIONS: Mapping[str, Callable[[Client], Record | None]] = {
    action.__name__: action for action in (life_refused, life_uploads, restored)
}
