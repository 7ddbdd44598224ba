"""Listings: branches as folders, objects of any ref, in pages whose sum is the whole."""

from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graveler.operations import tags
from graveler_gateway.lake.engine.lakes import EngineLake
from tests.support.checks.cases import for_each
from tests.support.worlds.gateway_stack import GatewayStack

V1, V2 = {}, {"list-type": "2"}
BOTH = for_each("version", [V1, V2])
KEYS = ["a", "a-b", "a/", "a/1", "a/2", "a/b/3", "ab", "b", "é", "~"]


@pytest.fixture(scope="module")
def stack():
    made = GatewayStack()
    for key in KEYS:
        made.put(f"main/{key}")
    for name in ("a", "a-b", "a:b", "ab", "zz"):
        made.branch(name)
    made.tag("v1", made.commit())
    made.put("main/later")
    made.repository("empty")
    return made


def pages(stack, query, version, repository="repo"):
    """All pages of a listing, each a list of keys and prefixes, as a client turns them."""
    found, more = [], {}
    while True:
        reply = stack.ask("GET", f"/{repository}", query={**version, **query, **more})
        assert reply.status == 200, reply
        rows, prefixes = reply.texts("Contents/Key"), reply.texts("CommonPrefixes/Prefix")
        found.append([*rows, *prefixes])
        if version == V2:
            assert reply.text("KeyCount") == str(len(rows) + len(prefixes))
        if reply.text("IsTruncated") == "false":
            assert not reply.texts("NextContinuationToken") + reply.texts("NextMarker")
            return found
        assert found[-1], "a page that is not the last one has something"
        assert len(found) < 50
        if version == V2:
            more = {"continuation-token": reply.text("NextContinuationToken")}
        else:
            marker = reply.text("NextMarker") or rows[-1]
            more = {"marker": unquote(marker) if "encoding-type" in query else marker}


def keys(prefix, ref="main", delimiter="", after=""):
    """What S3 lists of KEYS: keys and common prefixes, without duplicates."""
    found = []
    for key in sorted(f"{ref}/{key}" for key in KEYS):
        if not key.startswith(prefix) or key <= after:
            continue
        at = key.find(delimiter, len(prefix)) if delimiter else -1
        shown = key if at < 0 else key[: at + len(delimiter)]
        if shown not in found:
            found.append(shown)
    return found


def flat(found):
    return sorted(key for page in found for key in page)


# Branches


@BOTH
@for_each("amount", ["1", "2", "3", "1000"])
@for_each("delimiter", ["/", "", "-"])
def test_branches_are_folders_in_the_order_of_their_keys(stack, version, amount, delimiter):
    found = pages(stack, {"max-keys": amount, "delimiter": delimiter}, version)
    names = [name for page in found for name in page]
    assert names == ["a-b/", "a/", "a:b/", "ab/", "main/", "zz/"]
    assert all(len(page) <= int(amount) for page in found)


@BOTH
@for_each(
    ("prefix", "expected"),
    [
        *(("a", ["a-b/", "a/", "a:b/", "ab/"]), ("ab", ["ab/"]), ("a:", ["a:b/"]), ("x", [])),
        *(("main", ["main/"]), (" ", [])),
    ],
)
def test_a_prefix_chooses_branches(stack, version, prefix, expected):
    assert pages(stack, {"prefix": prefix}, version) == [expected]


@BOTH
@for_each(
    ("after", "expected"),
    [
        ("a-b", ["a-b/", "a/", "a:b/", "ab/", "main/", "zz/"]),
        ("a-b/", ["a/", "a:b/", "ab/", "main/", "zz/"]),
        ("a-b/x", ["a/", "a:b/", "ab/", "main/", "zz/"]),
        ("a/", ["a:b/", "ab/", "main/", "zz/"]),
        ("a:b/x", ["ab/", "main/", "zz/"]),
        ("main/a/1", ["zz/"]),
        ("zzz", []),
    ],
)
def test_branches_begin_after_any_text(stack, version, after, expected):
    name = "start-after" if version else "marker"
    assert pages(stack, {name: after, "delimiter": "/"}, version) == [expected]


@BOTH
def test_an_empty_repository_has_its_branch(stack, version):
    assert pages(stack, {}, version, "empty") == [["main/"]]
    assert pages(stack, {"prefix": "main/"}, version, "empty") == [[]]


# Objects


DELIMITERS = ["", "/", "-", "a", "/1", "é", "//", "no", "1", "\x7f"]


@BOTH
@for_each("delimiter", DELIMITERS)
@for_each("prefix", ["main/", "main/a", "main/a/", "main/a/b/", "main/é", "main/x"])
@for_each("amount", ["1", "2", "1000"])
def test_pages_are_what_s3_lists(stack, version, delimiter, prefix, amount):
    query = {"prefix": prefix, "delimiter": delimiter, "max-keys": amount}
    found = pages(stack, query, version)
    expected = keys(prefix, delimiter=delimiter)
    expected += [] if not "main/later".startswith(prefix) else later(prefix, delimiter)
    assert flat(found) == sorted(set(expected))
    assert all(len(page) <= int(amount) for page in found)


def later(prefix, delimiter):
    at = "main/later".find(delimiter, len(prefix)) if delimiter else -1
    return ["main/later" if at < 0 else "main/later"[: at + len(delimiter)]]


@BOTH
@for_each("delimiter", ["", "/", "-"])
@for_each(
    "after", ["main", "main/", "main/a", "main/a/", "main/a/1", "main/a/b/", "main/zz", "n", "a/z"]
)
def test_a_listing_begins_after_any_text(stack, version, delimiter, after):
    name = "start-after" if version else "marker"
    query = {"prefix": "v1/", "delimiter": delimiter, name: after.replace("main", "v1")}
    moved = after.replace("main", "v1")
    expected = keys("v1/", "v1", delimiter, moved)
    # A marker that is a common prefix, or inside it, is past its keys on S3 only if equal to it.
    if delimiter and moved in keys("v1/", "v1", delimiter):
        expected = [key for key in expected if key != moved]
    assert flat(pages(stack, query, version)) == sorted(expected)


@BOTH
@for_each("ref", ["v1", "main~0", "v1~0", "{commit}", "a"])
def test_objects_of_any_ref_are_listed(stack, version, ref):
    name = ref.format(commit=tags.get(stack.engine, "repo", "v1").commit_id)
    found = pages(stack, {"prefix": f"{name}/"}, version)
    expected = [] if ref == "a" else sorted(f"{name}/{key}" for key in KEYS)
    if ref == "main~0":
        assert set(expected) <= set(flat(found))
    else:
        assert flat(found) == expected


@BOTH
@for_each(
    "prefix", ["missing/", "v9/x", "main~9/", "é/", "a b/", "/", "//", "main^/", "-/", "x@{y}/"]
)
@for_each("delimiter", ["", "/"])
def test_a_prefix_that_no_key_has_lists_nothing(stack, version, prefix, delimiter):
    assert pages(stack, {"prefix": prefix, "delimiter": delimiter}, version) == [[]]


@BOTH
@for_each("prefix", ["%FF%2F", "main%2F%FF", "%FF", "a%FF%2Fb"])
@for_each("name", ["prefix", "delimiter", "marker", "start-after"])
def test_bytes_that_are_no_text_list_nothing_wrong(stack, version, prefix, name):
    query = "&".join(f"{key}={value}" for key, value in version.items())
    reply = stack.ask("GET", "/repo", query=f"{query}&{name}={prefix}".strip("&"))
    assert (reply.status, reply.error) == (200, "")
    assert reply.document is not None


@BOTH
def test_the_stores_are_asked_for_text_only(stack, version, monkeypatch):
    branches = EngineLake.branches

    def checked(lake, repository, prefix, after, amount):
        assert (prefix + after).isascii()
        return branches(lake, repository, prefix, after, amount)

    monkeypatch.setattr(EngineLake, "branches", checked)
    query = "&".join([*(f"{key}={value}" for key, value in version.items()), "prefix=%FF"])
    reply = stack.ask("GET", "/repo", query=query)
    assert (reply.status, reply.texts("CommonPrefixes")) == (200, [])


@BOTH
def test_no_amount_lists_nothing(stack, version):
    for prefix in ("", "main/"):
        query = {**version, "max-keys": "0", "prefix": prefix}
        reply = stack.ask("GET", "/repo", query=query)
        assert (reply.status, reply.text("IsTruncated")) == (200, "false")
        assert not reply.texts("Contents") + reply.texts("CommonPrefixes")


@for_each(
    "query",
    [
        {"max-keys": "-1"},
        {"max-keys": "x"},
        {"max-keys": "1e3"},
        {"encoding-type": "xml"},
        {"list-type": "3"},
        {"list-type": "2", "continuation-token": "!"},
    ],
)
def test_a_malformed_query_is_an_invalid_argument(stack, query):
    reply = stack.ask("GET", "/repo", query=query)
    assert (reply.status, reply.code) == (400, "InvalidArgument")


def test_an_object_is_listed_as_it_is_read(stack):
    reply = stack.ask("GET", "/repo", query={"list-type": "2", "prefix": "main/a/1"})
    head = stack.ask("HEAD", "/repo/main/a/1")
    assert reply.text("Contents/ETag") == head.headers["etag"]
    assert reply.text("Contents/Size") == str(head.length_bytes)
    assert reply.text("Contents/StorageClass") == "STANDARD"
    assert not reply.texts("Contents/Owner")
    owned = {"list-type": "2", "prefix": "main/a/1", "fetch-owner": "true"}
    assert stack.ask("GET", "/repo", query=owned).text("Contents/Owner/ID") == "bob"
    assert stack.ask("GET", "/repo", query={"prefix": "main/a/1"}).text("Contents/Owner/ID")


def test_a_repository_may_be_named_with_a_slash(stack):
    assert stack.ask("GET", "/empty/").texts("CommonPrefixes/Prefix") == ["main/"]


ODD = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
ODD_KEYS = st.lists(
    ODD.filter(lambda key: not key.startswith("/")), min_size=1, max_size=6, unique=True
)


@settings(deadline=None)
@given(ODD_KEYS, st.sampled_from(["", "/", "a", "\n"]), st.sampled_from(["1", "2"]), st.booleans())
def test_pages_of_any_keys_are_complete(names, delimiter, amount, is_first):
    stack = GatewayStack()
    written = [name for name in names if stack.ask("PUT", f"/repo/main/{name}", b"").status == 200]
    query = {"prefix": "main/", "delimiter": delimiter, "max-keys": amount, "encoding-type": "url"}
    found = pages(stack, query, V1 if is_first else V2)
    expected = set()
    for name in written:
        at = name.find(delimiter) if delimiter else -1
        expected.add("main/" + (name if at < 0 else name[: at + len(delimiter)]))
    assert sorted(map(unquote, flat(found))) == sorted(expected)
