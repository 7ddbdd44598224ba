"""Imports read only what the deployment and the repository allow."""

import pytest

from graveler.errors import ForbiddenError, InvalidInputError
from graveler.imports.keys import KeyInterval
from graveler.imports.request import ImportRequest, SourceType, check_request, source_of
from graveler.limits import IMPORT_INVENTORIES_MAX, IMPORT_PREFIXES_MAX, IMPORT_REQUEST_BYTES_MAX
from tests.support.checks.cases import for_each

NAMESPACE = "s3://lake/repo"
EVERYWHERE = ["s3://"]


def prefix(uri, destination=""):
    return source_of(SourceType.PREFIX, uri, destination)


def single(uri, destination="path"):
    return source_of(SourceType.OBJECT, uri, destination)


def check(*sources, allowed=EVERYWHERE, **fields):
    check_request(ImportRequest(sources, "ann", **fields), NAMESPACE, allowed)


@for_each(
    ("destination", "replaced"),
    [
        ("a", KeyInterval(b"a/", b"a0")),
        ("a/", KeyInterval(b"a/", b"a0")),
        ("", KeyInterval(b"", None)),
    ],
)
def test_a_prefix_replaces_the_folder_of_its_destination(destination, replaced):
    assert prefix("s3://raw/x", destination).replaced == replaced


def test_an_object_replaces_its_path_only():
    assert single("s3://raw/x", "a/b").replaced == KeyInterval(b"a/b", b"a/b\x00")


@for_each(
    "uri",
    ["", "raw/x", "gs://raw/x", "s3:/raw/x", "s3://", "s3:///x", "s3://../x", "s3://./x",
     "s3://r@w/x", "s3://raw/a\x00b", "s3://raw/a/../b", "s3://raw/" + "x" * 1025],
)  # fmt: skip
def test_a_uri_outside_s3_is_refused(uri):
    with pytest.raises(InvalidInputError, match="import path"):
        prefix(uri)


def test_a_whole_bucket_is_a_prefix_and_no_object():
    assert prefix("s3://raw") == prefix("s3://raw/")
    with pytest.raises(InvalidInputError, match="common_prefix"):
        single("s3://raw")


def test_a_destination_that_no_path_can_have_is_refused():
    with pytest.raises(InvalidInputError, match="missing path"):
        single("s3://raw/x", "")
    for make in (prefix, single):
        make("s3://raw/x", "d" * 1023)
        with pytest.raises(InvalidInputError, match="is above maximum length"):
            make("s3://raw/x", "d" * 1025)


@for_each("uri", [NAMESPACE, f"{NAMESPACE}/", f"{NAMESPACE}/data/x"])
@for_each("make", [prefix, single])
def test_the_repositorys_own_objects_are_not_imported(make, uri):
    with pytest.raises(InvalidInputError, match=r"in repository namespace \(s3://lake/repo\)"):
        check(make(uri))


@for_each("uri", ["s3://lake", "s3://lake/", "s3://lake/re"])
def test_a_prefix_around_the_repositorys_own_objects_is_not_imported(uri):
    with pytest.raises(InvalidInputError, match="contains repository namespace"):
        check(prefix(uri))


def test_what_is_beside_the_namespace_is_imported():
    check(prefix("s3://lake/repository/"), prefix("s3://lake/repo2"), single("s3://lake/re"))


@for_each("allowed", ["s3://raw/in", "s3://raw/in/", "s3://raw/", "s3://raw"])
def test_sources_under_an_allowed_prefix_are_imported(allowed):
    check(
        prefix("s3://raw/in/"), prefix("s3://raw/in/x"), single("s3://raw/in/x"), allowed=[allowed]
    )


@for_each("uri", ["s3://raw/in", "s3://raw/input/x", "s3://raw", "s3://raw2/in/x"])
def test_sources_elsewhere_are_refused_and_the_message_names_the_setting(uri):
    with pytest.raises(ForbiddenError, match=r"only from s3://raw/in/ .*GRAVELER_IMPORT_PREFIXES"):
        check(prefix(uri), allowed=["s3://raw/in"])


@for_each("allowed", [[], [""]])
def test_without_allowed_prefixes_nothing_is_imported(allowed):
    with pytest.raises(ForbiddenError, match="from nowhere"):
        check(prefix("s3://raw/in/"), allowed=allowed)


def test_the_prefixes_of_a_request_are_limited_and_its_objects_are_not():
    some = [prefix(f"s3://raw/{number}/") for number in range(IMPORT_PREFIXES_MAX)]
    check(*some, *[single("s3://raw/x")] * 1000)
    with pytest.raises(InvalidInputError, match="101 prefixes, at most 100"):
        check(*some, prefix("s3://raw/one-more/"))


def test_the_inventories_of_a_request_are_limited():
    some = [
        source_of(SourceType.INVENTORY, f"s3://raw/{number}/manifest.json", "to/")
        for number in range(IMPORT_INVENTORIES_MAX + 1)
    ]
    check(*some[1:])
    with pytest.raises(InvalidInputError, match="11 inventories, at most 10"):
        check(*some)


def test_a_request_fits_into_a_stored_task():
    size_bytes = IMPORT_REQUEST_BYTES_MAX - 1000
    check(single("s3://raw/x"), message="m" * size_bytes)
    with pytest.raises(InvalidInputError, match="at most 307200 are allowed"):
        check(single("s3://raw/x"), message="m" * size_bytes, metadata={"k": "v" * 1000})
