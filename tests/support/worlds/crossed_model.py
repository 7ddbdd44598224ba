"""A reference model of merge bases in plain sets and dictionaries: slow, obvious, from ADR 30."""

from collections.abc import Mapping, Sequence
from itertools import permutations

from graveler.entries import join_value
from tests.support.worlds.model import Records, same

UNSETTLED = join_value(b"?", b"")  # equal to no record

Parents = Mapping[str, Sequence[str]]


def ancestors(parents: Parents, commit: str) -> set[str]:
    """The commit and all that it leads to."""
    found: set[str] = set()
    todo = [commit]
    while todo:
        if (one := todo.pop()) not in found:
            found.add(one)
            todo += parents[one]
    return found


def best_common(parents: Parents, one: str, other: str) -> set[str]:
    """The common ancestors that no other common ancestor leads to."""
    common = ancestors(parents, one) & ancestors(parents, other)
    return {
        each
        for each in common
        if not any(each in ancestors(parents, better) for better in common - {each})
    }


def base_of(parents: Parents, contents: Mapping[str, Records], one: str, other: str) -> Records:
    """What a merge of the two compares both with, path by path."""
    best = best_common(parents, one, other)
    return {
        path: value
        for path in {path for content in contents.values() for path in content}
        if (value := _settled(parents, contents, best, path)) is not None
    }


def _settled(
    parents: Parents, contents: Mapping[str, Records], commits: set[str], path: bytes
) -> bytes | None:
    values = {commit: contents[commit].get(path) for commit in commits}
    superseded = {
        one
        for one, other in permutations(commits, 2)
        if not same(values[one], values[other])
        and same(values[one], _settled(parents, contents, best_common(parents, one, other), path))
    }
    left = [values[commit] for commit in sorted(commits - superseded)]
    if not left:
        return UNSETTLED if commits else None
    return left[0] if all(same(left[0], value) for value in left) else UNSETTLED
