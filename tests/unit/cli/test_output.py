"""Times and sizes in lakectl's form; tables, colors and the pager of a terminal."""

from types import SimpleNamespace

import pytest

import graveler_cli.output
from graveler_cli.output import CommandOutput, human_size, local_time


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


@pytest.mark.parametrize(
    ("text", "for_scripts", "for_people"),
    [
        (
            "2024-08-02T14:13:33.082590889Z",
            "2024-08-02 14:13:33.082590889 +0000 UTC",
            "2024-08-02 10:13:33 -0400 EDT",
        ),
        ("0001-01-01T00:00:00Z", "0001-01-01 00:00:00 +0000 UTC", "-"),
        (None, "<nil>", "-"),
    ],
)
def test_a_time_of_the_api_is_readable_on_a_terminal(
    monkeypatch, time_zone, text, for_scripts, for_people
):
    time_zone("America/New_York")
    monkeypatch.setenv("LAKECTL_INTERACTIVE", "false")
    assert CommandOutput().time(text) == for_scripts
    monkeypatch.setenv("LAKECTL_INTERACTIVE", "true")
    assert CommandOutput().time(text) == for_people


def test_colors_reach_the_pager(monkeypatch, tmp_path):
    monkeypatch.setattr(CommandOutput, "is_terminal", True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("PAGER", f"cat > {tmp_path / 'read'}")
    output = CommandOutput()
    with output.paged():
        output.line(output.paint("1a2b", "yellow"))
    assert (tmp_path / "read").read_text() == "\x1b[93m1a2b\x1b[0m\n"


def test_a_name_cannot_steer_the_terminal(monkeypatch, capsys):
    monkeypatch.setattr(CommandOutput, "is_terminal", True)
    output = CommandOutput()
    output.line("a\x1b]0;title\x07b\rc\x9b2J \x1b[93mcolored\x1b[0m\ttab")
    output.table(["Name"], ["a\x1b[2Jb\x08"], lambda name: [name])
    printed = capsys.readouterr().out
    assert "a\\x1b]0;title\\x07b\\x0dc\\x9b2J" in printed
    assert "\ttab" in printed
    assert "a\\x1b[2Jb\\x08" in printed


@pytest.mark.parametrize("code", ["8", "30;40", "1;8", "", "38;5;0"])
def test_a_name_cannot_hide_what_follows_it(monkeypatch, capsys, code):
    monkeypatch.setattr(CommandOutput, "is_terminal", True)
    CommandOutput().line(f"a\x1b[{code}mb")
    assert capsys.readouterr().out == f"a\\x1b[{code}mb\n"


def test_a_pager_that_was_closed_ends_the_output_without_an_error(monkeypatch):
    monkeypatch.setattr(CommandOutput, "is_terminal", True)
    monkeypatch.setenv("PAGER", "true")
    output = CommandOutput()
    with output.paged():
        for number in range(100_000):
            output.line(str(number))


# A terminal


@pytest.fixture
def terminal(monkeypatch):
    """Standard output that says it is a terminal."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("LAKECTL_INTERACTIVE", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    stdout = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr(graveler_cli.output, "sys", SimpleNamespace(stdout=stdout))
    return monkeypatch


ROWS = [("main", "a" * 64), ("[bold]x[/]", "b")]


def test_a_terminal_gets_heads_and_frames(capsys, terminal):
    terminal.setenv("COLUMNS", "100")
    CommandOutput().table(["branch", "commit id"], ROWS, lambda row: row)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["|", "BRANCH", "|", "COMMIT", "ID", "|"]
    assert lines[3].split()[1::2] == ["main", "a" * 64]
    assert "| [bold]x[/] |" in lines[4]


@pytest.mark.parametrize(("columns", "framed"), [("14", True), ("13", False)])
def test_a_frame_is_drawn_where_it_fits_whatever_the_letters_are_as_wide_as(
    capsys, terminal, columns, framed
):
    terminal.setenv("COLUMNS", columns)
    CommandOutput().table(["a", "b"], [("\u6f22\u5b57", "abc")], lambda row: row)
    assert (capsys.readouterr().out[0] == "+") is framed


PULLS = [("id" * 10, "open", "a-feature", "main", "ada", ("many words " * 8).strip())]
PULL_HEADS = ("ID", "Status", "Source", "Destination", "Author", "Title")


@pytest.mark.parametrize(
    ("columns", "framed", "lost", "lines"),
    [
        ("200", True, [], 5),
        ("150", False, [], 2),
        ("100", False, [], 4),
        ("80", False, ["AUTHOR", "DESTINATION"], 4),
        ("60", False, ["SOURCE", "DESTINATION", "AUTHOR"], 5),
        ("40", False, ["SOURCE", "DESTINATION", "AUTHOR", "TITLE"], 2),
        ("10", False, ["STATUS", "SOURCE", "DESTINATION", "AUTHOR", "TITLE"], 2),
    ],
)
def test_a_narrow_terminal_loses_frames_then_long_lines_then_columns(
    capsys, terminal, columns, framed, lost, lines
):
    terminal.setenv("COLUMNS", columns)
    CommandOutput().table(PULL_HEADS, PULLS, lambda row: row, ("Author", "Destination", "Source"))
    shown = capsys.readouterr().out.splitlines()
    if lost:
        assert shown.pop().startswith("not shown: ")
    assert len(shown) == lines
    assert (shown[0][0] == "+") is framed
    kept = [head.upper() for head in PULL_HEADS if head.upper() not in lost]
    assert shown[framed].replace("|", " ").split() == kept
    assert "id" * 10 in shown[3 * framed + (not framed)]
    assert max(map(len, shown)) <= max(int(columns), 20)
    if "TITLE" in kept:
        assert "\n".join(shown).count("words") == 8


def test_a_time_stays_on_one_line(capsys, terminal):
    terminal.setenv("COLUMNS", "60")
    rows = [("a" * 30, "2026-11-27 21:40:18 +0000 UTC")]
    CommandOutput().table(["id", "date"], rows, lambda row: row)
    shown = capsys.readouterr().out
    assert shown.split() == [
        "ID",
        "a" * 30,
        "not",
        "shown:",
        "DATE",
        "(--json",
        "has",
        "it",
        "all)",
    ]


@pytest.mark.parametrize("value", ["true", "1", "yes"])
def test_a_pipe_may_be_taken_for_a_terminal(capsys, monkeypatch, value):
    monkeypatch.setenv("LAKECTL_INTERACTIVE", value)
    CommandOutput().table(["branch"], [("main",)], lambda row: row)
    assert "| BRANCH |" in capsys.readouterr().out


@pytest.mark.parametrize("value", ["false", "0", "F"])
def test_without_a_person_a_table_is_cells_between_tabs(capsys, terminal, value):
    terminal.setenv("LAKECTL_INTERACTIVE", value)
    CommandOutput().table(["branch", "commit id"], ROWS, lambda row: row)
    assert capsys.readouterr().out == f"main\t{'a' * 64}\n[bold]x[/]\tb\n"


def test_colors_are_for_terminals_that_want_them(terminal):
    assert CommandOutput().paint("x", "green") == "\x1b[92mx\x1b[0m"
    assert CommandOutput(has_color=False).paint("x", "green") == "x"
    assert CommandOutput(as_json=True).paint("x", "green") == "x"
    terminal.setenv("NO_COLOR", "1")
    assert CommandOutput().paint("x", "green") == "x"


@pytest.mark.parametrize("pager", ["", "  ", "no-such-pager --flag"])
def test_without_a_pager_the_output_is_printed(capfd, terminal, pager):
    terminal.setenv("PAGER", pager)
    output = CommandOutput()
    with output.paged():
        output.line("one")
    assert capfd.readouterr().out == "one\n"


def test_without_less_the_output_is_printed(capfd, terminal, tmp_path):
    terminal.delenv("PAGER", raising=False)
    terminal.setenv("PATH", str(tmp_path))
    output = CommandOutput()
    with output.paged():
        output.line("one")
    assert capfd.readouterr().out == "one\n"


def test_the_pager_is_the_users_own_command(capfd, terminal):
    terminal.setenv("PAGER", "sed 's/^/> /'")
    output = CommandOutput()
    with output.paged():
        output.line("one")
    assert capfd.readouterr().out == "> one\n"


def test_a_pager_that_has_seen_enough_is_no_failure(capfd, terminal):
    terminal.setenv("PAGER", "true")
    output = CommandOutput()
    with output.paged():
        for _ in range(100_000):
            output.line("one")
    assert capfd.readouterr().out == ""


def test_colors_reach_a_pipe_that_is_taken_for_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("LAKECTL_INTERACTIVE", "true")
    monkeypatch.delenv("NO_COLOR", raising=False)
    CommandOutput().line(CommandOutput().paint("x", "green"))
    assert capsys.readouterr().out == "\x1b[92mx\x1b[0m\n"


def test_what_a_pipe_or_a_file_gets_steers_no_terminal_that_shows_it_later(capsys):
    CommandOutput().line("a\x1b[31mb\x1b[2Jc\rd\te")
    CommandOutput().table(["Name"], ["f\x9b2J"], lambda name: [name])
    CommandOutput().warn("g\x07")
    CommandOutput(as_json=True).json("h\x1bi\x9b")
    found = capsys.readouterr()
    assert found.out == ('a\\x1b[31mb\\x1b[2Jc\\x0dd\te\nf\\x9b2J\n"h\\u001bi\\u009b"\n')
    assert found.err == "g\\x07\n"


def test_ctrl_c_does_not_leave_a_pager_behind(terminal, tmp_path):
    terminal.setenv("PAGER", f"sh -c 'cat; sleep 0.5; touch {tmp_path}/left'")
    with pytest.raises(KeyboardInterrupt), CommandOutput().paged():
        raise KeyboardInterrupt
    assert (tmp_path / "left").exists()
