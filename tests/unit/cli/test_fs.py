"""`graveler fs stat`."""

import pytest

STATS = {
    "path": "allstar_games_stats.csv",
    "path_type": "object",
    "physical_address": "s3://niro-test/data/geh1jurck6tfom0s1t8g/cqmej33ck6tfom0s1tvg",
    "checksum": "48e04a4c072acdcf932ee6c43f46ef14",
    "size_bytes": 916_393,
    "mtime": 1_722_608_013,
    "metadata": {},
    "content_type": "application/octet-stream",
}

SHOWN = """\
Path: allstar_games_stats.csv
Modified Time: 2024-08-02 10:13:33 -0400 EDT
Size: 916393 bytes
Human Size: 916.4 kB
Physical Address: s3://niro-test/data/geh1jurck6tfom0s1t8g/cqmej33ck6tfom0s1tvg
Checksum: 48e04a4c072acdcf932ee6c43f46ef14
Content-Type: application/octet-stream
"""

OBJECT = "lakefs://my-repo/main/allstar_games_stats.csv"


@pytest.fixture(autouse=True)
def _new_york(time_zone):
    time_zone("America/New_York")


def test_an_object_is_described_field_by_field(graveler, server):
    server.will_answer(STATS)
    assert graveler.prints("fs", "stat", "--pre-sign=false", OBJECT) == SHOWN
    (asked,) = server.asked
    assert asked.method == "GET"
    assert asked.path == (
        "/api/v1/repositories/my-repo/refs/main/objects/stat"
        "?path=allstar_games_stats.csv&presign=false"
    )
    assert asked.authorization == "Basic QUtJQUVYQU1QTEU6c2VjcmV0"


def test_the_location_is_shown_unless_a_presigned_url_is_asked_for(graveler, server):
    server.will_answer(STATS)
    assert graveler.prints("fs", "stat", OBJECT) == SHOWN
    assert server.asked[0].path.endswith("&presign=false")


@pytest.mark.parametrize("flag", ["--pre-sign", "--pre-sign=true"])
def test_a_presigned_url_is_shown_with_its_end(graveler, server, flag):
    url = "https://niro-test.s3.amazonaws.com/data/x?X-Amz-Signature=" + "0" * 200
    server.will_answer({**STATS, "physical_address": url, "physical_address_expiry": 1_722_608_913})
    lines = graveler.prints("fs", "stat", OBJECT, flag).splitlines()
    assert lines[4:6] == [
        f"Physical Address: {url}",
        "Physical Address Expires: 2024-08-02 10:28:33 -0400 EDT",
    ]
    assert server.asked[0].path.endswith("&presign=true")


def test_any_ref_and_any_path_arrive_as_they_were_written(graveler, server):
    server.will_answer({**STATS, "path": "a b/ä%20?#"})
    shown = graveler.prints("fs", "stat", "lakefs://my-repo/dev~3/a b/ä%20?#")
    assert shown.startswith("Path: a b/ä%20?#\n")
    assert server.asked[0].path.startswith(
        "/api/v1/repositories/my-repo/refs/dev~3/objects/stat?path=a%20b%2F%C3%A4%2520%3F%23&"
    )


def test_user_metadata_follows_in_the_order_of_its_keys(graveler, server):
    server.will_answer({**STATS, "metadata": {"zed": "1", "Abc": "two words", "e": ""}})
    shown = graveler.prints("fs", "stat", OBJECT)
    assert shown == SHOWN + (
        "Metadata:\n\t\n\tAbc                = two words\n\te                  = \n"
        "\tzed                = 1\n"
    )


def test_nothing_in_a_name_is_taken_for_markup_or_broken_up(graveler, server):
    path = "[red]" + "long/" * 60 + " "
    server.will_answer({**STATS, "path": path})
    shown = graveler.prints("fs", "stat", f"lakefs://my-repo/main/{path}", FORCE_COLOR="1")
    assert shown.startswith(f"Path: {path}\n")
