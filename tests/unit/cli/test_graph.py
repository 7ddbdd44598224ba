"""The drawn history: whoever follows its lines from a commit gets to the commit's parents."""

from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graveler_cli.graph import COMMIT, Graph
from graveler_cli.history import ChildrenFirst
from graveler_cli.schemas import Commit


def picture(history):
    """The rows of a history, and by row the commit that stands in it."""
    graph, rows, commits = Graph(), [], {}
    for name, parents in history:
        commits[len(rows)] = name
        rows += graph.rows(name, parents)
    return rows, commits


def mark(rows, row, place):
    return rows[row][place] if row < len(rows) and 0 <= place < len(rows[row]) else " "


def followed(rows, row, place):
    """Follow a line down to the row of the commit where it ends."""
    while (here := mark(rows, row, place)) != COMMIT:
        row += 1
        if here == "|":
            # On in this column, or it bends away: left, or right to make room.
            nexts = [(place, "|" + COMMIT), (place - 1, "/"), (place + 1, "\\")]
        elif here == "/":
            nexts = [(place - 2, "/"), (place - 1, "|" + COMMIT)]
        else:
            nexts = [(place + 2, "\\"), (place + 1, "|" + COMMIT), (place, "/")]
        found = [at for at, marks in nexts if mark(rows, row, at) in marks]
        assert found, (row, place, here)
        place = found[0]
    return row


def parents_by_lines(rows, row):
    """Where the lines that leave a commit end."""
    place = rows[row].index(COMMIT)
    below = [(place, "|" + COMMIT), (place - 1, "/"), (place + 1, "\\")]
    return {followed(rows, row + 1, at) for at, marks in below if mark(rows, row + 1, at) in marks}


@st.composite
def histories(draw):
    """Commits, children first, with up to two parents among those after them."""
    count = draw(st.integers(1, 12))
    return [
        (
            str(number),
            draw(
                st.lists(
                    st.sampled_from([str(each) for each in range(number + 1, count)] or ["-"]),
                    max_size=2,
                    unique=True,
                )
            )
            if number < count - 1
            else [],
        )
        for number in range(count)
    ]


@given(histories())
def test_every_line_leads_to_a_parent(history):
    parents_of = dict(history)
    rows, commits = picture(history)
    for row, name in commits.items():
        assert rows[row].count(COMMIT) == 1
        ends = {commits[end] for end in parents_by_lines(rows, row)}
        # Below a first commit, its column may be another one's.
        assert ends == set(parents_of[name]) or not parents_of[name]


def test_a_criss_cross_history():
    history = [("f", "de"), ("e", "bc"), ("d", "cb"), ("c", "a"), ("b", "a"), ("a", "")]
    assert picture(history)[0] == [
        "*",
        "|\\",
        "| *",
        "| |\\",
        "* | |",
        "|\\ \\ \\",
        "| |/ /",
        "| |/",
        "|/|",
        "* |",
        "| *",
        "|/",
        "*",
    ]


def test_histories_without_a_common_commit_stand_side_by_side():
    assert picture([("a", ""), ("b", "c"), ("d", ""), ("c", "")])[0] == [
        "*",
        "*",
        "| *",
        "*",
    ]


def test_only_the_open_columns_are_remembered():
    graph = Graph()
    for number in range(1000):
        graph.rows(str(number), [str(number + 1)])
    assert graph._columns == ["1000"]


@dataclass
class Commits:
    """A server that knows commits."""

    by_id: dict[str, Commit]

    def ask(self, _method, _template, names, _shape):
        return self.by_id[names["ref"]]


def newest_first(commits, dates):
    """The log from "0" on, as a server sorts it: by date, a child before its own parents."""
    found, waiting, reached = [], ["0"], {"0"}
    while waiting:
        waiting.sort(key=lambda each: dates[int(each)])
        commit = commits[waiting.pop()]
        found.append(commit)
        new = [each for each in commit.parents if each not in reached]
        reached.update(new)
        waiting += new
    return found


@given(histories(), st.lists(st.integers(0, 9), min_size=12, max_size=12), st.integers(1, 4))
def test_children_come_before_their_parents_whatever_their_dates(history, dates, size):
    commits = {}
    for name, parents in reversed(history):
        generation = 1 + max((commits[each].generation for each in parents), default=0)
        commits[name] = Commit(name, parents, "ada", "", 0, "", {}, generation)
    log = newest_first(commits, dates)
    pages = [log[start : start + size] for start in range(0, len(log), size)]
    server: Any = Commits(commits)
    sorted_ = [each.id for each in ChildrenFirst(pages, server, "foo")]
    assert sorted(sorted_) == sorted(each.id for each in log)
    places = {name: place for place, name in enumerate(sorted_)}
    for each in log:
        assert all(places[each.id] < places[parent] for parent in each.parents)
