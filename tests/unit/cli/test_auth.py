"""`graveler auth`: users, groups, policies and credentials."""

import json

import pytest

PAGE = {"pagination": {"has_more": False, "next_offset": "", "results": 1, "max_per_page": 1000}}
USER = {"id": "amelie", "creation_date": 0, "friendly_name": None}
GROUP = {"id": "devs", "creation_date": 0}
POLICY = {
    "id": "p",
    "creation_date": 0,
    "statement": [
        {"effect": "allow", "action": ["fs:Read*", "fs:List*"], "resource": "*"},
        {"effect": "deny", "action": ["fs:*"], "resource": '["a", "b"]', "condition": {}},
    ],
}
KEY = {"access_key_id": "AKIA", "creation_date": 0}
PRINCIPAL = {"id": "arn", "user_id": "amelie"}
EPOCH = "1970-01-01 00:00:00 +0000 UTC"

LISTINGS = [
    ("users list", "/users", USER, f"amelie\tamelie\t{EPOCH}"),
    ("users credentials list --id u", "/users/u/credentials", KEY, f"AKIA\t{EPOCH}"),
    ("users groups list --id u", "/users/u/groups", GROUP, f"devs\t{EPOCH}"),
    (
        "users policies list --id u",
        "/users/u/policies",
        POLICY,
        f'p\t{EPOCH}\t0\t*\tallow\tfs:Read*, fs:List*\np\t{EPOCH}\t1\t["a", "b"]\tdeny\tfs:*',
    ),
    (
        "users aws-iam list --id u",
        "/users/u/external/principals/ls",
        PRINCIPAL,
        "arn\tamelie",
    ),
    ("groups list", "/groups", GROUP, f"devs\tdevs\t{EPOCH}"),
    ("groups members list --id g", "/groups/g/members", USER, "amelie"),
    (
        "groups policies list --id g",
        "/groups/g/policies",
        POLICY,
        f'p\t{EPOCH}\t0\t*\tallow\tfs:Read*, fs:List*\np\t{EPOCH}\t1\t["a", "b"]\tdeny\tfs:*',
    ),
    ("policies list", "/policies", POLICY, f"p\t{EPOCH}"),
    (
        "policies attachments list --id p",
        "/policies/p/attachments",
        {"kind": "group", "id": "devs"},
        "group\tdevs",
    ),
]

CHANGES = [
    ("users delete --id u", "DELETE", "/users/u", "User deleted successfully"),
    (
        "users credentials delete --id u --access-key-id k",
        "DELETE",
        "/users/u/credentials/k",
        "Credentials deleted successfully",
    ),
    (
        "users policies attach --id u --policy p",
        "PUT",
        "/users/u/policies/p",
        "Policy attached successfully",
    ),
    (
        "users policies detach --id u --policy p",
        "DELETE",
        "/users/u/policies/p",
        "Policy detached successfully",
    ),
    (
        "users aws-iam attach --id u --principal-id a/b",
        "POST",
        "/users/u/external/principals?principalId=a%2Fb",
        "IAM role attached successfully",
    ),
    (
        "users aws-iam detach --id u --principal-id a/b",
        "DELETE",
        "/users/u/external/principals?principalId=a%2Fb",
        "IAM role detached successfully",
    ),
    ("groups delete --id g", "DELETE", "/groups/g", "Group deleted successfully"),
    (
        "groups members add --id g --user a/b",
        "PUT",
        "/groups/g/members/a%2Fb",
        "User successfully added",
    ),
    (
        "groups members remove --id g --user u",
        "DELETE",
        "/groups/g/members/u",
        "User successfully removed",
    ),
    (
        "groups policies attach --id g --policy p",
        "PUT",
        "/groups/g/policies/p",
        "Policy attached successfully",
    ),
    (
        "groups policies detach --id g --policy p",
        "DELETE",
        "/groups/g/policies/p",
        "Policy detached successfully",
    ),
    ("policies delete --id p", "DELETE", "/policies/p", "Policy deleted successfully"),
]

OTHERS = [
    "users create --id u",
    "users credentials create --id u",
    "users aws-iam lookup --principal-id a",
    "groups create --id g",
    "groups acl get --id g",
    "groups acl set --id g --permission Read",
    "policies show --id p",
    "users access list --id u --resource *",
]

EVERY = [command for command, *_ in (*LISTINGS, *CHANGES)] + OTHERS


@pytest.fixture(autouse=True)
def _utc(time_zone):
    time_zone("UTC")


@pytest.mark.parametrize(("command", "path", "found", "shown"), LISTINGS)
def test_a_listing_is_a_table_between_tabs(graveler, server, command, path, found, shown):
    server.will_answer({**PAGE, "results": [found]})
    assert graveler.prints("auth", *command.split()) == f"{shown}\n\n"
    [asked] = server.asked
    assert asked.path.startswith(f"/api/v1/auth{path}?")
    assert "amount=100" in asked.path


@pytest.mark.parametrize(("command", "path", "found", "shown"), LISTINGS)
def test_a_listing_as_json_is_one_object_a_line(graveler, server, command, path, found, shown):
    server.will_answer({**PAGE, "results": [found, found]})
    lines = graveler.prints("auth", *command.split(), "--json").splitlines()
    assert len(lines) == 2
    first = json.loads(lines[0])
    assert {name: first[name] for name in found if name in first} == found


def test_a_listing_asks_for_the_page_that_was_named(graveler, server):
    server.will_answer({**PAGE, "results": []})
    words = ["--amount", "5", "--after", "b", "--prefix", "a"]
    assert graveler.prints("auth", "users", "list", *words) == "\n"
    assert server.asked[0].path == "/api/v1/auth/users?prefix=a&after=b&amount=5"


def test_effective_policies_are_asked_for(graveler, server):
    server.will_answer({**PAGE, "results": []})
    graveler.prints("auth", "users", "policies", "list", "--id", "u", "--effective")
    assert server.asked[0].path.endswith("&effective=true")


@pytest.mark.parametrize(("command", "method", "path", "says"), CHANGES)
def test_a_change_is_one_request_and_one_line(graveler, server, command, method, path, says):
    server.will_answer("", status=201)
    assert graveler.prints("auth", *command.split()) == f"{says}\n"
    [asked] = server.asked
    assert (asked.method, asked.path) == (method, f"/api/v1/auth{path}")


@pytest.mark.parametrize("command", [command for command, *_ in CHANGES])
def test_a_change_prints_nothing_with_json(graveler, server, command):
    server.will_answer("", status=201)
    assert graveler.prints("auth", *command.split(), "--json") == ""


RECORD = {
    "id": "d8sq5ckbtms0fh2ok8o0",
    "time": "2026-11-20T13:00:12Z",
    "user": "amelie",
    "source_ip": "203.0.113.7",
    "operation": "deleteUser",
    "path": "/api/v1/auth/users/bo",
    "request_id": "r",
    "resources": ["arn:lakefs:auth:::user/bo"],
}
LOG_IN = {**RECORD, "user": "", "operation": "login", "resources": [], "access_key_id": "AKIA"}


@pytest.mark.parametrize(
    ("record", "user", "outcome"),
    [
        ({**RECORD, "status_code": 204}, "amelie", "204"),
        ({**RECORD, "status_code": 401}, "amelie", "401 failed"),
        (RECORD, "amelie", "unknown"),
        ({**LOG_IN, "status_code": 401}, "AKIA", "401 failed log-in"),
        ({**LOG_IN, "user": "bo", "status_code": 200}, "bo", "200"),
    ],
)
def test_the_audit_shows_who_did_what_and_marks_what_failed(
    graveler, server, record, user, outcome
):
    server.will_answer({**PAGE, "results": [record]})
    cells = graveler.prints("auth", "audit").rstrip("\n").split("\t")
    what = " ".join(record["resources"]) or record["path"]
    assert cells[1:] == [user, "203.0.113.7", record["operation"], outcome, what]


def test_the_audit_is_asked_for_what_the_options_name(graveler, server):
    server.will_answer({**PAGE, "results": []})
    graveler.prints("auth", "audit", "--operation", "login", "--outcome", "failed")
    assert "operation=login&outcome=failed" in server.asked[0].path
    refused = graveler.fails("auth", "audit", "--outcome", "good")
    assert "'good' is not one of 'succeeded', 'failed', 'unknown'" in refused


@pytest.mark.parametrize("command", EVERY)
def test_a_refusal_is_the_servers_message(graveler, server, command):
    server.will_answer({"message": "insufficient permissions"}, status=403)
    assert graveler.fails("auth", *command.split()) == "insufficient permissions"


@pytest.mark.parametrize("command", [each for each in EVERY if "--" in each])
def test_a_missing_option_is_named(graveler, server, command):
    *words, option, _ = command.split()
    if words[-1:] == ["list"] and "policies" not in words and "groups" not in words:
        return  # the user is the current one then
    if command == "users credentials create --id u":
        return
    assert f"missing option '{option}'" in graveler.fails("auth", *words)
    assert server.asked == []


@pytest.mark.parametrize("command", EVERY)
def test_an_argument_too_many_is_refused(graveler, server, command):
    assert "unexpected extra argument" in graveler.fails("auth", *command.split(), "x")
    assert server.asked == []


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("users credentials list", "/users/amelie/credentials?"),
        ("users aws-iam list", "/users/amelie/external/principals/ls?"),
    ],
)
def test_the_user_is_the_current_one_by_default(graveler, server, command, path):
    server.will_answer({"user": USER}, {**PAGE, "results": []})
    graveler.prints("auth", *command.split())
    assert server.asked[0].path == "/api/v1/user"
    assert server.asked[1].path.startswith(f"/api/v1/auth{path}")


def test_a_new_user_is_shown(graveler, server):
    server.will_answer(USER, status=201)
    shown = graveler.prints("auth", "users", "create", "--id", "amelie")
    assert shown == f"User created successfully.\nID: amelie\nCreation Date: {EPOCH}\n"
    assert server.asked[0].body == {"id": "amelie"}


def test_a_new_group_is_shown(graveler, server):
    server.will_answer(GROUP, status=201)
    shown = graveler.prints("auth", "groups", "create", "--id", "devs")
    assert shown == f"Group created successfully.\nID: devs\nCreation Date: {EPOCH}\n"


def test_a_new_key_pair_is_shown_with_its_secret(graveler, server):
    pair = {"access_key_id": "AKIA", "secret_access_key": "s", "creation_date": 0}
    server.will_answer(pair, status=201)
    command = ("auth", "users", "credentials", "create", "--id", "u")
    lines = graveler.prints(*command).splitlines()
    assert lines[1:3] == ["Access Key ID:     AKIA", "Secret Access Key: s"]
    assert json.loads(graveler.prints(*command, "--json")) == pair


def test_a_role_is_looked_up(graveler, server):
    server.will_answer(PRINCIPAL)
    command = ("auth", "users", "aws-iam", "lookup", "--principal-id", "arn")
    assert graveler.prints(*command) == "Principal ID: arn\nUser ID: amelie\n"


def test_an_access_control_list_is_shown_and_set(graveler, server):
    server.will_answer({"permission": "Read"}, "")
    assert graveler.prints("auth", "groups", "acl", "get", "--id", "g") == "Group g:Read\n"
    command = ("auth", "groups", "acl", "set", "--id", "g", "--permission", "Super")
    assert graveler.prints(*command) == ""
    assert server.asked[1].body == {"permission": "Super"}


def test_a_policy_shows_lists_of_resources_as_lists(graveler, server):
    server.will_answer(POLICY)
    shown = graveler.prints("auth", "policies", "show", "--id", "p")
    assert shown.startswith(f"\nID: p\nCreation Date: {EPOCH}\nStatements:\n{{\n")
    assert '"resource": [\n        "a",\n        "b"\n      ]' in shown
    assert json.loads(graveler.prints("auth", "policies", "show", "--id", "p", "--json")) == POLICY


def test_a_policy_is_created_of_all_that_the_file_says(graveler, server, tmp_path):
    file = tmp_path / "statements.json"
    file.write_text(json.dumps({"statement": [{"effect": "allow", "efect": 1}]}))
    server.will_answer(POLICY, status=201)
    command = ("auth", "policies", "create", "--id", "p", "--statement-document", str(file))
    assert graveler.prints(*command).startswith("Policy created successfully.\n\nID: p\n")
    # A field that is not known is for the server to refuse: it must not vanish.
    assert server.asked[0].body == {"id": "p", "statement": [{"effect": "allow", "efect": 1}]}


def test_statements_are_read_from_standard_input(graveler, server):
    server.will_answer(POLICY, status=201)
    command = ("auth", "policies", "create", "--id", "p", "--statement-document", "-")
    assert graveler.run(*command, stdin='{"statement": []}').exit_code == 0
    assert server.asked[0].body == {"id": "p", "statement": []}


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"statement": 1}', '{"statement": [1]}'])
def test_a_file_without_statements_is_refused(graveler, server, tmp_path, text):
    file = tmp_path / "statements.json"
    file.write_text(text)
    command = ("auth", "policies", "create", "--id", "p", "--statement-document", str(file))
    assert graveler.fails(*command).startswith(f"{file} does not have statements: ")
    assert server.asked == []


def test_a_missing_file_of_statements_is_named(graveler, tmp_path):
    command = ("auth", "policies", "create", "--id", "p", "--statement-document")
    told = graveler.fails(*command, str(tmp_path / "none"))
    assert told == f"cannot read {tmp_path}/none: no such file or directory"


def test_what_a_user_may_do_is_a_table(graveler, server):
    row = {"action": "fs:ReadObject", "verdict": "not_allowed", "reason": "no statement allows it"}
    server.will_answer({"user": "amelie", "resource": "*", "results": [row]})
    command = ("auth", "users", "access", "list", "--id", "amelie", "--resource", "a:*")
    shown = graveler.prints(*command, "--source-ip", "10.0.0.1")
    assert shown == "fs:ReadObject\tnot allowed\tno statement allows it\n"
    path = "/api/v1/auth/users/amelie/access/actions?resource=a%3A%2A&source_ip=10.0.0.1"
    assert server.asked[0].path == path
    assert json.loads(graveler.prints(*command, "--json")) == row


def test_a_user_may_ask_what_they_may_do_themself(graveler, server):
    server.will_answer({"user": USER}, {"user": "amelie", "resource": "*", "results": []})
    assert graveler.prints("auth", "users", "access", "list", "--resource", "*") == ""
    assert server.asked[1].path == "/api/v1/auth/users/amelie/access/actions?resource=%2A"


@pytest.fixture
def statements(tmp_path):
    file = tmp_path / "statements.json"
    file.write_text(json.dumps({"statement": [{"effect": "allow", "efect": 1}]}))
    return str(file)


def test_a_check_of_a_policy_shows_all_problems_and_fails(graveler, server, statements):
    problem = {"problem": "bad", "remedy": "mend it", "statement_number": 1, "field": "action"}
    found = {"problems": [problem, {"problem": "large", "remedy": "cut it"}], "warnings": [problem]}
    server.will_answer(found)
    command = ("auth", "policies", "check", "--statement-document", statements)
    done = graveler.run(*command)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        f"error: {statements}: statement 1, action: bad; mend it",
        f"error: {statements}: large; cut it",
        f"warning: {statements}: statement 1, action: bad; mend it",
    ]
    assert server.asked[0].body == {"statement": [{"effect": "allow", "efect": 1}]}
    done = graveler.run(*command, "--json")
    assert (done.exit_code, json.loads(done.stdout)) == (1, found)


def test_a_check_of_a_valid_policy_says_so(graveler, server, statements):
    server.will_answer({"problems": [], "warnings": []})
    command = ("auth", "policies", "check", "--statement-document", statements)
    assert graveler.prints(*command) == f"Policy checked successfully: '{statements}'\n"
