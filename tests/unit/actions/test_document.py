"""Documents are read as they are written, and hostile ones are refused in bounded time."""

import pytest

from graveler.actions.document import read_document
from graveler.errors import InvalidInputError
from tests.support.checks.cases import for_each


def test_scalars_are_their_texts_and_nothing_is_none():
    content = b"{on: yes, size: 012, date: 2026-01-01, none: ~, empty: , quoted: '~'}"
    assert read_document(content) == {
        "on": "yes",
        "size": "012",
        "date": "2026-01-01",
        "none": None,
        "empty": None,
        "quoted": "~",
    }


@for_each("content", [b"", b"# nothing\n", b"---\n...\n"])
def test_an_empty_document_is_none(content):
    assert read_document(content) is None


def test_only_the_first_document_counts():
    assert read_document(b"a: 1\n---\n{") == {"a": "1"}


def test_aliases_and_merges_are_resolved_and_own_keys_win():
    content = b"d: &d {url: x, t: 1}\ne: &e {t: 2}\nh: {<<: [*d, *e], url: y}\ni: {<<: *d}\nj: *e\n"
    assert read_document(content) == {
        "d": {"url": "x", "t": "1"},
        "e": {"t": "2"},
        "h": {"url": "y", "t": "1"},
        "i": {"url": "x", "t": "1"},
        "j": {"t": "2"},
    }


@for_each(
    ("content", "reason"),
    [
        (b"{", "is not YAML"),
        (b"a: b: c", "is not YAML"),
        (b"\xff\xfe\x00", "is not YAML"),
        (b"a: \x00", "is not YAML"),
        (b"a: *nobody", "is not YAML"),
        (b"a: 1\nb: 2\na: 3", "line 3: key 'a' is already defined"),
        (b"? [a]\n: b", "line 1: the key is not a text"),
        (b"a: {<<: text}", "only mappings can be merged"),
        (b"a: !!binary bWFpbg==", "binary values"),
        (b"a: &a [*a]", "contains itself"),
        (b"a: &a {<<: *a}", "contains itself"),
        # What the parser's own tree would crash the process on.
        (b"[" * 200_000, "nested deeper"),
        (b"{a: " * 60_000, "nested deeper"),
        (b"- " * 100_000, "nested deeper"),
        (b"a: &a x\nb: [" + b"*a, " * 60_000 + b"]", "more than 100 aliases"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(content, reason):
    with pytest.raises(InvalidInputError) as refused:
        read_document(content)
    assert reason in refused.value.message
    assert "\n" not in refused.value.message


def bomb(link: str) -> bytes:
    """Twenty levels, each naming the one before four times: 4^20 copies if they were made."""
    lines = ["l0: &l0 {k: x}"]
    lines += [
        f"l{level}: &l{level} {link.replace('?', f'*l{level - 1}')}" for level in range(1, 21)
    ]
    return "\n".join(lines).encode()


@for_each("link", ["[?, ?, ?, ?]", "{<<: [?, ?, ?, ?]}", "{a: ?, b: ?, c: ?, d: ?}"])
def test_a_small_document_that_means_a_huge_one_is_refused(link):
    with pytest.raises(InvalidInputError, match="with its aliases written out"):
        read_document(bomb(link))


def test_a_value_that_is_named_again_is_made_once():
    found = read_document(b"a: &a [x, y]\nb: [*a, *a]")
    assert isinstance(found, dict)
    assert found["b"] == [["x", "y"], ["x", "y"]]
    assert found["b"][0] is found["b"][1] is found["a"]
