"""Times and sizes in lakectl's form, and the pager."""

import pytest

from cli.output import Output, human_size, local_time


@pytest.mark.parametrize(
    ("size_bytes", "shown"),
    [
        *((0, "0 B"), (1, "1 B"), (999, "999 B"), (1000, "1.0 kB"), (1024, "1.0 kB")),
        *((1050, "1.1 kB"), (1250, "1.2 kB"), (1350, "1.4 kB"), (9950, "9.9 kB")),
        *((99_950, "100.0 kB"), (916_393, "916.4 kB"), (999_999, "1000.0 kB")),
        *((10**6, "1.0 MB"), (10**9 - 1, "1000.0 MB"), (123_456_789_012, "123.5 GB")),
        *((10**15, "1.0 PB"), (2**60, "1.2 EB"), (2**63 - 1, "9.2 EB")),
    ],
)
def test_a_size_is_shown_in_powers_of_a_thousand(size_bytes, shown):
    assert human_size(size_bytes) == shown


@pytest.mark.parametrize(
    ("zone", "unix_s", "shown"),
    [
        ("America/New_York", 1_722_608_013, "2024-08-02 10:13:33 -0400 EDT"),
        ("America/New_York", 1_795_180_266, "2026-11-20 08:11:06 -0500 EST"),
        ("UTC", 1_722_608_013, "2024-08-02 14:13:33 +0000 UTC"),
        ("Europe/Berlin", 0, "1970-01-01 01:00:00 +0100 CET"),
        ("Asia/Tehran", 1_795_180_266, "2026-11-20 16:41:06 +0330 +0330"),
    ],
)
def test_a_time_is_shown_in_the_local_zone(zone, unix_s, shown, time_zone):
    time_zone(zone)
    assert local_time(unix_s) == shown


def test_colors_reach_the_pager(monkeypatch, tmp_path):
    monkeypatch.setattr(Output, "is_terminal", True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("PAGER", f"cat > {tmp_path / 'read'}")
    output = Output()
    with output.paged():
        output.line(output.paint("1a2b", "yellow"))
    assert (tmp_path / "read").read_text() == "\x1b[93m1a2b\x1b[0m\n"


def test_a_pager_that_was_closed_ends_the_output_without_an_error(monkeypatch):
    monkeypatch.setattr(Output, "is_terminal", True)
    monkeypatch.setenv("PAGER", "true")
    output = Output()
    with output.paged():
        for number in range(100_000):
            output.line(str(number))
