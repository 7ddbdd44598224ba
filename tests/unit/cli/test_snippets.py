"""`graveler fs snippet`; tests/acceptance/test_snippets.py runs the code that it prints."""

import ast
import json
import shlex

import pytest

BRANCH = "lakefs://my-repo/main"
S3 = "https://s3.example.org"
ALL = ["duckdb", "pandas", "polars", "spark", "aws", "sdk", "graveler"]
IN_SHELL = {"aws", "graveler"}


@pytest.fixture(autouse=True)
def paths(user, lake):
    user.environment["AWS_ENDPOINT_URL"] = None
    lake.has("t/_SUCCESS", b"")
    lake.has("t/a b.parquet", b"")
    lake.has("t/d/x.csv", b"")
    lake.has('it\'s "ü"\n.CSV', b"")
    for path in ("a[1]*.csv", "a?.csv", "a//b.csv"):
        lake.has(path, b"")
    lake.has("x.json", b"")
    lake.has("x", b"")


def codes(user, path, *more):
    return json.loads(user.prints("fs", "snippet", f"{BRANCH}/{path}", "--json", *more))


@pytest.mark.parametrize(
    ("path", "programs", "read"),
    [
        ("t/a b.parquet", ALL, 'read_parquet("s3://my-repo/main/t/a b.parquet")'),
        ("t/", ALL, 'read_parquet("s3://my-repo/main/t/**/*.parquet")'),
        ("t", ALL, 'read_parquet("s3://my-repo/main/t/**/*.parquet")'),
        ("", ALL, 'read_csv("s3://my-repo/main/**/*.csv")'),
        ("t/d/", ALL, 'read_csv("s3://my-repo/main/t/d/**/*.csv")'),
        # Polars takes no line break.
        (
            'it\'s "ü"\n.CSV',
            [*ALL[:2], *ALL[3:]],
            r'read_csv("s3://my-repo/main/it' + r"'s \"ü\"\n.CSV" + '")',
        ),
        ("a[1]*.csv", ALL, r'read_csv("s3://my-repo/main/a\\[1\\]\\*.csv")'),
        ("a?.csv", ALL[1:], None),
        ("a//b.csv", ["duckdb", "aws", "sdk", "graveler"], None),
        ("x.json", [*ALL[:2], *ALL[3:]], 'read_json("s3://my-repo/main/x.json")'),
        ("x", [ALL[0], *ALL[3:]], 'params=["s3://my-repo/main/x"]'),
    ],
)
def test_a_path_is_read_as_what_its_name_says(user, path, programs, read):
    found = codes(user, path, "--s3-endpoint", S3)
    assert list(found) == programs
    assert read is None or read in found["duckdb"]
    for name in set(programs) - IN_SHELL:
        ast.parse(found[name])


def test_the_shell_runs_nothing_of_a_path(user, lake):
    path = "$(id) `id`; 'x\" \\ &"
    lake.has(path, b"")
    found = codes(user, path, "--s3-endpoint", S3)
    words = shlex.split(found["aws"], comments=True)
    assert words[-5:] == ["aws", "s3", "cp", f"s3://my-repo/main/{path}", "."]
    words = shlex.split(found["graveler"], comments=True)
    assert words == ["graveler", "fs", "download", f"{BRANCH}/{path}"]


@pytest.mark.parametrize("path", ["a\x15id\n.csv", "a\x1b[201~.csv", "a\u202egpj.csv"])
def test_no_shell_gets_what_a_terminal_takes_for_a_key(user, lake, path):
    lake.has(path, b"")
    assert not IN_SHELL & codes(user, path, "--s3-endpoint", S3).keys()


def test_nothing_turns_the_direction_of_code_in_python(user, lake):
    path = "a\u202egpj\u2066.csv"
    lake.has(path, b"")
    found = codes(user, path, "--s3-endpoint", S3)
    assert not IN_SHELL & found.keys()
    for code in found.values():
        assert r"a\u202Egpj\u2066.csv" in code
        assert not set(path) & set("\u202e\u2066") & set(code)
        ast.parse(code)


def test_a_folder_without_tables_is_listed(user, lake):
    lake.has("other/x", b"")
    assert list(codes(user, "other/", "--s3-endpoint", S3)) == ["aws", "sdk", "graveler"]


def test_the_code_names_the_gateway_and_no_secret(user):
    shown = user.prints("fs", "snippet", f"{BRANCH}/t/", AWS_ENDPOINT_URL=S3)
    assert shown.count("s3.example.org") == 5
    assert "USE_SSL true" in shown
    assert 'ssl.enabled", "true"' in shown
    for each in ("AKIAEXAMPLE", "'secret'", '"secret"'):
        assert each not in shown
    (heading,) = [line for line in shown.splitlines() if line.startswith("# DuckDB")]
    assert user.prints(
        "fs", "snippet", f"{BRANCH}/t/", "--for", "duckdb", "--s3-endpoint", f"{S3}/"
    ).startswith(heading)


def test_an_api_without_a_gateway_is_named_with_the_ways_out(user, lake):
    """A deployment's gateway has a host of its own."""
    for more in ((), ("--for", "aws")):
        told = user.fails("fs", "snippet", f"{BRANCH}/t/", *more)
        assert told.startswith(f"{lake.endpoint} is no S3 gateway: name one with --s3-endpoint")
    assert "import lakefs" in user.prints("fs", "snippet", f"{BRANCH}/t/", "--for", "sdk")
    assert "-recursive" in user.prints("fs", "snippet", f"{BRANCH}/t/", "--for", "graveler")


def test_a_host_that_answers_as_s3_is_the_gateway(user, server, lake):
    server.will_answer({"path": "a.csv", "path_type": "object"})
    server.will_say(403, "<Error><Code>AccessDenied</Code></Error>", "application/xml")
    endpoint = {"LAKECTL_SERVER_ENDPOINT_URL": server.endpoint}
    shown = user.prints("fs", "snippet", f"{BRANCH}/a.csv", "--for", "aws", **endpoint)
    assert f"AWS_ENDPOINT_URL={server.endpoint} " in shown


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("t/none", "--s3-endpoint", S3),
            f"nothing is at {BRANCH}/t/none: fs ls {BRANCH}/t/ shows",
        ),
        (("none", "--s3-endpoint", S3), f"nothing is at {BRANCH}/none: fs ls {BRANCH}/ shows"),
        (("x", "--s3-endpoint", S3, "--for", "pandas"), f"pandas does not read {BRANCH}/x: use du"),
        (("x", "--s3-endpoint", "s3.example.org"), "--s3-endpoint is 's3.example.org': write"),
        # None of these may become code, or put a secret into it.
        (("x", "--s3-endpoint", 'http://h"""+f()'), "--s3-endpoint is 'http://h"),
        (("x", "--s3-endpoint", "http://{f()}"), "--s3-endpoint is 'http://{f()}': write"),
        (("x", "--s3-endpoint", "http://h', SCOPE 's"), "--s3-endpoint is "),
        (("x", "--s3-endpoint", "http://ada:secret@h"), "--s3-endpoint is "),
        (("x", "--s3-endpoint", "http://[h"), "--s3-endpoint is "),
        (("x", "--for", "excel"), "invalid value for '--for'"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_remedy(user, words, told):
    path, *more = words
    assert user.fails("fs", "snippet", f"{BRANCH}/{path}", *more).startswith(told)
