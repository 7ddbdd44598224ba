"""Users, groups, policies, key pairs and their errors, as clients see them."""

import base64

import pytest
from lakefs_sdk import models

from tests.support.clients.api import ACCESS_KEY_ID, ApiClient, event

STATEMENT = {
    "effect": "allow",
    "action": ["fs:List*", "fs:ReadObject"],
    "resource": '["arn:lakefs:fs:::repository/a", "arn:lakefs:fs:::repository/b"]',
    "condition": {"IpAddress": {"SourceIp": ["10.0.0.0/8"]}},
}
PLAIN = {"effect": "allow", "action": ["fs:*"], "resource": "*"}


@pytest.fixture
def api():
    """Ann is the administrator; Bob has no rights; Team has the policy Mine."""
    api = ApiClient()
    assert api.ask("POST", "/auth/users", {"id": "bob"}).status == 201
    assert api.ask("POST", "/auth/groups", {"id": "Team", "description": "ours"}).status == 201
    body = {"id": "Mine", "statement": [STATEMENT, {**STATEMENT, "effect": "deny"}]}
    assert api.ask("POST", "/auth/policies", body).status == 201
    return api


def ids(reply):
    assert reply.status == 200, reply
    return [row.get("id", row.get("access_key_id")) for row in reply.json["results"]]


def outcome(reply):
    return reply.status, reply.json["message"]


def test_a_user_is_created_listed_shown_and_deleted(api):
    reply = api.ask("POST", "/auth/users", {"id": "Carol Ann"})
    assert reply.status == 201
    made = models.User.from_dict(reply.json)
    assert made.id == "Carol Ann"
    assert models.User.from_dict(api.ask("GET", "/auth/users/Carol%20Ann").json) == made
    listed = api.ask("GET", "/auth/users")
    models.UserList.from_dict(listed.json)
    assert ids(listed) == ["Carol Ann", "ann", "bob"]
    assert ids(api.ask("GET", "/auth/users", prefix="b")) == ["bob"]
    page = api.ask("GET", "/auth/users", amount=1, after="Carol Ann")
    assert page.json["pagination"] == {
        "has_more": True,
        "next_offset": "ann",
        "results": 1,
        "max_per_page": 1000,
    }
    assert api.ask("DELETE", "/auth/users/Carol%20Ann").status == 204
    gone = (404, "user not found")
    assert outcome(api.ask("GET", "/auth/users/Carol%20Ann")) == gone
    assert outcome(api.ask("DELETE", "/auth/users/Carol%20Ann")) == gone


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "empty name: validation error"),
        ("a%b", "{kind} name cannot contain '%'"),
        ("a/b", "name contains delimiter /: validation error"),
        ("a\nb", "validation error"),
        (".", "validation error"),
        ("..", "validation error"),
        ("é" * 129, "validation error"),
    ],
)
@pytest.mark.parametrize("kind", ["User", "Group", "Policy"])
def test_a_bad_name_is_refused_in_lakefs_s_words(api, kind, name, message):
    path = {"User": "users", "Group": "groups", "Policy": "policies"}[kind]
    reply = api.ask("POST", f"/auth/{path}", {"id": name, "statement": [STATEMENT]})
    assert outcome(reply) == (400, message.format(kind=kind))


@pytest.mark.parametrize("path", ["users", "groups", "policies"])
def test_a_name_is_taken_once(api, path):
    name = {"users": "bob", "groups": "Team", "policies": "Mine"}[path]
    reply = api.ask("POST", f"/auth/{path}", {"id": name, "statement": [STATEMENT]})
    assert outcome(reply) == (409, "Already exists")


def test_users_are_not_invited(api):
    reply = api.ask("POST", "/auth/users", {"id": "d@example.com", "invite_user": True})
    assert outcome(reply) == (501, "Not Implemented")
    assert "d@example.com" not in ids(api.ask("GET", "/auth/users"))


def test_a_group_is_created_listed_shown_and_deleted(api):
    shown = models.Group.from_dict(api.ask("GET", "/auth/groups/Team").json)
    assert (shown.id, shown.name, shown.description) == ("Team", "Team", "ours")
    listed = api.ask("GET", "/auth/groups", after="Developers")
    models.GroupList.from_dict(listed.json)
    assert ids(listed) == ["SuperUsers", "Team", "Viewers"]
    assert api.ask("DELETE", "/auth/groups/Team").status == 204
    gone = (404, "group not found")
    assert outcome(api.ask("GET", "/auth/groups/Team")) == gone
    assert outcome(api.ask("DELETE", "/auth/groups/Team")) == gone
    assert outcome(api.ask("GET", "/auth/groups/Team/members")) == gone
    assert outcome(api.ask("GET", "/auth/groups/Team/policies")) == gone


def test_members_come_and_go(api):
    member = "/auth/groups/Team/members/bob"
    reply = api.ask("PUT", member)
    assert (reply.status, reply.content) == (201, b"")
    assert outcome(api.ask("PUT", member)) == (409, "Already exists")
    assert ids(api.ask("GET", "/auth/groups/Team/members")) == ["bob"]
    assert ids(api.ask("GET", "/auth/users/bob/groups")) == ["Team"]
    for _ in range(2):
        assert api.ask("DELETE", member).status == 204
    assert ids(api.ask("GET", "/auth/groups/Team/members")) == []
    for path in ("/auth/groups/Team/members/nobody", "/auth/groups/Nothing/members/bob"):
        for method in ("PUT", "DELETE"):
            assert outcome(api.ask(method, path)) == (404, "not found")


def test_a_policy_is_kept_as_it_was_sent(api):
    shown = api.ask("GET", "/auth/policies/Mine")
    models.Policy.from_dict(shown.json)
    assert shown.json["statement"] == [STATEMENT, {**STATEMENT, "effect": "deny"}]
    assert ids(api.ask("GET", "/auth/policies", prefix="M")) == ["Mine"]
    reply = api.ask("PUT", "/auth/policies/Mine", {"id": "Mine", "statement": [PLAIN]})
    assert (reply.status, reply.json["statement"]) == (200, [PLAIN])
    assert reply.json["creation_date"] == shown.json["creation_date"]
    assert api.ask("DELETE", "/auth/policies/Mine").status == 204
    gone = (404, "policy not found")
    assert outcome(api.ask("GET", "/auth/policies/Mine")) == gone
    assert outcome(api.ask("DELETE", "/auth/policies/Mine")) == gone
    reply = api.ask("PUT", "/auth/policies/Mine", {"id": "Mine", "statement": [PLAIN]})
    assert outcome(reply) == (404, "not found")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"statement": []}, "statement"),
        ({"statement": [{"effect": "allow", "action": ["fs:*"]}]}, "resource"),
        ({"statement": [{**STATEMENT, "effect": "maybe"}]}, "effect 'maybe'"),
        ({"statement": [{**STATEMENT, "action": []}]}, "action"),
        ({"statement": [{**STATEMENT, "action": ["fs:Fly"]}]}, "fs:Fly"),
        ({"statement": [{**STATEMENT, "resource": "lake"}]}, "lake"),
        ({"statement": [{**STATEMENT, "condition": {"Moon": {"Phase": ["full"]}}}]}, "Moon"),
        ({"statement": [{**PLAIN, "Condition": STATEMENT["condition"]}]}, "Condition"),
        ({"statement": [{**PLAIN, "conditions": STATEMENT["condition"]}]}, "conditions"),
        ({"id": "Other"}, "can't update policy id"),
    ],
)
def test_a_bad_policy_is_refused_and_the_old_one_stays(api, change, named):
    body = {"id": "Mine", "statement": [STATEMENT], **change}
    for method, path in (("PUT", "/auth/policies/Mine"), ("POST", "/auth/policies")):
        if method == "POST" and "id" in change:
            continue
        reply = api.ask(method, path, {**body, "id": change.get("id", "Mine")})
        assert reply.status == 400
        assert named in reply.message
    assert len(api.ask("GET", "/auth/policies/Mine").json["statement"]) == 2


def test_a_policy_is_changed_if_it_is_the_one_that_was_read(api):
    read = {"if-match": api.ask("GET", "/auth/policies/Mine").headers["ETag"]}
    body = {"id": "Mine", "statement": [PLAIN]}
    assert api.ask("PUT", "/auth/policies/Mine", body, headers=read).status == 200
    for method, sent in (("PUT", {"id": "Mine", "statement": [STATEMENT]}), ("DELETE", None)):
        reply = api.ask(method, "/auth/policies/Mine", sent, headers=read)
        assert outcome(reply) == (412, "Precondition failed")
        assert "read it again" in reply.json["details"]
        missing = api.ask(method, "/auth/policies/X", sent and {**sent, "id": "X"}, headers=read)
        assert outcome(missing) == (404, "policy not found" if sent is None else "not found")
    newer = api.ask("GET", "/auth/policies/Mine")
    assert newer.json["statement"] == [PLAIN]
    unquoted = {"if-match": newer.headers["ETag"].strip('"')}
    assert api.ask("DELETE", "/auth/policies/Mine", headers=unquoted).status == 204


def test_policies_are_attached_and_detached(api):
    for holder in ("/auth/users/bob/policies", "/auth/groups/Team/policies"):
        attachment = f"{holder}/Mine"
        reply = api.ask("PUT", attachment)
        assert (reply.status, reply.content) == (201, b"")
        assert outcome(api.ask("PUT", attachment)) == (409, "Already exists")
        listed = api.ask("GET", holder)
        models.PolicyList.from_dict(listed.json)
        assert ids(listed) == ["Mine"]
        for _ in range(2):
            assert api.ask("DELETE", attachment).status == 204
        assert ids(api.ask("GET", holder)) == []
        for method in ("PUT", "DELETE"):
            assert outcome(api.ask(method, f"{holder}/Nothing")) == (404, "not found")


def test_the_effective_policies_include_those_of_groups(api):
    api.ask("PUT", "/auth/groups/Viewers/members/bob")
    api.ask("PUT", "/auth/users/bob/policies/Mine")
    policies = "/auth/users/bob/policies"
    assert ids(api.ask("GET", policies)) == ["Mine"]
    effective = ["AuthManageOwnCredentials", "CatalogReadAll", "FSReadAll", "Mine"]
    assert ids(api.ask("GET", policies, effective="true")) == effective
    page = api.ask("GET", policies, effective="true", amount=2, after=effective[0])
    assert ids(page) == effective[1:3]
    assert page.json["pagination"]["next_offset"] == effective[2]


@pytest.mark.parametrize("what", ["groups", "policies", "policies?effective=true", "credentials"])
def test_lists_of_a_user_who_does_not_exist_are_not_found(api, what):
    path, _, query = what.partition("?")
    reply = api.ask("GET", f"/auth/users/nobody/{path}", query=query)
    assert outcome(reply) == (404, "user not found")


def test_a_right_that_is_withdrawn_is_gone_at_once_in_this_process(api):
    pair = api.ask("POST", "/auth/users/bob/credentials").json
    basic = base64.b64encode(f"{pair['access_key_id']}:{pair['secret_access_key']}".encode())
    request = event(
        "GET", "/api/v1/auth/users", headers={"authorization": f"Basic {basic.decode()}"}
    )
    assert api.send(request).status == 401
    api.ask("PUT", "/auth/groups/Admins/members/bob")
    assert api.send(request).status == 200
    api.ask("DELETE", "/auth/groups/Admins/members/bob")
    assert api.send(request).status == 401


class TestKeyPairs:
    def pair(self, api, user="bob"):
        reply = api.ask("POST", f"/auth/users/{user}/credentials")
        assert reply.status == 201
        return models.CredentialsWithSecret.from_dict(reply.json)

    def whoami(self, api, pair):
        basic = base64.b64encode(f"{pair.access_key_id}:{pair.secret_access_key}".encode())
        headers = {"authorization": f"Basic {basic.decode()}"}
        return api.send(event("GET", "/api/v1/user", headers=headers))

    def test_a_new_pair_works_at_once_and_is_shown_once(self, api):
        pair = self.pair(api)
        assert self.whoami(api, pair).json["user"]["id"] == "bob"
        listed = api.ask("GET", "/auth/users/bob/credentials")
        models.CredentialsList.from_dict(listed.json)
        shown = api.ask("GET", f"/auth/users/bob/credentials/{pair.access_key_id}")
        models.Credentials.from_dict(shown.json)
        assert ids(listed) == [shown.json["access_key_id"]] == [pair.access_key_id]
        for reply in (listed, shown):
            assert pair.secret_access_key.encode() not in reply.content

    def test_a_deleted_pair_works_no_more(self, api):
        old, new = self.pair(api), self.pair(api)
        assert self.whoami(api, old).status == 200
        path = f"/auth/users/bob/credentials/{old.access_key_id}"
        assert api.ask("DELETE", path).status == 204
        assert self.whoami(api, old).status == 401
        assert self.whoami(api, new).status == 200
        gone = (404, "credentials not found")
        assert outcome(api.ask("GET", path)) == gone
        assert outcome(api.ask("DELETE", path)) == gone

    def test_a_pair_is_reached_by_its_own_user_s_path_alone(self, api):
        path = f"/auth/users/bob/credentials/{ACCESS_KEY_ID}"
        for method in ("GET", "DELETE"):
            assert outcome(api.ask(method, path)) == (404, "credentials not found")
        assert api.ask("GET", "/user").json["user"]["id"] == "ann"

    def test_nobody_gets_no_pair(self, api):
        reply = api.ask("POST", "/auth/users/nobody/credentials")
        assert outcome(reply) == (404, "not found")

    def test_a_deleted_user_s_pair_and_session_end(self, api):
        pair = self.pair(api)
        login = {"access_key_id": pair.access_key_id, "secret_access_key": pair.secret_access_key}
        token = api.ask("POST", "/auth/login", login).json["token"]
        assert api.ask("DELETE", "/auth/users/bob").status == 204
        api.ask("POST", "/auth/users", {"id": "bob"})
        assert self.whoami(api, pair).status == 401
        headers = {"authorization": f"Bearer {token}"}
        assert api.send(event("GET", "/api/v1/user", headers=headers)).status == 401


def test_log_ins_that_fail_too_often_have_to_wait(api):
    api.world.clock.step_ns = 0
    login = {"access_key_id": "AKIAJGUESSED", "secret_access_key": "guess"}
    replies = [api.ask("POST", "/auth/login", login) for _ in range(12)]
    assert {reply.status for reply in replies[:10]} == {401}
    assert outcome(replies[11]) == (429, "Too many attempts, try again later")
    assert 1 <= int(replies[11].headers["Retry-After"]) <= 60
    assert api.ask("GET", "/user").status == 200


def test_basic_authentication_that_fails_too_often_has_to_wait(api):
    api.world.clock.step_ns = 0
    basic = base64.b64encode(f"{ACCESS_KEY_ID}:wrong".encode()).decode()
    request = event("GET", "/api/v1/repositories", headers={"authorization": f"Basic {basic}"})
    replies = [api.send(request) for _ in range(12)]
    assert [reply.status for reply in replies] == [401] * 10 + [429] * 2
    fresh = ApiClient(set_up=False)
    fresh.accounts = api.accounts
    fresh._begin()
    assert fresh.ask("GET", "/repositories").status == 429
