"""`graveler completion`, and what a shell completes with it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[3]
BASH = str(shutil.which("bash"))

# What bash does at a tab: it splits the line at COMP_WORDBREAKS, and calls the function.
TAB = r"""
COMP_LINE=$1 COMP_POINT=${#1}
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
_graveler_completion graveler 2> /dev/null
printf '%s\n' "${COMPREPLY[@]}"
"""


def page(*names):
    results = [
        {
            "id": name,
            "commit_id": "1a",
            "creation_date": 0,
            "default_branch": "main",
            "storage_namespace": "",
            "path": name,
            "path_type": "object",
        }
        for name in names
    ]
    pagination = {"has_more": False, "next_offset": "", "results": 1, "max_per_page": 1000}
    return {"pagination": pagination, "results": results}


@pytest.fixture
def complete(graveler, tmp_path):
    """Returns what bash replaces the last part of a line with."""
    program = tmp_path / "graveler"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(CHECKOUT)!r})\n"
        "from graveler_cli.__main__ import main\nmain()\n"
    )
    program.chmod(0o755)
    variables = {name: text for name, text in graveler.environment.items() if text is not None}
    script = graveler.prints("completion", "bash")

    def completed(line, **more):
        environment = {**os.environ, **variables, **more}
        environment["PATH"] = f"{tmp_path}:{os.environ['PATH']}"
        found = subprocess.run(
            [BASH, "--norc", "-c", f"{script}\n{TAB}", "bash", line],
            env={name: text for name, text in environment.items() if text},
            stdout=subprocess.PIPE,
            check=True,
            text=True,
            timeout=60,
        )
        return found.stdout.split("\n")[:-1]

    return completed


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_completion_prints_a_script_for_each_shell(graveler, shell):
    printed = graveler.prints("completion", shell)
    assert "_GRAVELER_COMPLETE" in printed
    assert f"{'fish' if shell == 'bash' else shell}_complete" in printed


@pytest.mark.parametrize(
    ("shell", "mended"), [("zsh", "compset -P '-*='"), ("fish", 'string split -m 1 ","')]
)
def test_the_scripts_of_other_shells_keep_options_and_commas(graveler, shell, mended):
    assert mended in graveler.prints("completion", shell)


def test_an_open_quote_completes_like_none(complete, server):
    server.will_answer(page("foo"))
    assert complete("graveler branch show '") == ["lakefs://"]
    assert complete("graveler branch show lakefs://f'") == ["oo/"]


def test_an_option_and_its_value_in_one_word_stay_together(complete, server):
    line = "graveler merge lakefs://foo/a lakefs://foo/b --strategy=so"
    assert complete(line) == ["source-wins"]


def test_local_files_are_left_to_the_shell(graveler):
    for words in (
        "fs upload --source ",
        "fs sync ",
        "sst cat ",
        "sst verify a ",
        "local status ",
        "actions validate ",
    ):
        shown = graveler.run(
            _GRAVELER_COMPLETE="fish_complete", COMP_WORDS=f"graveler {words}", COMP_CWORD=""
        )
        assert shown.stdout == "file,\n"


@pytest.mark.parametrize("words", [(), ("tcsh",), ("bash", "zsh")])
def test_completion_of_no_shell_is_refused(graveler, words):
    graveler.fails("completion", *words)


def test_commands_complete(complete):
    assert complete("graveler bran") == ["branch", "branch-protect"]
    assert complete("graveler branch sh") == ["show"]


def test_the_scheme_completes_first(complete):
    assert complete("graveler branch show ") == ["lakefs://"]


def test_repositories_complete_behind_the_colon(complete, server):
    server.will_answer(page("foo"))
    assert complete("graveler branch show lakefs://f") == ["//foo/"]
    assert server.asked[0].path == "/api/v1/repositories?prefix=f&amount=100"


def test_branches_and_tags_complete(complete, server):
    server.will_answer(page("dev"), page("d1"))
    line = "graveler branch create lakefs://foo/x --source lakefs://foo/d"
    assert complete(line) == ["//foo/dev", "//foo/d1"]
    paths = [asked.path for asked in server.asked]
    assert paths == [
        "/api/v1/repositories/foo/branches?prefix=d&amount=100",
        "/api/v1/repositories/foo/tags?prefix=d&amount=100",
    ]


def test_tables_of_the_ref_before_them_complete(complete, server):
    folder = "_lakefs_tables/iceberg/namespaces/sales"
    paths = [f"{folder}/{each}" for each in ("namespace.json", "tables/items", "tables/orders")]
    server.will_answer(page(*paths))
    assert complete("graveler tables show lakefs://foo/dev sales.o") == ["sales.orders"]
    assert server.asked[0].path.startswith("/api/v1/repositories/foo/refs/dev/objects/ls?")
    assert complete("graveler tables show x sales.o") == [""]


def test_a_flag_s_value_completes_behind_the_equals_sign(complete, server):
    server.will_answer(page("dev"), page())
    line = "graveler branch create lakefs://foo/x --source=lakefs://foo/d"
    assert complete(line) == ["//foo/dev"]


def test_paths_complete(complete, server):
    server.will_answer(page("data/a b.csv"))
    line = "graveler import --from s3://bucket/ --to lakefs://foo/main/data/"
    assert complete(line) == [r"//foo/main/data/a\ b.csv"]


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        (r"lakefs://foo/main/data/a\ b", r"//foo/main/data/a\ b.csv"),
        ("'lakefs://foo/main/data/a b", "lakefs://foo/main/data/a b.csv"),
        ('"lakefs://foo/main/data/a b', "lakefs://foo/main/data/a b.csv"),
        ("'lakefs://foo/main/data/a 'b", r"lakefs://foo/main/data/a\ b.csv"),
        ("lakefs://foo/main/'data/a b", "data/a b.csv"),
    ],
)
def test_paths_with_spaces_complete_as_they_were_begun(complete, server, typed, completed):
    server.will_answer(page("data/a b.csv"))
    assert complete(f"graveler fs stat {typed}") == [completed]
    assert server.asked[0].path.split("prefix=")[1].startswith("data%2Fa%20")


def test_relative_uris_complete_without_the_base(complete, server):
    server.will_answer(page("dev"))
    assert complete("graveler branch show d", LAKECTL_BASE_URI="lakefs://foo/") == ["dev"]
    assert complete("graveler --base-uri lakefs://foo/ branch show d") == ["dev"]
    assert complete("graveler branch show --base-uri lakefs://foo/ d") == ["dev"]


@pytest.mark.parametrize("line", ["graveler -c {} branch show", "graveler branch show -c {}"])
def test_the_configuration_file_is_that_of_the_line(complete, server, tmp_path, line):
    file = tmp_path / "lakectl.yaml"
    file.write_text(
        "credentials: {access_key_id: AKIAFILE, secret_access_key: secret}\n"
        f"server: {{endpoint_url: '{server.endpoint}'}}\n"
    )
    server.will_answer(page("dev"))
    none = {
        "LAKECTL_SERVER_ENDPOINT_URL": "",
        "LAKECTL_CREDENTIALS_ACCESS_KEY_ID": "",
        "LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY": "",
        "HOME": str(tmp_path),
    }
    assert complete(f"{line.format(file)} lakefs://foo/d", **none) == ["//foo/dev"]
    assert complete("graveler branch show lakefs://foo/d", **none) == [""]


def test_a_server_that_fails_completes_nothing_and_is_asked_once(complete, server):
    server.will_answer({"message": "later"}, status=503)
    assert complete("graveler branch show lakefs://f") == [""]
    assert len(server.asked) == 1


def test_what_wins_a_conflict_completes(complete):
    line = "graveler merge lakefs://foo/a lakefs://foo/b --strategy "
    assert complete(line) == ["dest-wins", "source-wins"]
    assert complete(f"{line}so") == ["source-wins"]
