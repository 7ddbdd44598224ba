"""Uploads of many files: two requests of the API for all of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graveler_cli.transfers import runner, together, uploads
from graveler_cli.transfers.jobs import DownloadJob, Job, UploadJob

BRANCH = "lakefs://my-repo/main"


@pytest.fixture
def files() -> dict[str, bytes]:
    """Files in the folder `in`, by name."""
    Path("in").mkdir()
    made = {f"{number:02}.csv": b"%d" % number * number for number in range(30)}
    for name, content in made.items():
        (Path("in") / name).write_bytes(content)
    return made


def upload(user: Any, *more: str) -> Any:
    return user.run("fs", "upload", "-r", "-s", "in", f"{BRANCH}/d", *more)


def stored(lake: Any) -> dict[str, bytes]:
    return {path.removeprefix("d/"): found.content for path, found in lake.objects.items()}


def test_many_files_take_two_requests_of_the_api(user, lake, files):
    assert upload(user).exit_code == 0
    assert stored(lake) == files
    assert lake.objects["d/07.csv"].content_type == "text/csv"
    assert lake.amount("POST", "/staging/addresses") == lake.amount("POST", "/staging/links") == 1
    assert lake.amount("PUT", "/store") == len(files)
    assert len(lake.asked) == len(files) + 4  # and a listing, and the configuration


def test_a_server_without_such_requests_gets_each_file_by_itself(user, lake, files):
    lake.is_graveler = False
    assert upload(user).exit_code == 0
    assert stored(lake) == files
    assert lake.amount("POST", "/objects?") == len(files)


@pytest.mark.parametrize("option", ["--pre-sign=false"])
def test_without_presigned_urls_all_goes_by_the_api(user, lake, files, option):
    assert upload(user, option).exit_code == 0
    assert stored(lake) == files
    assert lake.amount("POST", "/staging/addresses") == 0


def test_links_without_effect_are_sent_again_and_others_are_not(user, lake, files):
    lake.link_failures = {"d/03.csv": (503, False), "d/04.csv": (429, False)}
    assert upload(user).exit_code == 0
    assert stored(lake) == files
    assert lake.amount("POST", "/staging/links") == 2


def test_a_link_whose_outcome_is_unknown_is_looked_up(user, lake, files):
    lake.link_failures = {"d/03.csv": (500, True), "d/04.csv": (500, False)}
    result = upload(user)
    assert result.exit_code == 1
    assert "error: upload d/04.csv: [500] failed" in result.stderr
    assert "03.csv" not in result.stderr
    assert stored(lake).keys() == files.keys() - {"04.csv"}


def test_a_refused_link_fails_alone(user, lake, files):
    lake.link_failures = {"d/03.csv": (401, False)}
    result = upload(user)
    assert result.exit_code == 1
    assert "error: upload d/03.csv: [401] failed" in result.stderr
    assert stored(lake).keys() == files.keys() - {"03.csv"}


def test_a_link_that_the_answer_leaves_out_is_looked_up(user, lake, files):
    lake.left_out = {"d/03.csv", "d/04.csv"}
    lake.link_failures = {"d/04.csv": (0, False)}
    result = upload(user)
    assert result.exit_code == 1
    assert "error: upload d/04.csv: [500] the server does not say" in result.stderr
    assert "03.csv" not in result.stderr
    assert stored(lake).keys() == files.keys() - {"04.csv"}


def test_files_without_the_right_to_their_paths_fail_alone(user, lake, files):
    lake.refused = {"d/03.csv"}
    result = upload(user)
    assert (result.exit_code, "error: upload d/03.csv: [401] refused" in result.stderr) == (1, True)
    assert stored(lake).keys() == files.keys() - {"03.csv"}


def test_an_address_without_a_url_is_no_address(user, lake, files, monkeypatch):
    monkeypatch.setattr(lake, "url", lambda *_: None)
    assert upload(user).exit_code == 0
    assert stored(lake) == files


@pytest.fixture
def three_failures_in_a_row_end_a_run(monkeypatch):
    monkeypatch.setattr(runner, "_FAILURES_IN_A_ROW_MAX", 3)


@pytest.mark.usefixtures("three_failures_in_a_row_end_a_run")
def test_failures_with_successes_between_them_do_not_end_a_run(user, lake, files):
    names = [f"{number:02}.csv" for number in range(0, 30, 5)]
    for name in names[:3]:
        lake.fails("PUT", f"/store/data/{int(name[:2]) + 1}?", 403)
    lake.link_failures = {f"d/{name}": (401, False) for name in names[3:]}
    result = upload(user, "-p", "1")
    assert (result.exit_code, result.stderr.count("error: upload d/")) == (1, len(names))
    assert stored(lake).keys() == files.keys() - set(names)


@pytest.mark.usefixtures("three_failures_in_a_row_end_a_run")
def test_what_is_stored_is_linked_though_the_rest_is_not_tried(user, lake, files):
    for number in (11, 12, 13):
        lake.fails("PUT", f"/store/data/{number}?", 403)
    result = upload(user, "-p", "1")
    assert (result.exit_code, "the rest was not tried" in result.stderr) == (1, True)
    assert len(stored(lake)) == 10


def test_a_file_that_the_object_store_refuses_fails_alone(user, lake, files):
    lake.fails("PUT", "/store/data/3?", 403)
    result = upload(user)
    assert (result.exit_code, result.stderr.count("error: upload d/")) == (1, 1)
    assert len(stored(lake)) == len(files) - 1


def test_urls_that_expired_are_asked_for_one_by_one(user, lake, files, monkeypatch):
    lake.life_s = 0
    address = lake.url

    def url(of: str, more: str = "") -> str:
        lake.life_s = 900 if lake.number >= len(files) else 0
        return str(address(of, more))

    lake.url = url
    monkeypatch.setattr(uploads, "DIRECT_BYTES_MAX", -1)
    assert upload(user).exit_code == 0
    assert stored(lake) == files
    assert lake.amount("GET", "/staging/backing") == len(files) - 1


def jobs(*sizes: int) -> Iterator[Job]:
    for number, size in enumerate(sizes):
        yield UploadJob(str(number), bytes(size))


def sizes(found: Any) -> list[int]:
    return [len(each.source) for each in found]


def grouped(*found: Job) -> list[list[Job]]:
    return [list(group) for group in together.grouped(found, lambda job: sizes([job])[0])]


def test_groups_are_bounded_in_objects_and_bytes_and_large_files_are_alone(monkeypatch):
    monkeypatch.setattr(together, "OBJECTS_MAX", 3)
    monkeypatch.setattr(together, "BYTES_MAX", 10)
    monkeypatch.setattr(together, "PARTS_BYTES_MIN", 9)
    made = grouped(*jobs(1, 1, 1, 1, 8, 2, 9, 0, 0))
    assert list(map(sizes, made)) == [[1, 1, 1], [1, 8], [2], [9], [0, 0]]
    one, two = jobs(1, 2)
    assert grouped(one, two, one) == [[one, two], [one]]
    assert grouped() == []


def test_an_object_with_a_long_description_is_alone():
    small, _ = jobs(1, 1)
    large = UploadJob("l", b"", {"key": "é" * 600})
    assert grouped(small, large, small) == [[small], [large], [small]]


def test_a_file_whose_name_or_link_is_no_utf8_fails_alone(user, lake, files, monkeypatch):
    monkeypatch.setenv("LAKECTL_LOCAL_SYMLINK_SUPPORT", "true")
    (Path("in") / "11-\udcff").write_text("x")
    (Path("in") / "12-link").symlink_to("\udcff")
    result = upload(user)
    assert (result.exit_code, "2 of 32 failed" in result.stderr) == (1, True)
    assert stored(lake) == files
    assert lake.amount("POST", "/staging/links") == 2


def test_a_download_is_no_part_of_a_group():
    (one,), download = jobs(1), DownloadJob("d", Path("d"), None)  # type: ignore[arg-type]
    made = together.grouped([one, download, one], lambda _: 0)
    assert list(map(list, made)) == [[one], [download], [one]]
