"""Physical addresses sort newest first, are linkable by whom they were made for, and expire."""

import hmac
import json
from base64 import urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler.addresses import (
    decode_xid,
    encode_xid,
    is_own_address,
    is_partition,
    new_address,
    newest_first,
    physical_uri,
    relative_address,
    sign_address,
    verify_address,
)
from graveler.errors import InvalidInputError
from graveler.model import AddressType, Entry
from tests.support.checks.cases import for_each

KEY = b"signing key"
NOW_S = 1_700_000_000
DAY_S = 24 * 60 * 60


def uid_at(time_s: int, rest: bytes = b"\x01\x02\x03\x04\x05\x06\x07\x08") -> str:
    return encode_xid(time_s.to_bytes(4, "big") + rest)


@for_each("raw", [bytes(12), b"\xff" * 12, bytes(range(12))])
def test_an_xid_reads_back(raw):
    text = encode_xid(raw)
    assert len(text) == 20
    assert decode_xid(text) == raw


@for_each("text", ["", "0" * 19, "0" * 21, "w" * 20, "A" * 20, "é" * 20, "a=" * 10])
def test_what_is_no_xid_is_refused(text):
    with pytest.raises(InvalidInputError):
        decode_xid(text)


def test_an_address_lies_in_data_and_ends_with_its_name():
    uid = uid_at(NOW_S)
    folder, partition, name = new_address(uid).split("/")
    assert (folder, name) == ("data", uid)
    assert len(decode_xid(partition)) == 12


@for_each("raw", [bytes(12), b"\xff" * 12, bytes(range(12))])
def test_every_address_that_was_given_is_known_as_our_own(raw):
    address = new_address(encode_xid(raw))
    assert is_own_address(address)
    assert is_partition(address.removesuffix(encode_xid(raw)))


@given(st.binary(max_size=32), st.binary(min_size=1, max_size=9))
def test_every_address_that_was_handed_out_with_a_signature_is_known_as_our_own(key, path):
    assert is_own_address(sign_address(key, "repo", "main", path, new_address(uid_at(NOW_S))))


# From lakeFS's documentation (docs/understand/data-structure.md), and an ID of Go's xid library.
@for_each(
    "address",
    [
        "data/gp0n1l7d77pn0cke6jjg/cg6p50nd77pn0cke6jk0",
        "data/geh1jurck6tfom0s1t8g/cqmej33ck6tfom0s1tvg",
        "data/9m4e2mr0ui3e8a215n4g/9m4e2mr0ui3e8a215n4g",
        # Handed out for a direct upload.
        "data/ft64rupksducbvndnf50/dc1bd9hksducbvndnij0,-QgPSXAzcbIUWIpj8Y_e7C0Pu_8M-got9TomWO27Lnk",
    ],
)
def test_addresses_that_lakefs_gave_are_known_as_our_own(address):
    assert is_own_address(address)


XID = "9m4e2mr0ui3e8a215n4g"
SIGNATURE = 42 * "_" + "8"


@for_each(
    "address",
    [
        "",
        "data/",
        "data/part-0.parquet",
        "data/2019/part-0.parquet",
        f"data/{XID}",
        f"data/{XID}/",
        f"data/{XID}/{XID}/",
        f"data/{XID}/{XID}/{XID}",
        f"data/{XID}/{XID}.parquet",
        f"data/{XID}/{XID}\n",
        f"data/{XID}//{XID}",
        f"data//{XID}/{XID}",
        f"data/{XID}/{XID[:-1]}",
        f"data/{XID}/{XID[:-1]}1",  # more than 96 bits
        f"data/{XID}/{XID[:-1]}w",
        f"data/{XID.upper()}/{XID}",
        f"data/{XID}/{XID[:-1]}é",
        f"data/{XID[:-1]}\u017f/{XID}",
        f"data2/{XID}/{XID}",
        f"/data/{XID}/{XID}",
        f"x/data/{XID}/{XID}",
        f"{XID}/{XID}",
        f"data/{XID}/{XID},",
        f"data/{XID}/{XID},{SIGNATURE[1:]}",
        f"data/{XID}/{XID},_{SIGNATURE}",
        f"data/{XID}/{XID},{SIGNATURE[:-1]}9",  # more than 256 bits
        f"data/{XID}/{XID},{SIGNATURE}=",
        f"data/{XID}/{XID},{SIGNATURE}\n",
        f"data/{XID}/{XID},+{SIGNATURE[1:]}",
        f"data/{XID}/{XID},/{SIGNATURE[1:]}",
        f"data/{XID}/{XID},{SIGNATURE},{SIGNATURE}",
        f"data/{XID}/{XID}{SIGNATURE}",
        f"data/{XID},{SIGNATURE}/{XID}",
        f"data/{XID}/,{SIGNATURE}",
        f"data/{XID}/_lakefs/dummy",
        f"data/{XID}/data/{XID}/{XID}",
    ],
)
def test_names_of_any_other_shape_are_not_ours(address):
    assert not is_own_address(address)


def test_newer_partitions_are_listed_first_and_one_serves_an_hour():
    hour_s = NOW_S // 3600 * 3600
    partitions = [new_address(uid_at(hour_s + s)).split("/")[1] for s in (0, 3599, 3600, 9 * 3600)]
    assert partitions[0] == partitions[1]
    assert partitions[1] > partitions[2] > partitions[3]


def test_newest_first_turns_the_order_of_uids_by_time():
    uids = [uid_at(NOW_S + seconds) for seconds in (0, 1, 300, DAY_S, 400 * DAY_S)]
    turned = [newest_first(uid) for uid in uids]
    assert turned == sorted(turned, reverse=True)
    assert all(len(decode_xid(each)) == 12 for each in turned)
    same_second = [newest_first(uid_at(NOW_S, rest)) for rest in (b"\1" * 8, b"\2" * 8)]
    assert len(set(same_second)) == 2


def test_the_maker_of_an_address_may_link_to_it_for_a_day():
    address = new_address(uid_at(NOW_S))
    signed = sign_address(KEY, "repo", "main", b"a/b", address)
    for age_s in (0, DAY_S):
        verify_address(KEY, "repo", "main", b"a/b", signed, NOW_S + age_s)
    with pytest.raises(InvalidInputError, match="expired"):
        verify_address(KEY, "repo", "main", b"a/b", signed, NOW_S + DAY_S + 1)


def test_nobody_links_to_an_address_made_for_something_else():
    address = new_address(uid_at(NOW_S))
    signed = sign_address(KEY, "repo", "main", b"a/b", address)
    other_address = new_address(uid_at(NOW_S + 1)) + "," + signed.partition(",")[2]
    for key, repository, branch, path, text in (
        (b"other key", "repo", "main", b"a/b", signed),
        (KEY, "other", "main", b"a/b", signed),
        (KEY, "repo", "other", b"a/b", signed),
        (KEY, "repo", "main", b"a/c", signed),
        (KEY, "repo", "main", b"a/b", other_address),
        (KEY, "repo", "main", b"a/b", address),
        (KEY, "repo", "main", b"a/b", address + ","),
        (KEY, "repo", "main", b"a/b", signed + "x"),
        (KEY, "repo", "main", b"a/b", signed + "é"),
    ):
        with pytest.raises(InvalidInputError):
            verify_address(key, repository, branch, path, text, NOW_S)


def test_an_address_of_a_version_that_linked_without_the_signature_is_refused():
    """Its presigned URL leads to the address without it: a link would lead to nothing."""
    address = new_address(uid_at(NOW_S))
    claim = {"Repository": "repo", "Branch": "main", "Path": "a/b", "PhysicalAddress": address}
    mac = hmac.digest(KEY, json.dumps(claim, separators=(",", ":")).encode(), "sha256")
    signed = f"{address},{urlsafe_b64encode(mac).decode().rstrip('=')}"
    with pytest.raises(InvalidInputError, match="invalid address signature"):
        verify_address(KEY, "repo", "main", b"a/b", signed, NOW_S)


def test_paths_that_are_no_text_are_signed_like_others():
    address = new_address(uid_at(NOW_S))
    signed = sign_address(KEY, "repo", "main", b"\xff\x00", address)
    verify_address(KEY, "repo", "main", b"\xff\x00", signed, NOW_S)
    with pytest.raises(InvalidInputError):
        verify_address(KEY, "repo", "main", b"\xfe\x00", signed, NOW_S)


@for_each(
    ("address", "address_type", "uri"),
    [
        ("data/p/n", AddressType.RELATIVE, "s3://b/ns/data/p/n"),
        ("s3://other/k", AddressType.FULL, "s3://other/k"),
        ("data/p/n", AddressType.BY_PREFIX_DEPRECATED, "s3://b/ns/data/p/n"),
        ("s3://other/k", AddressType.BY_PREFIX_DEPRECATED, "s3://other/k"),
    ],
)
def test_an_entry_gives_the_uri_of_its_data(address, address_type, uri):
    assert physical_uri("s3://b/ns", Entry(address, address_type, 0, "", 0)) == uri


def test_only_what_lies_inside_the_namespace_is_written_relative():
    assert relative_address("s3://b/ns", "s3://b/ns/k") == ("k", AddressType.RELATIVE)
    assert relative_address("s3://b/ns", "s3://b/ns2/k") == ("s3://b/ns2/k", AddressType.FULL)
