"""What a user tries who has some rights: other names for a resource, other ways to an object."""

from typing import Any
from urllib.parse import urlsplit

import pytest

from graveler.access.evaluate import Rights
from graveler.access.needs import Permission
from graveler.access.policy import Effect, Policy, Statement
from graveler.http.rights import RIGHTS_AGE_MAX_S
from graveler.model.tasks import TaskSettings
from graveler_functions.api.app import SERVICE
from tests.support.checks.lines import lines_of
from tests.support.clients.api import ACCESS_KEY_ID, SECRET, ApiClient, Reply, event
from tests.support.fakes.access import EVERYTHING, RestrictedClient, allowing, denying

FS = "arn:lakefs:fs:::"
REPO = f"{FS}repository/repo"
BRANCHES = "/repositories/repo/branches"
MAIN = f"{BRANCHES}/main"
READ = "/repositories/repo/refs/main/objects"
STAGED = {"checksum": "c", "size_bytes": 1}


@pytest.fixture
def admin() -> ApiClient:
    api = ApiClient()
    api.repository()
    for path in ("open/a", "secret/a"):
        api.upload(path)
    api.commit()
    return api


@pytest.fixture
def bob(admin: ApiClient) -> RestrictedClient:
    """A user without any right, whom each test gives some."""
    return RestrictedClient(admin)


def is_refused(reply: Reply) -> bool:
    return reply.status == 401 and reply.json["message"].startswith("insufficient permissions")


# Names


@pytest.mark.parametrize(
    "name",
    ["*", "?ain", "m*", "${user}", "main/", "main/../main", "MAIN", "ma%69n", "mäin", "main "],
)
def test_only_the_name_itself_is_allowed_and_no_pattern_that_matches_it(bob, name):
    bob.may(allowing(("fs:ReadBranch", f"{REPO}/branch/main")))
    encoded = "".join(f"%25{byte:02x}" for byte in name.encode())
    assert is_refused(bob.ask_as("GET", f"{BRANCHES}/{encoded}"))


@pytest.mark.parametrize("name", ["main", "m%61in", "m%2561in"])
def test_a_name_is_decoded_as_often_for_the_check_as_for_the_operation(bob, name):
    bob.may(allowing(("fs:ReadBranch", f"{REPO}/branch/main")))
    assert bob.ask_as("GET", f"{BRANCHES}/{name}").json["id"] == "main"
    bob.may(*EVERYTHING, denying(("fs:ReadBranch", f"{REPO}/branch/main")))
    assert is_refused(bob.ask_as("GET", f"{BRANCHES}/{name}"))


@pytest.mark.parametrize("name", ["repo%252Fbranch%252Fmain", "repo%2Fbranch%2Fmain", "*", "%253F"])
def test_a_repository_s_name_cannot_reach_into_another_resource(bob, name):
    bob.may(allowing(("fs:*", f"{REPO}/branch/main"), ("fs:*", f"{FS}repository/?")))
    reply = bob.ask_as("GET", f"/repositories/{name}")
    assert reply.status in {400, 401, 404}
    assert is_refused(bob.ask_as("GET", "/repositories/repo"))


def test_a_repository_whose_name_begins_alike_is_another(admin, bob):
    admin.repository("repo2")
    bob.may(allowing(("fs:ReadRepository", REPO), ("fs:ReadObject", f"{REPO}/object/*")))
    assert is_refused(bob.ask_as("GET", "/repositories/repo2"))
    assert is_refused(bob.ask_as("GET", "/repositories/repo2/refs/main/objects?path=x"))
    assert bob.ask_as("GET", "/repositories/repo").status == 200


@pytest.mark.parametrize(
    "path", ["secret/a", "secret%2Fa", "%73ecret/a", "secret/a&path=open/a", "secret/", "secret//a"]
)
def test_a_denied_prefix_is_denied_however_it_is_written(bob, path):
    bob.may(*EVERYTHING, denying(("fs:ReadObject", f"{REPO}/object/secret/*")))
    assert is_refused(bob.ask_as("GET", f"{READ}?path={path}"))
    assert bob.ask_as("GET", f"{READ}?path=open/a&path=secret/a").content == b"x"


@pytest.mark.parametrize("user", ["*", "?", "b*", "bob/", "${user}"])
def test_a_user_s_own_name_is_no_pattern(user):
    own = Policy(
        "own", (Statement(Effect.ALLOW, ("auth:*",), "arn:lakefs:auth:::user/${user}"),), 1
    )
    rights = Rights(user, [own])
    for other, is_allowed in ((user, True), ("bob", False), ("b", False), ("", False)):
        need = Permission("auth:CreateCredentials", f"arn:lakefs:auth:::user/{other}")
        assert rights.decide(need, {}).is_allowed is is_allowed


def test_a_body_cannot_name_another_resource_than_it_creates(bob):
    bob.may(allowing(("fs:CreateBranch", f"{REPO}/branch/mine")))
    body = b'{"name": "mine", "source": "main", "name": "yours"}'
    assert is_refused(bob.ask_as("POST", BRANCHES, body))
    body = b'{"name": "yours", "source": "main", "name": "mine"}'
    assert bob.ask_as("POST", BRANCHES, body).status == 201
    assert is_refused(bob.ask_as("POST", BRANCHES, {"name": "yours", "source": "main"}))


def test_a_namespace_is_checked_as_it_is_stored(bob):
    bob.may(*EVERYTHING, denying(("fs:AttachStorageNamespace", f"{FS}namespace/s3://bucket/x")))
    for namespace in ("s3://bucket/x", "s3://bucket/x/", "s3://bucket/x//"):
        body = {"name": "other", "storage_namespace": namespace}
        assert is_refused(bob.ask_as("POST", "/repositories", body))


# What a refusal shows


def test_what_does_not_exist_is_refused_alike(admin, bob):
    admin.repository("hidden")
    bob.may(allowing(("fs:ReadRepository", REPO)))
    for target in ("/repositories/{}", "/repositories/{}/branches/main", "/repositories/{}/tasks"):
        texts = {
            bob.ask_as("GET", target.format(name)).content.replace(name.encode(), b"")
            for name in ("hidden", "absent")
        }
        assert len(texts) == 1
        assert is_refused(bob.ask_as("GET", target.format("absent")))


def test_a_body_is_not_read_without_the_rights_on_the_path(bob):
    bob.may(allowing(("fs:CreateCommit", f"{REPO}/branch/dev")))
    assert is_refused(bob.ask_as("POST", f"{MAIN}/commits", b"{"))
    assert is_refused(bob.ask_as("PUT", f"{MAIN}/objects?path=a", b"{"))


def test_the_log_names_the_user_who_was_refused(bob, monkeypatch):
    log = lines_of(monkeypatch, SERVICE)
    bob.may()
    assert is_refused(bob.ask_as("GET", "/repositories/repo"))
    assert (log.last["user"], log.last["error_code"]) == ("bob", "access_denied")


# Other ways to an object


def test_a_listing_gives_urls_of_readable_objects_only(bob):
    bob.may(allowing(("fs:ListObjects", REPO), ("fs:ReadObject", f"{REPO}/object/open/*")))
    rows = bob.ask_as("GET", f"{READ}/ls?presign=true").json["results"]
    assert [
        (row["path"], "path_expiry" in row or "physical_address_expiry" in row) for row in rows
    ] == [
        ("open/a", True),
        ("secret/a", False),
    ]


def test_an_object_of_the_repository_is_not_staged_at_a_path_that_may_be_read(admin, bob):
    secret = admin.ask("GET", f"{READ}/stat", path="secret/a").json["physical_address"]
    bob.may(
        allowing(
            ("fs:WriteObject", f"{REPO}/object/open/*"), ("fs:ReadObject", f"{REPO}/object/open/*")
        )
    )
    body = {"physical_address": secret, **STAGED}
    assert is_refused(bob.ask_as("PUT", f"{MAIN}/objects?path=open/b", body))
    link = {"staging": {"physical_address": secret}, **STAGED}
    assert bob.ask_as("PUT", f"{MAIN}/staging/backing?path=open/b", link).status == 400
    copy = {"src_path": "secret/a"}
    assert is_refused(bob.ask_as("POST", f"{MAIN}/objects/copy?dest_path=open/b", copy))
    part = {
        "physical_address": secret,
        "copy_source": {"repository": "repo", "ref": "main", "path": "secret/a"},
    }
    target = f"{MAIN}/staging/pmpu/u/parts/1/copy?path=open/b"
    assert is_refused(bob.ask_as("PUT", target, part))


def test_an_issued_address_is_linked_and_staged_without_a_right_to_import(bob):
    bob.may(allowing(("fs:WriteObject", f"{REPO}/object/open/*")))
    for method, target in (("PUT", f"{MAIN}/staging/backing"), ("PUT", f"{MAIN}/objects")):
        issued = bob.ask_as("GET", f"{MAIN}/staging/backing?path=open/b").json["physical_address"]
        body: Any = {"physical_address": issued, "staging": {"physical_address": issued}, **STAGED}
        assert bob.ask_as(method, f"{target}?path=open/b", body).status in {200, 201}
        other = bob.ask_as("GET", f"{MAIN}/staging/backing?path=open/c").json["physical_address"]
        body = {"physical_address": other, "staging": {"physical_address": other}, **STAGED}
        assert bob.ask_as(method, f"{target}?path=open/b", body).status in {400, 401}


def test_an_inventory_needs_the_right_to_import_from_everywhere(bob):
    source = {"type": "inventory", "path": "s3://raw/mine/manifest.json", "destination": "in/"}
    body = {"paths": [source], "commit": {"message": "m"}}
    writing = (
        ("fs:WriteObject", f"{REPO}/*"),
        ("fs:CreateCommit", f"{REPO}/branch/main"),
    )
    bob.may(allowing(*writing, ("fs:ImportFromStorage", f"{FS}namespace/s3://raw/mine/*")))
    assert is_refused(bob.ask_as("POST", f"{MAIN}/import", body))
    bob.may(allowing(*writing, ("fs:ImportFromStorage", f"{FS}namespace/*")))
    assert bob.ask_as("POST", f"{MAIN}/import", body).status == 202


def test_an_import_is_checked_at_the_paths_that_it_writes(bob):
    rights = (
        ("fs:WriteObject", f"{REPO}/branch/main"),
        ("fs:CreateCommit", f"{REPO}/branch/main"),
        ("fs:ImportFromStorage", f"{FS}namespace/s3://raw/*"),
        ("fs:WriteObject", f"{REPO}/object/in/*"),
    )
    bob.may(allowing(*rights))

    def start(destination: str) -> Reply:
        source = {"type": "common_prefix", "path": "s3://raw/x", "destination": destination}
        return bob.ask_as("POST", f"{MAIN}/import", {"paths": [source], "commit": {"message": "m"}})

    for destination in ("", "other", "in2/"):
        assert is_refused(start(destination))
    assert start("in").status == 202


@pytest.mark.parametrize("kind", ["common_prefix", "inventory"])
def test_an_import_over_a_denied_prefix_is_refused(bob, kind):
    bob.may(*EVERYTHING, denying(("fs:WriteObject", f"{REPO}/object/secret/deep/*")))

    def start(destination: str) -> Reply:
        source = {"type": kind, "path": "s3://raw/x", "destination": destination}
        return bob.ask_as("POST", f"{MAIN}/import", {"paths": [source], "commit": {"message": "m"}})

    for destination in ("", "secret", "secret/", "secret/deep", "secret/deep/er"):
        assert is_refused(start(destination)), destination
    assert start("secret/dee").status == 202


def test_an_import_of_one_object_is_checked_at_its_path_alone(bob):
    bob.may(*EVERYTHING, denying(("fs:WriteObject", f"{REPO}/object/secret/*")))
    source = {"type": "object", "path": "s3://raw/x", "destination": "secret"}
    body = {"paths": [source], "commit": {"message": "m"}}
    assert bob.ask_as("POST", f"{MAIN}/import", body).status == 202
    body["paths"] = [{**source, "destination": "secret/x"}]
    assert is_refused(bob.ask_as("POST", f"{MAIN}/import", body))


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("common_prefix", "s3://raw"),
        ("common_prefix", "s3://raw/"),
        ("common_prefix", "s3://raw/s"),
        ("common_prefix", "s3://raw/secret/x"),
        ("inventory", "s3://raw/mine/manifest.json"),
    ],
)
def test_an_import_from_above_a_denied_place_is_refused(bob, kind, path):
    bob.may(*EVERYTHING, denying(("fs:ImportFromStorage", f"{FS}namespace/s3://raw/secret/*")))
    source = {"type": kind, "path": path, "destination": "in"}
    body = {"paths": [source], "commit": {"message": "m"}}
    assert is_refused(bob.ask_as("POST", f"{MAIN}/import", body))
    body["paths"] = [{**source, "type": "common_prefix", "path": "s3://raw/open/"}]
    assert bob.ask_as("POST", f"{MAIN}/import", body).status == 202


@pytest.mark.parametrize("kind", ["object", "part"])
def test_a_copy_from_another_repository_needs_the_right_to_read_there(admin, bob, kind):
    admin.repository("other")
    other = f"{FS}repository/other/object/open/a"
    written = ("fs:WriteObject", f"{REPO}/*")
    body: dict[str, Any] = {"src_repository": "other", "src_ref": "main", "src_path": "open/a"}
    method, target = "POST", f"{MAIN}/objects/copy?dest_path=p"
    if kind == "part":
        source = {"repository": "other", "ref": "main", "path": "open/a"}
        body, method = {"copy_source": source}, "PUT"
        target = f"{MAIN}/uploads/cs7ehlb6rctc7bk7mnk0/parts/1/copy?path=p"
    bob.may(allowing(written, ("fs:ReadObject", f"{REPO}/*")))
    assert is_refused(bob.ask_as(method, target, body))
    bob.may(allowing(written, ("fs:ReadObject", other)))
    assert bob.ask_as(method, target, body).status == 404  # it has no such object


@pytest.mark.parametrize("operation", ["copy_prefix", "move_prefix"])
@pytest.mark.parametrize("prefix", ["", "s", "secret/", "secret/a", "secret/a/b"])
def test_a_copy_or_move_over_a_denied_prefix_is_refused(bob, operation, prefix):
    def ask(source: str, destination: str) -> Reply:
        target = f"{MAIN}/objects/{operation}?dest_prefix={destination}"
        return bob.ask_as("POST", target, {"src_prefix": source})

    bob.may(*EVERYTHING, denying(("fs:WriteObject", f"{REPO}/object/secret/a*")))
    refusal = ask("open/", prefix)
    assert is_refused(refusal)
    bob.may(*EVERYTHING, denying(("fs:ReadObject", f"{REPO}/object/secret/a*")))
    assert is_refused(ask(prefix, "new/"))
    assert ask("open/", "new/").status == 202


def test_a_move_from_a_prefix_with_a_path_that_may_not_be_deleted_is_refused(bob):
    bob.may(*EVERYTHING, denying(("fs:DeleteObject", f"{REPO}/object/secret/a")))
    target = f"{MAIN}/objects/move_prefix?dest_prefix=new/"
    assert is_refused(bob.ask_as("POST", target, {"src_prefix": "secret/"}))


@pytest.mark.parametrize(
    "pattern", ["open/?", "open/a*", "open/*a", "open/", "open/*/*", "?pen/?*"]
)
def test_a_right_to_some_objects_is_none_to_all_below_their_prefix(bob, pattern):
    others = (("fs:ReadObject", f"{REPO}/*"), ("fs:DeleteObject", f"{REPO}/*"))
    bob.may(allowing(*others, ("fs:WriteObject", f"{REPO}/object/{pattern}")))
    for operation in ("copy_prefix", "move_prefix"):
        target = f"{MAIN}/objects/{operation}?dest_prefix=open/"
        assert is_refused(bob.ask_as("POST", target, {"src_prefix": "secret/"}))


def test_a_prefix_with_wildcards_is_a_text(bob):
    target = f"{MAIN}/objects/copy_prefix?dest_prefix="
    body = {"src_prefix": "open/"}
    bob.may(*EVERYTHING, denying(("fs:WriteObject", f"{REPO}/object/secret/*")))
    assert bob.ask_as("POST", f"{target}*", body).status == 202
    assert bob.ask_as("POST", f"{target}%3Fecret/", body).status == 202
    bob.may(
        allowing(("fs:ReadObject", f"{REPO}/*"), ("fs:WriteObject", f"{REPO}/object/${{user}}/*"))
    )
    assert is_refused(bob.ask_as("POST", f"{target}*", body))
    assert is_refused(bob.ask_as("POST", f"{target}${{user}}/", body))
    assert bob.ask_as("POST", f"{target}bob/", body).status == 202


def test_a_refusal_of_all_below_a_prefix_names_the_prefix(bob):
    bob.may(*EVERYTHING, denying(("fs:Write*", f"{REPO}/object/secret/deep")))
    target = f"{MAIN}/objects/copy_prefix?dest_prefix=secret/"
    reply = bob.ask_as("POST", target, {"src_prefix": "open/"})
    assert reply.json["message"] == "insufficient permissions: denied permission to fs:Write*"
    assert f"fs:WriteObject on {REPO}/object/secret/*" in str(reply.json)


def test_of_many_deletions_the_forbidden_ones_are_errors(admin, bob):
    bob.may(allowing(("fs:DeleteObject", f"{REPO}/object/open/*")))
    body = {"paths": ["open/a", "secret/a"]}
    reply = bob.ask_as("POST", f"{MAIN}/objects/delete", body)
    assert reply.status == 200
    assert reply.json["errors"] == [
        {"status_code": 401, "message": "Unauthorized", "path": "secret/a"}
    ]
    assert admin.paths() == ["secret/a"]
    assert is_refused(bob.ask_as("POST", f"{MAIN}/objects/delete", {"paths": ["secret/a"]}))
    bob.may()
    assert is_refused(bob.ask_as("POST", f"{MAIN}/objects/delete", {"paths": []}))


def test_repositories_that_may_not_be_listed_are_left_out_of_every_page(admin, bob):
    for number in range(7):
        admin.repository(f"{'mine' if number % 2 else 'yours'}-{number}")
    bob.may(
        allowing(("fs:ListRepositories", f"{FS}repository/mine-*")),
        denying(("fs:ListRepositories", f"{FS}repository/mine-5")),
    )
    seen, after = [], ""
    for _ in range(10):
        page = bob.ask_as("GET", f"/repositories?amount=1&after={after}").json
        seen += [row["id"] for row in page["results"]]
        after = page["pagination"]["next_offset"]
        if not page["pagination"]["has_more"]:
            break
    assert seen == ["mine-1", "mine-3"]
    assert bob.ask_as("GET", "/repositories?search=yours").json["results"] == []


# Tasks


def test_the_branch_in_the_path_gives_no_right_on_another_branch_s_task(admin, bob):
    admin.branch("dev")
    source = {"type": "object", "path": "s3://raw/x", "destination": "x"}
    body = {"paths": [source], "commit": {"message": "m"}}
    started = admin.ask("POST", f"{MAIN}/import", body).json["id"]
    committed = admin.ask("POST", f"{MAIN}/commits/async", {"message": "m", "allow_empty": True})
    dev = f"{REPO}/branch/dev"
    bob.may(allowing(("fs:ReadBranch", dev), ("fs:ImportCancel", dev), ("fs:ReadRepository", REPO)))
    for method, target in (
        ("GET", f"{BRANCHES}/dev/import?id={started}"),
        ("DELETE", f"{BRANCHES}/dev/import?id={started}"),
        ("GET", f"{BRANCHES}/dev/commits/async/{committed.json['id']}/status"),
        ("GET", f"/repositories/repo/tasks/{started}"),
        ("DELETE", f"/repositories/repo/tasks/{started}"),
    ):
        assert is_refused(bob.ask_as(method, target)), target
    assert bob.ask_as("GET", "/repositories/repo/tasks").json["results"] == []
    bob.may(allowing(("fs:ReadBranch", f"{REPO}/branch/main"), ("fs:ReadRepository", REPO)))
    assert len(bob.ask_as("GET", "/repositories/repo/tasks").json["results"]) == 2


def test_a_client_that_waits_for_a_task_needs_the_right_each_time(bob):
    bob.leave_to_tasks(TaskSettings(request_work_s=0, request_wait_s=0))
    right = ("fs:CreateCommit", f"{REPO}/branch/main")
    bob.may(allowing(right, ("fs:WriteObject", f"{REPO}/object/*")))
    assert bob.ask_as("POST", f"{MAIN}/objects?path=new", b"x").status == 201
    waiting = bob.ask_as("POST", f"{MAIN}/commits", {"message": "m"})
    assert waiting.status == 307
    bob.may(*EVERYTHING, denying(right))
    query = urlsplit(waiting.headers["Location"]).query
    for below in ("/waits/api/v1", "/api/v1"):
        target = f"{MAIN}/commits?{query}"
        assert is_refused(bob.ask_as("POST", target, {"message": "m"}, below=below))


# Time, addresses and sessions


def test_a_right_that_is_given_works_at_once_and_one_that_is_withdrawn_ends_in_time(bob):
    bob.world.clock.step_ns = 0
    target = "/repositories/repo"
    right = allowing(("fs:ReadRepository", REPO))
    bob.may()
    assert is_refused(bob.ask_as("GET", target))
    bob.scripted.given = [right]
    assert bob.ask_as("GET", target).status == 200
    bob.scripted.given = []
    assert bob.ask_as("GET", target).status == 200
    bob.world.clock.tick(RIGHTS_AGE_MAX_S)
    assert is_refused(bob.ask_as("GET", target))


def test_a_right_that_is_withdrawn_ends_at_once_in_the_process_that_withdraws_it(admin):
    admin.world.clock.step_ns = 0
    rights = {"effect": "allow", "action": ["fs:ReadRepository"], "resource": "*"}
    for path, body in (
        ("/auth/users", {"id": "eve"}),
        ("/auth/policies", {"id": "reading", "statement": [rights]}),
    ):
        assert admin.ask("POST", path, body).status == 201
    pair = admin.ask("POST", "/auth/users/eve/credentials").json
    login = {name: pair[name] for name in ("access_key_id", "secret_access_key")}
    bearer = f"Bearer {admin.ask('POST', '/auth/login', login).json['token']}"

    def eve_reads() -> Reply:
        headers = {"authorization": bearer}
        return admin.send(event("GET", "/api/v1/repositories/repo", headers=headers))

    policy = "/auth/users/eve/policies/reading"
    assert admin.ask("PUT", policy).status == 201
    assert eve_reads().status == 200
    assert admin.ask("DELETE", policy).status == 204
    assert is_refused(eve_reads())


def test_requests_of_a_process_in_use_read_no_policies(bob):
    bob.world.clock.step_ns = 0
    bob.may(*EVERYTHING)
    before = bob.scripted.reads
    for _ in range(50):
        assert bob.ask_as("GET", f"{READ}?path=open/a").status == 200
    assert bob.scripted.reads == before + 1


def test_the_source_address_is_the_gateway_s_and_no_header_s(bob):
    statement = Statement(
        Effect.ALLOW, ("fs:ReadRepository",), REPO, {"IpAddress": {"SourceIp": ["10.0.0.0/8"]}}
    )
    bob.may(Policy("office", (statement,), 1))
    spoofed = {"x-forwarded-for": "10.1.2.3", "x-real-ip": "10.1.2.3", "forwarded": "for=10.1.2.3"}
    made = event(
        "GET", "/api/v1/repositories/repo", headers={"authorization": bob.authorization, **spoofed}
    )
    assert is_refused(bob.send(made))
    made["requestContext"]["http"]["sourceIp"] = "10.1.2.3"
    assert bob.send(made).status == 200


@pytest.mark.parametrize("address", ["", "unknown", None])
def test_an_unknown_source_address_escapes_no_deny(bob, address):
    statement = Statement(
        Effect.DENY, ("fs:*",), "*", {"NotIpAddress": {"SourceIp": ["10.0.0.0/8"]}}
    )
    bob.may(*EVERYTHING, Policy("office", (statement,), 1))
    made = event("GET", "/api/v1/repositories/repo", headers={"authorization": bob.authorization})
    http = made["requestContext"]["http"]
    if address is None:
        del http["sourceIp"]
    else:
        http["sourceIp"] = address
    assert is_refused(bob.send(made))


def test_a_session_has_its_user_s_rights_and_no_more(bob):
    bob.may(allowing(("fs:ReadRepository", REPO)))
    login = {"access_key_id": ACCESS_KEY_ID, "secret_access_key": SECRET}
    session = bob.ask_as("POST", "/auth/login", login)
    token, cookie = session.json["token"], session.cookies[0].partition(";")[0]
    for credential in ({"headers": {"authorization": f"Bearer {token}"}}, {"cookies": [cookie]}):
        made = event("GET", "/api/v1/repositories/repo", **credential)
        assert bob.send(made).status == 200
        made = event("GET", "/api/v1/repositories/repo/branches", **credential)
        assert is_refused(bob.send(made))
