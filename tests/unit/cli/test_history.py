"""`graveler commit`, `log`, `show`, `diff`, `merge`, `cherry-pick` and `annotate`."""

import json

import pytest

from tests.support.clients.answers import IDS, commit, page

API = "/api/v1/repositories/foo"
MAIN = "lakefs://foo/main/"
CONFLICT = {"message": "update branch: conflict found"}
MADE = """\
Branch: lakefs://foo/main
Commit for branch "main" completed.

ID: {id}
Message: add b
Timestamp: 2023-11-14 22:13:20 +0000 UTC
Parents: {parent}

"""


@pytest.fixture(autouse=True)
def _in_utc(time_zone):
    time_zone("UTC")


# What no command may accept.


@pytest.mark.parametrize(
    "line",
    [
        "commit foo -m hi",
        "commit lakefs://foo/main",
        "commit lakefs://foo/main -m hi --meta nopair",
        "commit lakefs://foo/main -m hi --date soon",
        "commit",
        'commit lakefs://foo/main -m hi --meta "open',
        "log lakefs://foo",
        "log lakefs://foo/main --since yesterday",
        "log lakefs://foo/main --objects a,",
        "log lakefs://foo/main --prefixes ,",
        "log lakefs://foo/main --graph --dot",
        "log lakefs://foo/main --graph --no-merges",
        "log",
        "show commit lakefs://foo",
        "show commit",
        "diff lakefs://foo",
        "diff",
        "diff foo/main..dev",
        "diff lakefs://foo/main dev",
        "merge lakefs://foo/dev",
        "merge lakefs://foo/dev main",
        "merge lakefs://foo/dev lakefs://foo/main --no-allow-empty-message",
        "merge lakefs://foo/dev lakefs://foo/main --meta nopair",
        "cherry-pick lakefs://foo/dev",
        "cherry-pick dev lakefs://foo/main",
        "annotate",
        "annotate lakefs://foo",
        "blame foo/main/",
    ],
)
def test_wrong_input_is_refused_before_any_request(graveler, server, line):
    assert graveler.fails(*line.split())
    assert server.asked == []


@pytest.mark.parametrize(
    ("line", "head"),
    [
        ("merge lakefs://foo/dev lakefs://bar/main", "Source: lakefs://foo/dev\n"),
        ("merge lakefs://foo/dev lakefs://foo/main --strategy mine", "Source: lakefs://foo/dev\n"),
        ("cherry-pick lakefs://foo/dev lakefs://bar/main", "Branch: lakefs://bar/main\n"),
        ("cherry-pick lakefs://foo/dev lakefs://foo/main -m 0", "Branch: lakefs://foo/main\n"),
        ("diff lakefs://foo/dev lakefs://bar/main", "Left ref: lakefs://foo/dev\n"),
    ],
)
def test_what_lakectl_refuses_after_its_first_lines(graveler, server, line, head):
    result = graveler.run(*line.split())
    assert (result.exit_code, server.asked) == (1, [])
    assert result.stdout.startswith(head)


@pytest.mark.parametrize(
    "line",
    [
        "commit lakefs://foo/main -m hi",
        "log lakefs://foo/main",
        "log lakefs://foo/main --graph",
        "show commit lakefs://foo/main",
        "diff lakefs://foo/main",
        "diff lakefs://foo/main lakefs://foo/dev",
        "merge lakefs://foo/dev lakefs://foo/main",
        "cherry-pick lakefs://foo/dev lakefs://foo/main",
        "annotate lakefs://foo/main/",
    ],
)
def test_a_refusal_of_the_server_is_told_and_fails(graveler, server, line):
    server.will_answer({"message": "insufficient permissions"}, status=403)
    result = graveler.run(*line.split())
    assert (result.exit_code, result.stderr) == (1, "error: insufficient permissions\n")
    # With --json nothing else is on standard output.
    result = graveler.run(*line.split(), "--json")
    assert (result.exit_code, result.stdout) == (1, "")


# commit, cherry-pick


def test_a_commit_has_message_metadata_and_date(graveler, server):
    server.will_answer(commit("b", "a"), status=201)
    printed = graveler.prints(
        *("commit", "lakefs://foo/main", "-m", "add b", "--allow-empty"),
        *("--meta", "k=v,l=1=2", "--meta", '"m=a,b"', "--epoch-time-seconds", "17"),
    )
    assert printed == MADE.format(id=IDS["b"], parent=IDS["a"])
    assert server.asked[0].path == f"{API}/branches/main/commits"
    assert server.asked[0].body == {
        "message": "add b",
        "metadata": {"k": "v", "l": "1=2", "m": "a,b"},
        "allow_empty": True,
        "date": 17,
    }


def test_a_commit_is_the_answer_as_json(graveler, server):
    server.will_answer(commit("b", "a"), status=201)
    printed = graveler.prints("commit", "lakefs://foo/main", "--allow-empty-message", "--json")
    assert json.loads(printed) == commit("b", "a")
    assert "date" not in server.asked[0].body


@pytest.mark.parametrize(("more", "parent"), [((), 1), (("-m", "2"), 2), (("--mainline=2",), 2)])
def test_a_cherry_pick_says_which_parent(graveler, server, more, parent):
    server.will_answer(commit("b", "a"), status=201)
    printed = graveler.prints("cherry-pick", "lakefs://foo/dev~1", "lakefs://foo/main", *more)
    assert printed == MADE.format(id=IDS["b"], parent=IDS["a"])
    assert server.asked[0].body == {"ref": "dev~1", "parent_number": parent}


# log, show commit

HISTORY = (
    commit("d", "c", "b", generation=3, metadata={"k": "v", "a": "w"}),
    commit("c", "a", generation=2),
    commit("b", "a", generation=2),
    commit("a", committer="", message="begin"),
)


def test_the_log_is_lakectls(graveler, server):
    server.will_answer(page(*HISTORY[:2], next_offset=IDS["c"]), page(HISTORY[3]))
    assert graveler.prints("log", "lakefs://foo/main", "--show-meta-range-id") == (
        f"\nID:            {IDS['d']}\nAuthor:        ada\n"
        "Date:          2023-11-14 22:13:20 +0000 UTC\nMeta Range ID: meta-d\n"
        f"Merge:         {IDS['c']}, {IDS['b']}\n\n\tadd d\n\nMetadata:\n\t\n"
        "\ta                  = w\n\t\n\tk                  = v\n\t\n"
        f"ID:            {IDS['c']}\nAuthor:        ada\n"
        "Date:          2023-11-14 22:13:20 +0000 UTC\nMeta Range ID: meta-c\n\n\tadd c\n\n"
        f"ID:            {IDS['a']}\n"
        "Date:          2023-11-14 22:13:20 +0000 UTC\nMeta Range ID: meta-a\n\n\tbegin\n\n"
    )
    assert f"after={IDS['c']}" in server.asked[1].path


def test_an_empty_log_is_an_empty_line(graveler, server):
    server.will_answer(page())
    assert graveler.prints("log", "lakefs://foo/main") == "\n"
    assert graveler.prints("log", "lakefs://foo/main", "--json") == ""
    assert graveler.prints("log", "lakefs://foo/main", "--graph") == ""
    assert graveler.prints("log", "lakefs://foo/main", "--oneline") == ""


def test_without_merges_pages_are_read_until_there_are_enough_commits(graveler, server):
    server.will_answer(
        page(HISTORY[0], next_offset="x"), page(*HISTORY[1:3], next_offset="y"), page(HISTORY[3])
    )
    printed = graveler.prints("log", "lakefs://foo/main", "--no-merges", "--amount=2", "--oneline")
    assert printed == f"{IDS['c'][:12]} add c\n{IDS['b'][:12]} add b\n"
    assert ["amount=6" in asked.path for asked in server.asked] == [True, True]


def test_an_amount_over_a_page_is_no_more_than_that(graveler, server):
    server.will_answer(page(*HISTORY[:2], next_offset="x"), page(*HISTORY[2:], next_offset="y"))
    printed = graveler.prints("log", "lakefs://foo/main", "--amount", "3", "--json")
    assert [json.loads(line)["id"] for line in printed.splitlines()] == [
        each["id"] for each in HISTORY[:3]
    ]


def test_the_logs_query_has_what_was_asked_for(graveler, server):
    server.will_answer(page())
    graveler.prints(
        *("log", "lakefs://foo/main", "--objects", "a,b", "--objects", "c", "--prefixes", "d/"),
        *("--since", "2024-08-02 06:13:33.5 -0400 EDT", "--stop-at", "main~4", "--after", "main~1"),
        *("--first-parent", "--limit", "--amount", "5"),
    )
    assert server.asked[0].path.split("?")[1].split("&") == [
        *("after=main~1", "first_parent=true", "objects=a", "objects=b", "objects=c"),
        *("prefixes=d%2F", "since=2024-08-02T10%3A13%3A33Z", "stop_at=main~4"),
        *("amount=5", "limit=true"),
    ]


def test_the_log_in_the_language_of_graphviz(graveler, server):
    merge = commit("d", "c", "b", message='<"it\'s">')
    server.will_answer(page(merge))
    assert graveler.prints("log", "lakefs://foo/main", "--dot") == (
        'digraph {\n\trankdir="BT"\n\n'
        f'\t"{IDS["d"]}" [shape=note target="_blank" '
        f'href="{server.endpoint}/repositories/foo/commits/{IDS["d"]}" '
        f"label=< <b>{IDS['d'][:8]}<br/> &lt;&#34;it&#39;s&#34;&gt;</b> >]\n"
        f'\t"{IDS["c"]}" -> "{IDS["d"]}";\n\t"{IDS["b"]}" -> "{IDS["d"]}";\n\n}}\n'
    )


def test_a_graph_has_its_lines_of_descent(graveler, server):
    server.will_answer(page(*HISTORY))
    printed = graveler.prints("log", "lakefs://foo/main", "--graph", "--oneline")
    short = {name: text[:12] for name, text in IDS.items()}
    assert printed.splitlines() == [
        f"* {short['d']} add d",
        "|\\",
        f"* | {short['c']} add c",
        f"| * {short['b']} add b",
        "|/",
        f"* {short['a']} begin",
    ]


def test_a_graph_has_the_whole_text_beside_it(graveler, server):
    server.will_answer(page(*HISTORY[2:]))
    assert graveler.prints("log", "lakefs://foo/main", "--graph").splitlines() == [
        f"* ID:            {IDS['b']}",
        "| Author:        ada",
        "| Date:          2023-11-14 22:13:20 +0000 UTC",
        "|",
        "|     add b",
        "|",
        f"* ID:            {IDS['a']}",
        "  Date:          2023-11-14 22:13:20 +0000 UTC",
        "",
        "      begin",
        "",
    ]


def test_a_graph_puts_a_child_with_an_old_date_before_its_parent(graveler, server):
    # The server sorts by date: the parent "a" comes before its child "b".
    history = (HISTORY[0], HISTORY[1], HISTORY[3], commit("b", "a", generation=2, date=1))
    server.will_answer(page(*history[:3], next_offset="x"), history[3], page(history[3]))
    printed = graveler.prints("log", "lakefs://foo/main", "--graph", "--oneline")
    commits = [line.split("add ")[-1] for line in printed.splitlines() if "*" in line]
    assert [each[-1] for each in commits] == ["d", "c", "b", "n"]
    assert f"/commits/{IDS['b']}" in server.asked[1].path


def test_a_commit_is_shown_without_an_empty_line_at_its_end(graveler, server):
    server.will_answer(commit("b", "a"))
    shown = graveler.prints("show", "commit", "lakefs://foo/main")
    assert shown.startswith(f"\nID:            {IDS['b']}\n")
    assert shown.endswith("\n\n\tadd b\n")
    assert json.loads(graveler.prints("show", "commit", "lakefs://foo/main", "--json"))


# diff

CHANGES = page(
    {"type": "added", "path": "a", "path_type": "object"},
    {"type": "removed", "path": "b", "path_type": "object"},
    {"type": "changed", "path": "c", "path_type": "object"},
    {"type": "conflict", "path": "d", "path_type": "object"},
)
CHANGED = "+ added a\n- removed b\n~ modified c\n* conflict d\n"


def test_one_ref_shows_what_is_not_committed(graveler, server):
    server.will_answer(CHANGES)
    assert graveler.prints("diff", "lakefs://foo/main") == f"Ref: lakefs://foo/main\n{CHANGED}"
    assert server.asked[0].path.startswith(f"{API}/branches/main/diff?")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("lakefs://foo/main lakefs://foo/dev", "three_dot"),
        ("lakefs://foo/main lakefs://foo/dev --two-way", "two_dot"),
        ("lakefs://foo/main...dev", "three_dot"),
        ("lakefs://foo/main..dev", "two_dot"),
    ],
)
def test_two_refs_are_compared_with_their_base_or_without(graveler, server, line, kind):
    server.will_answer(CHANGES)
    head = "Left ref: lakefs://foo/main\nRight ref: lakefs://foo/dev\n"
    assert graveler.prints("diff", *line.split()) == head + CHANGED
    assert server.asked[0].path.startswith(f"{API}/refs/main/diff/dev?")
    assert f"type={kind}" in server.asked[0].path


def test_a_difference_is_one_object_a_line_as_json(graveler, server):
    server.will_answer(CHANGES)
    printed = graveler.prints("diff", "lakefs://foo/main", "--json", "--prefix", "x/")
    assert json.loads(printed.splitlines()[0])["path"] == "a"
    assert "prefix=x%2F" in server.asked[0].path


@pytest.mark.parametrize(
    ("amount", "has_more", "said"),
    [
        (1, False, "1 uncommitted change: commit it first"),
        (2, False, "2 uncommitted changes: commit them first"),
        (1, True, "more than 1 uncommitted changes: commit them first"),
        (2, True, "more than 2 uncommitted changes: commit them first"),
    ],
)
def test_a_difference_without_changes_says_what_is_not_committed(
    graveler, server, amount, has_more, said
):
    changes = [{"type": "added", "path": str(n), "path_type": "object"} for n in range(amount)]
    server.will_answer(page(), page(*changes, next_offset="1" if has_more else ""))
    result = graveler.run("diff", "lakefs://foo/main", "lakefs://foo/dev")
    assert result.stdout == "Left ref: lakefs://foo/main\nRight ref: lakefs://foo/dev\n"
    assert (result.exit_code, result.stderr) == (0, f"hint: dev has {said}\n")
    assert [asked.path.partition("?")[0] for asked in server.asked] == [
        f"{API}/refs/main/diff/dev",
        f"{API}/branches/dev/diff",
    ]


def test_a_difference_that_finds_nothing_below_a_prefix_speaks_of_the_prefix(graveler, server):
    server.will_answer(page(), CHANGES)
    result = graveler.run("diff", "lakefs://foo/main..dev", "--prefix", "x/", "--json")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == (
        "hint: dev has 4 uncommitted changes with the prefix 'x/': commit them first\n"
        "hint: main has 4 uncommitted changes with the prefix 'x/': commit them first\n"
    )
    assert "prefix=x%2F" in server.asked[1].path


@pytest.mark.parametrize("commit", ["dev~1", "dev^2", "dev@"])
def test_a_difference_of_commits_asks_for_no_uncommitted_changes(graveler, server, commit):
    server.will_answer(page())
    graveler.prints("diff", "lakefs://foo/main", f"lakefs://foo/{commit}")
    assert len(server.asked) == 1


def test_a_difference_stands_although_the_right_to_see_changes_is_missing(graveler, server):
    server.will_answer(page())
    server.will_answer({"message": "insufficient permissions"}, status=401)
    graveler.prints("diff", "lakefs://foo/main", "lakefs://foo/dev")


# merge

MERGE = ("merge", "lakefs://foo/dev", "lakefs://foo/main")


def test_a_merge_tells_its_commit(graveler, server):
    server.will_answer({"reference": "1a2b", "summary": {}})
    assert graveler.prints(*MERGE, "--squash", "--strategy", "source-wins", "-m", "both") == (
        "Source: lakefs://foo/dev\nDestination: lakefs://foo/main\n"
        'Merged "dev" into "main" to get "1a2b".\n'
    )
    assert server.asked[0].path == f"{API}/refs/dev/merge/main"
    assert server.asked[0].body == {
        "message": "both",
        "metadata": {},
        "strategy": "source-wins",
        "force": False,
        "allow_empty": False,
        "squash_merge": True,
    }
    assert json.loads(graveler.prints(*MERGE, "--json")) == {"reference": "1a2b"}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (CONFLICT, "conflict found: `"),
        ({"reference": ""}, "conflict found: `"),  # of lakeFS
        ({"reference": "", "details": "table a.b"}, "conflict found: table a.b; `"),
    ],
)
def test_a_conflict_says_how_to_see_and_decide_it(graveler, server, answer, told):
    server.will_answer(answer, status=409)
    result = graveler.run(*MERGE)
    assert result.exit_code == 1
    assert told in result.stderr
    assert "graveler diff lakefs://foo/main lakefs://foo/dev" in result.stderr
    assert "--strategy" in result.stderr


NOTHING = {"message": "update branch main: no changes"}


def test_a_merge_of_nothing_says_what_is_not_committed(graveler, server):
    server.will_answer(NOTHING, status=400)
    server.will_answer(CHANGES)
    result = graveler.run(*MERGE, "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert json.loads(result.stderr) == {
        "error": "nothing to merge: dev has 4 uncommitted changes: commit them first",
        "status": 400,
        "request_id": None,
    }


def test_a_merge_of_nothing_is_refused_in_the_words_of_the_server(graveler, server):
    server.will_answer(NOTHING, status=400)
    server.will_answer({"message": "branch not found"}, status=404)  # the source is a tag
    result = graveler.run(*MERGE)
    assert (result.exit_code, result.stderr) == (1, "error: update branch main: no changes\n")


# annotate


def test_each_object_has_the_commit_that_changed_it_last(graveler, server):
    long = commit("b", "a", message=f"{'é' * 150}\nmore")
    server.will_answer(
        page({"path": "dir/", "path_type": "common_prefix"}),
        page(),
        page(next_offset=IDS["d"]),  # as of a long log
        page(commit("a", message="one\ntwo")),
        page({"path": "名", "path_type": "object"}),
        page(),
        page(long),
    )
    assert graveler.prints("annotate", "lakefs://foo/main/") == (
        f"dir/            ada                  {IDS['a'][:16]}     "
        "2023-11-14 22:13:20 +0000 UTC  one\n"
    )
    assert server.asked[1].path == f"{API}/branches/main/diff?amount=1000&prefix=&delimiter=%2F"
    assert "prefixes=dir%2F" in server.asked[2].path
    printed = graveler.prints("blame", "lakefs://foo/main/", "-r", "--first-parent")
    assert printed.startswith("名              ada ")
    assert printed.endswith(f" {'é' * 98}...\n")
    assert "first_parent=true&objects=%E5%90%8D" in server.asked[6].path


ROW_A = (
    f"a               ada                  {IDS['a'][:16]}     2023-11-14 22:13:20 +0000 UTC  add a"
)


def test_an_uncommitted_object_has_no_commit(graveler, server):
    objects = page(*({"path": name, "path_type": "object"} for name in "abd"))
    # `d` was deleted by a commit, and is restored: the log has only the deletion.
    changes = page(*({"type": "added", "path": name, "path_type": "object"} for name in "bcd"))
    server.will_answer(objects, changes, page(commit("a")))
    assert [line.rstrip() for line in graveler.prints("annotate", MAIN).splitlines()] == [
        ROW_A,
        f"b{' ' * 36}uncommitted",
        f"d{' ' * 36}uncommitted",
    ]
    assert len(server.asked) == 3
    server.answers.clear()
    server.will_answer(objects, changes, page(commit("a")))
    rows = [json.loads(row) for row in graveler.prints("annotate", MAIN, "--json").splitlines()]
    assert [row["uncommitted"] for row in rows] == [False, True, True]
    assert [row["commit"] is None for row in rows] == [False, True, True]


def test_an_object_that_only_a_merge_brought_has_no_commit(graveler, server):
    server.will_answer(page({"path": "a", "path_type": "object"}), page())
    assert graveler.prints("annotate", MAIN, "--first-parent").rstrip() == "a"


def test_objects_of_a_tag_or_a_commit_are_committed(graveler, server):
    server.will_answer(page({"path": "a", "path_type": "object"}))
    server.will_answer({"message": "branch not found"}, status=404)
    server.will_answer(page(commit("a")))
    assert graveler.prints("annotate", "lakefs://foo/v1/") == f"{ROW_A}\n"
    server.asked.clear()
    server.answers.clear()
    server.will_answer(page({"path": "a", "path_type": "object"}), page(commit("a")))
    assert graveler.prints("annotate", "lakefs://foo/v1~1/") == f"{ROW_A}\n"
    assert not [asked for asked in server.asked if "/branches/" in asked.path]


def test_annotate_fails_if_it_cannot_know_what_is_committed(graveler, server):
    server.will_answer(page({"path": "a", "path_type": "object"}))
    server.will_answer({"message": "insufficient permissions"}, status=401)
    assert graveler.fails("annotate", MAIN) == "insufficient permissions"
